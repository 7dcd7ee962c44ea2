/** Steps that take information away: coarser classes for codes, values withheld, only some units released. */
import { get, post, query } from "../../js/api.js";
import { amount, chips } from "../../js/controls.js";
import { el, field, options } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";

const names = (context) => context.columns.map((each) => each.name);
const list = (given) => (given === undefined ? [] : [given].flat());
const SIGN = " = ";

/** Steps as they begin; they are completed in their forms. */
export const NEW_REDUCING = {
  recode: (now) => ({ do: "recode", column: list(now.classes)[0] ?? "", mapping: {} }),
  withhold: (now) => ({ do: "withhold", columns: list(now.classes).slice(0, 1), where: "" }),
  release: () => ({ do: "release", where: "" }),
};

/** Codes with their classes as lines of text. */
export const written = (mapping) => Object.entries(mapping ?? {}).map((pair) => pair.join(SIGN)).join("\n");

/** The same read again; lines that say nothing, or two things about one code, are given back as mistakes. */
export function understood(text) {
  const mapping = new Map();
  const wrong = [];
  for (const line of text.split("\n").map((each) => each.trim()).filter(Boolean)) {
    const at = line.includes(SIGN) ? line.lastIndexOf(SIGN) : line.lastIndexOf("=");
    const [code, to] = [line.slice(0, at).trim(), line.slice(at).replace(/^\s*=/, "").trim()];
    if (at < 1 || !code || !to || (mapping.has(code) && mapping.get(code) !== to)) wrong.push(line);
    else mapping.set(code, to);
  }
  return { mapping: Object.fromEntries(mapping), wrong };
}

const select = (id, entries, chosen, change) => { const made = options(el("select", { id, onchange: () => change(made.value) }), entries, chosen); return made; };
const told = () => el("small", { class: "bad", role: "alert" });

function recode(step, i, set, context) {
  const way = step.hierarchy !== undefined ? "hierarchy" : step.file !== undefined ? "file" : "mapping";
  const none = { mapping: null, file: null, hierarchy: null, level: null };
  const begin = { mapping: { mapping: {} }, hierarchy: { hierarchy: context.trees[0] ?? "", level: 2 }, file: { file: "" } };
  const codes = el("textarea", { id: `removed-${i}`, rows: "2", onchange: () => { const found = codes.value.split("\n").map((each) => each.trim()).filter(Boolean); set({ removed: found.length ? found : null }); } }, list(step.removed).join("\n"));
  return [field(t("reduce.column"), select(`recode-${i}`, [["", t("data.none")], ...names(context).map((each) => [each, each])], step.column ?? "", (column) => set({ column }))),
  field(t("reduce.by"), select(`recode-by-${i}`, Object.keys(begin).map((each) => [each, t(`reduce.by.${each}`)]), way, (wanted) => set({ ...none, ...begin[wanted] }))),
  ...(way === "mapping" ? mapping(step, i, set, context) : []),
  way === "hierarchy" ? el("div", { class: "two" },
    field(t("reduce.hierarchy"), select(`recode-tree-${i}`, [["", t("data.none")], ...[...new Set([...context.trees, step.hierarchy].filter(Boolean))].map((each) => [each, each])], step.hierarchy, (hierarchy) => set({ hierarchy }))),
    amount(`recode-level-${i}`, t("reduce.level"), step.level, (level) => set({ level }), { min: "1" }, t("reduce.levelHint"))) : null,
  way === "file" ? field(t("reduce.file"), select(`recode-file-${i}`, [["", t("data.none")], ...[...new Set([...context.files.map((each) => each.name).filter((each) => /\.(csv|tsv|xlsx|parquet)$/i.test(each)), step.file].filter(Boolean))].map((each) => [each, each])], step.file, (file) => set({ file })), t("reduce.fileHint")) : null,
  el("div", { class: "two" }, amount(`recode-prefix-${i}`, t("reduce.prefix"), step.prefix, (prefix) => set({ prefix }), { min: "1" }), field(t("reduce.removed"), codes, t("reduce.removedHint")))];
}

function mapping(step, i, set, context) {
  const wrong = told();
  const box = el("textarea", { id: `mapping-${i}`, rows: "6", spellcheck: "false", onchange: () => {
    const found = understood(box.value);
    wrong.textContent = found.wrong.length ? t("reduce.wrong", { lines: found.wrong.slice(0, 3).join("; ") }) : "";
    if (!found.wrong.length) set({ mapping: found.mapping });
  } }, written(step.mapping));
  const fill = el("button", { class: "small", type: "button", id: `fill-${i}`, disabled: !step.column, onclick: async () => {
    const found = await attempt(() => post("/api/trees/open", { column: step.column, content: { data: context.chosen.content.data } }));
    const short = found && [...new Set(found.codes.map((code) => (step.prefix ? [...code].slice(0, step.prefix).join("") : code)))];
    if (found) set({ mapping: { ...Object.fromEntries(short.map((code) => [code, code])), ...step.mapping } });
  } }, t("reduce.fill"));
  return [field(t("reduce.mapping"), box, t("reduce.mappingHint")), wrong, fill];
}

/** A condition, read by the server as it is written. */
function where(step, i, set, context) {
  const wrong = told();
  const input = el("input", { id: `where-${i}`, value: step.where ?? "", autocomplete: "off", placeholder: t("reduce.whereExample"), onchange: async () => {
    try {
      const { columns } = await get(`/api/records/condition?${query({ where: input.value })}`);
      const unknown = columns.filter((each) => !names(context).includes(each));
      wrong.textContent = unknown.length ? t("reduce.noColumn", { names: unknown.join(", ") }) : "";
      if (!unknown.length) set({ where: input.value });
    } catch (error) {
      wrong.textContent = [error.what, error.hint].filter(Boolean).join(": ");
    }
  } });
  const panel = context.chosen.content.microdata.unit;
  return [field(t("reduce.where"), input, t("reduce.whereHint")), wrong,
    panel ? field(t("reduce.decides"), select(`decides-${i}`, ["unit", "record"].map((each) => [each, t(`reduce.decides.${each}`)]), step.decides ?? "unit", (v) => set({ decides: v === "unit" ? null : v }))) : null];
}

export const REDUCING_FORMS = {
  recode,
  withhold: (step, i, set, context) => [chips(`withhold-${i}`, t("reduce.columns"), names(context), list(step.columns), (columns) => set({ columns })), ...where(step, i, set, context)],
  release: where,
};
