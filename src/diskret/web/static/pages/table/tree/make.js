/** Making a whole tree: of prefixes of the codes, of a lookup table of the workspace, of labels; shown in numbers before it is taken. */
import { get, post } from "../../../js/api.js";
import { chips, sheetChoice } from "../../../js/controls.js";
import { el, field, options, replace } from "../../../js/dom.js";
import { number, t } from "../../../js/i18n.js";
import { Outline } from "./outline.js";

const TABLES = /\.(xlsx|xlsm|csv|tsv|txt|parquet|ods|dta|sav|gz)$/i;

export function makePanel(editor) {
  const now = { kind: "prefixes", lengths: "", file: "", sheet: "", code: "", above: "levels", parent: "", levels: [], label: "", separator: ": ", columns: [], sheets: [] };
  const inside = el("div", { class: "inside" });
  const said = el("p", { id: "tree-made", role: "status" });
  const take = el("button", { id: "tree-take", disabled: true }, t("make.take"));
  let files = null;
  let turn = 0;
  const kinds = options(el("select", { id: "make-kind", onchange: () => set({ kind: kinds.value }) }), ["prefixes", "table", "labels"].map((each) => [each, t(`make.${each}`)]), now.kind);

  async function set(edit) {
    Object.assign(now, edit);
    if ("file" in edit || "sheet" in edit) await look();
    await draw();
    await preview();
  }

  async function look() {
    Object.assign(now, { columns: [], levels: [], code: "", parent: "", label: "" });
    if (!now.file) return;
    const found = await editor.attempt(() => get(`/api/recognise?file=${encodeURIComponent(now.file)}&kind=microdata&sheet=${encodeURIComponent(now.sheet)}`));
    now.columns = found?.columns.map((each) => each.name) ?? [];
    now.sheets = found?.sheets ?? [];
    now.code = now.columns[0] ?? "";
  }

  /** What is asked of the server; null while something is not chosen yet. */
  function how() {
    if (now.kind === "prefixes") {
      const prefixes = now.lengths.split(/[^0-9]+/).filter(Boolean).map(Number);
      return prefixes.length ? { prefixes } : null;
    }
    const table = { file: now.file, sheet: now.sheet, code: now.code, label: now.label };
    if (now.kind === "labels") {
      if (!now.file) return now.separator ? { separator: now.separator } : null;
      return now.label ? { ...table, separator: now.separator } : null;
    }
    if (!now.file || !now.code) return null;
    if (now.above === "parent") return now.parent ? { ...table, parent: now.parent } : null;
    return now.levels.length ? { ...table, levels: now.levels } : null;
  }

  async function preview() {
    const mine = ++turn;
    const asked = how();
    take.disabled = true;
    said.textContent = "";
    if (!asked) return;
    const { outline, data } = editor;
    const found = await editor.attempt(() => post("/api/trees/make", { codes: data, total: outline.codes[outline.total], how: asked }));
    if (!found || mine !== turn) return;
    const made = new Outline(found.tree, editor);
    said.textContent = [t("make.levels", { levels: made.levels().map((n) => number(n)).join(", ") || "0" }),
      made.missing.length ? t("tree.fit.missing", { n: made.missing.length }) : "", made.empty.length ? t("tree.fit.empty", { n: made.empty.length }) : "", made.sums.length ? t("tree.fit.sums", { n: made.sums.length }) : ""].filter(Boolean).join("; ");
    take.disabled = false;
    take.onclick = () => { editor.take(found.tree); take.disabled = true; editor.tell(t("make.taken")); };
  }

  const choice = (id, key, entries, label, hint) => {
    const select = options(el("select", { id, onchange: () => set({ [key]: select.value }) }), entries, now[key]);
    return field(label, select, hint);
  };
  const text = (id, key, label, hint) => {
    const input = el("input", { id, value: now[key], autocomplete: "off", onchange: () => set({ [key]: input.value }) });
    return field(label, input, hint);
  };
  const columns = (none) => [["", t(none)], ...now.columns.map((each) => [each, each])];

  function table(none) {
    return [choice("make-file", "file", [["", t(none)], ...files.map((each) => [each, each])], t("make.file")),
      now.file ? sheetChoice("make-sheet", now.sheets, now.sheet || now.sheets[0], (sheet) => set({ sheet })) : null,
      now.file ? choice("make-code", "code", columns("data.none"), t("make.code")) : null];
  }

  async function draw() {
    files ??= ((await editor.attempt(() => get("/api/files")))?.files ?? []).map((each) => each.name).filter((name) => TABLES.test(name));
    const active = document.activeElement?.id;
    if (now.kind === "prefixes") replace(inside, text("make-lengths", "lengths", t("hierarchy.lengths"), t("make.lengthsHint")));
    else if (now.kind === "labels") {
      replace(inside, table("make.ownLabels"), now.file ? choice("make-label", "label", columns("data.none"), t("make.label")) : null,
        text("make-separator", "separator", t("make.separator"), t(now.file ? "make.separatorHint" : "make.separatorOwn")));
    } else {
      replace(inside, table("data.none"),
        now.file ? choice("make-above", "above", [["levels", t("make.byLevels")], ["parent", t("make.byParent")]], t("make.above")) : null,
        now.file && now.above === "parent" ? choice("make-parent", "parent", columns("data.none"), t("make.parent")) : null,
        // in the order in which they are pressed: from the coarsest to the finest
        now.file && now.above === "levels" ? [chips("make-levels", t("make.levelColumns"), now.columns.filter((each) => each !== now.code), now.levels, (list) => set({ levels: [...now.levels.filter((each) => list.includes(each)), ...list.filter((each) => !now.levels.includes(each))] })), el("small", {}, now.levels.join(" → "))] : null,
        now.file ? choice("make-label", "label", columns("make.noLabel"), t("make.label")) : null);
    }
    if (active && document.activeElement?.id !== active) document.getElementById(active)?.focus();
  }

  const all = el("details", { class: "group", ontoggle: () => { if (all.open && files === null) draw(); } }, el("summary", {}, t("make.title")), field(t("make.how"), kinds), inside, said, take);
  return all;
}
