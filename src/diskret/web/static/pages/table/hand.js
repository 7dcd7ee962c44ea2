/** Statuses by hand: set where a cell is explained, listed and taken back in the step of the rules. */
import { el, options } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { change, draft } from "../../js/store.js";

/** Two that are often needed as buttons, the others in a list. */
const BUTTONS = ["primary", "never"];
const OTHERS = ["secondary", "published", "structural zero", "zero", "open"];

const keep = (edit) => change((c) => {
  c.status = edit(c.status ?? []);
  if (!c.status.length) delete c.status;
});

/** The controls for one cell of the choice that is marked. */
export function byHand(shown, facts) {
  const cell = Object.fromEntries(shown.axes.map((axis, i) => [axis.name, axis.codes[facts.index[i]]]));
  const code = (each, axis) => each.cell[axis.name] ?? axis.codes[axis.total];
  const same = (each) => (each.response ?? shown.response) === shown.response && shown.axes.every((axis) => code(each, axis) === cell[axis.name]);
  const given = (draft.content.status ?? []).findLast(same)?.status;
  const set = (status) => keep((all) => [...all.filter((each) => !same(each)), ...(status ? [{ cell, status, response: shown.response }] : [])]);
  const button = (status) => el("button", { class: "small", "data-status": status, "aria-pressed": String(given === status), onclick: () => set(given === status ? null : status) }, t(`hand.${status}`));
  const select = options(el("select", { id: "hand-other", "aria-label": t("hand.other"), onchange: () => set(select.value) }),
    [["", t("hand.other")], ...OTHERS.map((each) => [each, t(`hand.${each}`)])], OTHERS.includes(given) ? given : "");
  return el("div", {}, el("h3", {}, t("hand.title")), el("div", { class: "row" }, BUTTONS.map(button), select));
}

/** All statuses by hand, each with a way to take it back; nothing where there are none. */
export function handList() {
  const all = draft.content.status ?? [];
  if (!all.length) return null;
  const several = [draft.content.table?.value ?? []].flat().length > 1;
  const where = (each) => [...(draft.content.table?.by ?? Object.keys(each.cell)).map((name) => each.cell[name] ?? "∑"), several ? each.response ?? "" : ""].filter(Boolean).join(" · ");
  return el("div", { class: "group", id: "by-hand" }, el("div", { class: "row apart" }, el("strong", {}, t("hand.list", { n: all.length })),
    all.length > 1 ? el("button", { class: "small quiet", id: "hand-none", onclick: () => keep(() => []) }, t("hand.removeAll")) : null),
  el("ul", { class: "plain-list" }, all.map((each, i) => el("li", { class: "row apart" }, el("span", {}, where(each), " ", el("small", {}, t(`hand.${each.status}`))),
    el("button", { class: "small quiet", id: `hand-remove-${i}`, "aria-label": t("hand.removeOf", { cell: where(each) }), onclick: () => keep((list) => list.filter((_, k) => k !== i)) }, t("hand.remove"))))));
}
