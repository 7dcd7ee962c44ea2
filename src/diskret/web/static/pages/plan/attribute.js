/** One attribute of a plan: how many levels it has, and which share of the population each of them holds. */
import { el, field, options } from "../../js/dom.js";
import { t } from "../../js/i18n.js";

const DIGITS = 4;
/** What may merge, and the list of the plan that says so; what stands in none of them stays as it is. */
const MAY = { neighbours: "ordered", any: "freely" };
const LISTS = ["ordered", "freely", "keep"];

export function merging(content, name) {
  if ((content.keep ?? []).includes(name)) return "no";
  return Object.keys(MAY).find((each) => (content[MAY[each]] ?? []).includes(name)) ?? "no";
}

function without(content, name) {
  for (const key of LISTS) content[key] = (content[key] ?? []).filter((each) => each !== name);
}

/** Equal shares as printed numbers that add up to one exactly; the last level takes what rounding leaves. */
export function equal(levels) {
  const each = Math.floor(10 ** DIGITS / levels.length);
  return Object.fromEntries(levels.map((name, i) => [name, text(i === levels.length - 1 ? 10 ** DIGITS - each * (levels.length - 1) : each)]));
}
const text = (units) => (units / 10 ** DIGITS).toFixed(DIGITS);

/** Other levels with one more or fewer; those that stay keep their names. */
function resized(shares, count) {
  const names = Object.keys(shares).slice(0, count);
  for (let i = names.length + 1; names.length < count; i += 1) if (!names.includes(String(i))) names.push(String(i));
  return equal(names);
}

/** A share of one level changed; the others keep their proportions, and all add up to one. */
function reweighted(shares, level, units) {
  const others = Object.keys(shares).filter((each) => each !== level);
  const left = 10 ** DIGITS - units;
  const before = others.reduce((sum, each) => sum + Number(shares[each]), 0);
  const made = { ...shares, [level]: text(units) };
  let rest = left;
  others.forEach((each, i) => {
    const mine = i === others.length - 1 ? rest : Math.round(left * (before ? Number(shares[each]) / before : 1 / others.length));
    made[each] = text(mine);
    rest -= mine;
  });
  return made;
}

export function attributeCard(name, content, { open, toggle, change, slider }) {
  const shares = content.shares[name];
  const levels = Object.keys(shares);
  const set = (made) => change((c) => { c.shares[name] = made; });
  const may = options(el("select", { id: `merge-${name}`, onchange: () => change((c) => {
    without(c, name);
    if (may.value !== "no") c[MAY[may.value]].push(name);
  }) }), ["no", ...Object.keys(MAY)].map((each) => [each, t(`plan.may.${each}`)]), merging(content, name));
  const rename = (to) => to && to !== name && change((c) => {
    if (c.shares[to]) return;
    c.shares = Object.fromEntries(Object.entries(c.shares).map(([each, value]) => [each === name ? to : each, value]));
    for (const key of LISTS) c[key] = (c[key] ?? []).map((each) => (each === name ? to : each));
  });
  const title = el("input", { id: `name-${name}`, value: name, "aria-label": t("plan.attributeName"), onchange: () => rename(title.value.trim()) });
  const inside = open ? el("div", { class: "inside" }, title,
    el("div", { class: "levels-edit" }, levels.flatMap((level, i) => {
      const label = el("input", { id: `level-${name}-${i}`, value: level, "aria-label": t("plan.levelName", { i: i + 1 }), onchange: () => {
        const to = label.value.trim();
        if (to && !(to in shares)) set(Object.fromEntries(Object.entries(shares).map(([each, value]) => [each === level ? to : each, value])));
      } });
      const share = el("input", { type: "number", id: `share-${name}-${i}`, min: "0", max: "100", step: "1", value: String(Math.round(Number(shares[level]) * 1000) / 10), "aria-label": t("plan.levelShare", { level }), onchange: () => set(reweighted(shares, level, Math.round(Math.min(100, Math.max(0, Number(share.value))) * 100))) });
      return [label, share];
    })),
    el("div", { class: "row" }, el("button", { class: "small", id: `equal-${name}`, onclick: () => set(equal(levels)) }, t("plan.equal")),
      el("button", { class: "small quiet", id: `remove-${name}`, disabled: Object.keys(content.shares).length < 2, onclick: () => change((c) => { delete c.shares[name]; without(c, name); }) }, t("plan.remove")))) : null;
  return el("div", { class: "step", "data-attribute": name }, el("div", { class: "inside plan-top" },
    el("div", { class: "row apart" }, el("strong", {}, name), el("button", { class: "small quiet", id: `edit-${name}`, "aria-expanded": String(open), onclick: toggle }, t(open ? "plan.close" : "plan.edit"))),
    slider(`levels-${name}`, t("plan.levels"), { value: levels.length, min: 2, max: 30, show: (v) => String(v), settle: (v) => set(resized(shares, v)) }), field(t("plan.may"), may), inside));
}
