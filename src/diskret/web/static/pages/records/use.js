/** Scientific-use files: which columns, what is taken away and changed, and who attacks the result. */
import { get } from "../../js/api.js";
import { amount, check, chips } from "../../js/controls.js";
import { el, field, options, replace } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";
import { NEW_REDUCING, REDUCING_FORMS } from "./reduce.js";

const asked = (context) => context.chosen.content.microdata;
const names = (context) => context.columns.map((each) => each.name);
const list = (given) => (given === undefined ? [] : [given].flat());

export function usedStep(inside, tell, context) {
  const now = asked(context);
  if (!now) return false;
  const { chosen } = context;
  tell([...list(now.values), ...list(now.classes)].join(", "));
  const set = (key, value) => chosen.change((c) => {
    if (value === "" || value === null) delete c.microdata[key];
    else c.microdata[key] = value;
  });
  const drop = now.steps.find((step) => step.do === "drop");
  const one = (id, key, label) => {
    const select = options(el("select", { id, onchange: () => set(key, select.value) }), [["", t("use.none")], ...names(context).map((each) => [each, each])], now[key] ?? "");
    return field(label, select);
  };
  replace(inside,
    chips("use-values", t("use.values"), names(context), list(now.values), (v) => set("values", v)),
    chips("use-classes", t("use.classes"), names(context), list(now.classes), (v) => set("classes", v)),
    chips("use-drop", t("use.drop"), names(context), list(drop?.columns), (v) => chosen.change((c) => {
      const rest = c.microdata.steps.filter((step) => step.do !== "drop");
      // a condition may look at a column that is dropped afterwards
      c.microdata.steps = v.length ? behindReducing(rest, { do: "drop", columns: v }) : rest;
      // what is not released is neither compared nor attacked by
      for (const key of ["values", "classes"]) c.microdata[key] = list(c.microdata[key]).filter((each) => !v.includes(each));
      for (const key of ["keys", "values"]) if (c.attack?.[key]) c.attack[key] = list(c.attack[key]).filter((each) => !v.includes(each));
    })),
    el("details", { open: Boolean(now.unit) }, el("summary", {}, t("use.panel")), el("div", { class: "group" }, el("div", { class: "two" }, one("use-unit", "unit", t("use.unit")), one("use-wave", "wave", t("use.wave"))))));
  return true;
}

const NEW = {
  microaggregate: () => ({ do: "microaggregate", m: 3 }),
  noise: () => ({ do: "noise", sd: 0.12, shift: 0.05, nearest: true }),
  swap: (now) => ({ do: "swap", regions: list(now.classes).slice(0, 1), risk: list(now.classes).slice(1, 2), similar: [list(now.classes).slice(1, 2)], k: 3 }),
  pram: (now) => ({ do: "pram", columns: list(now.classes).slice(0, 1), keep: 0.9 }),
};
const REDUCING = ["drop", "recode", "withhold", "release"];
const behindReducing = (steps, step) => [...steps.filter((each) => each.do in NEW_REDUCING), step, ...steps.filter((each) => !(each.do in NEW_REDUCING))];

export function protectionStep(inside, tell, context) {
  const now = asked(context);
  if (!now) return false;
  const { chosen } = context;
  const changing = now.steps.filter((step) => !REDUCING.includes(step.do));
  tell(changing.map((step) => t(`use.${step.do}`)).join(", "));
  const edit = (i, change) => chosen.change((c) => {
    const step = c.microdata.steps[i];
    for (const [key, value] of Object.entries(change)) if (value === null || value === undefined) delete step[key]; else step[key] = value;
  });
  const cards = now.steps.map((step, i) => (step.do === "drop" ? null : el("div", { class: "group", "data-step": step.do },
    el("div", { class: "row apart" }, el("strong", {}, t(`use.${step.do}`)),
      el("button", { class: "small quiet", id: `step-remove-${i}`, "aria-label": `${t("use.remove")}: ${t(`use.${step.do}`)}`, onclick: () => chosen.change((c) => { c.microdata.steps.splice(i, 1); }) }, t("use.remove"))),
    el("small", {}, t(`use.${step.do}.hint`)), (FORMS[step.do] ?? other)(step, i, (change) => edit(i, change), context))));
  const seed = amount("use-seed", t("use.seed"), now.seed, (v) => chosen.change((c) => { if (v === null) delete c.microdata.seed; else c.microdata.seed = v; }), { min: "0" }, t("use.seedHint"));
  seed.querySelector("input").classList.add("long");
  replace(inside, cards,
    el("div", { class: "field" }, el("label", { id: "add-step" }, t("use.addStep")), el("div", { class: "chips", role: "group", "aria-labelledby": "add-step" },
      Object.keys(NEW_REDUCING).map((kind) => el("button", { id: `add-${kind}`, onclick: () => chosen.change((c) => { c.microdata.steps = behindReducing(c.microdata.steps, NEW_REDUCING[kind](now)); }) }, `+ ${t(`use.${kind}`)}`)),
      Object.keys(NEW).map((kind) => el("button", { id: `add-${kind}`, onclick: () => chosen.change((c) => { c.microdata.steps.push(NEW[kind](now)); }) }, `+ ${t(`use.${kind}`)}`)))),
    seed,
    el("button", { class: "small", id: "new-seed", onclick: async () => { const found = await attempt(() => get("/api/records/seed")); if (found) chosen.change((c) => { c.microdata.seed = found.seed; }); } }, t("use.newSeed")));
  return true;
}

const FORMS = {
  ...REDUCING_FORMS,
  microaggregate: (step, i, set) => {
    const method = options(el("select", { id: `method-${i}`, onchange: () => set({ method: method.value === "optimal" ? null : method.value, keep_variance: method.value === "mdav" ? null : step.keep_variance }) }), ["optimal", "fixed", "mdav"].map((each) => [each, t(`use.method.${each}`)]), step.method ?? "optimal");
    return [el("div", { class: "two" }, amount(`m-${i}`, t("use.m"), step.m ?? (step.keep_variance ? 4 : 3), (v) => set({ m: v }), { min: "2" }), field(t("use.method"), method)),
      step.method === "mdav" ? null : check(`variance-${i}`, t("use.keepVariance"), step.keep_variance === true, (v) => set({ keep_variance: v || null, m: v && (step.m ?? 3) < 4 ? 4 : step.m }))];
  },
  noise: (step, i, set) => [el("div", { class: "two" },
    amount(`sd-${i}`, t("use.sd"), step.sd, (v) => set({ sd: v, amount: null }), { min: "0.01", step: "0.01" }),
    amount(`shift-${i}`, t("use.shift"), step.shift ?? 0, (v) => set({ shift: v }), { min: "0", step: "0.01" })),
  check(`nearest-${i}`, t("use.nearest"), step.nearest === true, (v) => set({ nearest: v || null }))],
  swap: (step, i, set, context) => [
    chips(`regions-${i}`, t("use.regions"), names(context), list(step.regions), (v) => set({ regions: v })),
    chips(`risk-${i}`, t("use.risk"), names(context), list(step.risk), (v) => set({ risk: v })),
    chips(`similar-${i}`, t("use.similar"), names(context), list(step.similar?.[0]), (v) => set({ similar: [v] })),
    el("div", { class: "two" }, amount(`swap-k-${i}`, t("use.k"), step.k ?? 3, (v) => set({ k: v }), { min: "2" }), amount(`rate-${i}`, t("use.rate"), step.rate ?? 0, (v) => set({ rate: v }), { min: "0", max: "1", step: "0.01" }))],
  pram: (step, i, set, context) => [
    chips(`pram-${i}`, t("use.pramColumns"), names(context), list(step.columns), (v) => set({ columns: v })),
    step.matrix ? el("small", {}, t("use.matrix")) : amount(`keep-${i}`, t("use.keep"), step.keep, (v) => set({ keep: v }), { min: "0", max: "1", step: "0.05" })],
};

/** A step this page has no form for: it came with a job file, and is kept as it is. */
const other = (step) => el("code", {}, JSON.stringify(step));

export function attackStep(inside, tell, context) {
  if (!asked(context)) return false;
  const { chosen } = context;
  const now = chosen.content.attack;
  const gone = list(asked(context).steps.find((step) => step.do === "drop")?.columns);
  const known = names(context).filter((each) => !gone.includes(each));
  tell(now ? [...list(now.keys), ...list(now.values)].join(", ") : t("use.noAttack"), Boolean(now));
  const set = (key, value) => chosen.change((c) => { c.attack[key] = value; });
  const wanted = check("attack-wanted", t("use.attackWanted"), Boolean(now), (v) => chosen.change((c) => {
    if (v) c.attack = { keys: list(c.microdata.classes).slice(0, 2), values: list(c.microdata.values) };
    else delete c.attack;
  }));
  if (!now) { replace(inside, wanted, el("small", {}, t("use.attackHint"))); return true; }
  const method = options(el("select", { id: "attack-method", onchange: () => set("method", method.value) }), ["assignment", "single"].map((each) => [each, t(`use.attack.${each}`)]), now.method ?? "assignment");
  replace(inside, wanted, el("small", {}, t("use.attackHint")),
    chips("attack-keys", t("use.keys"), known, list(now.keys), (v) => set("keys", v)),
    chips("attack-values", t("use.attackValues"), known.filter((each) => list(asked(context).values).includes(each)), list(now.values), (v) => set("values", v)),
    field(t("use.attackMethod"), method),
    el("div", { class: "group" }, el("div", { class: "two" },
      amount("cap", t("use.cap"), now.cap ?? 0.5, (v) => set("cap", v), { min: "0", max: "1", step: "0.05" }),
      amount("usable", t("use.usable"), now.usable_within ?? 0.1, (v) => set("usable_within", v), { min: "0", max: "1", step: "0.01" }))));
  return true;
}
