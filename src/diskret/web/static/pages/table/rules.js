/** Step 3: primary rules, and at once how many cells each of them marks. */
import { get } from "../../js/api.js";
import { el, replace } from "../../js/dom.js";
import { number, t } from "../../js/i18n.js";
import { change, draft } from "../../js/store.js";
import { handList } from "./hand.js";
import { RULES, kept, on } from "./rule_forms.js";

export function rulesStep(inside, tell, context) {
  let marks = null;
  let refused = null;
  let turn = 0;
  // numbers of the choice before stay, in grey, until those of the present one have come
  let waiting = false;

  async function count() {
    const mine = ++turn;
    context.marks = null;
    if (draft.of) { [marks, refused, waiting] = [draft.of.summary, null, false]; return draw(); }
    if (!draft.content.table?.by?.length && !draft.content.data?.table) { [marks, refused, waiting] = [null, null, false]; return draw(); }
    waiting = true;
    draw();
    try {
      const found = await get("/api/draft/marks");
      if (mine !== turn) return undefined;
      [marks, refused, waiting] = [found, null, false];
    } catch (error) {
      if (mine !== turn || error.name === "AbortError") return undefined;
      [marks, refused, waiting] = [null, error, false];
    }
    context.marks = marks;
    return draw();
  }

  const caught = (name) => Object.values(marks?.tables ?? {}).reduce((sum, each) => sum + Object.entries(each.rules).filter(([rule]) => rule.includes(name)).reduce((all, [, n]) => all + n, 0), 0);
  const primary = () => Object.values(marks?.tables ?? {}).reduce((sum, each) => sum + (each.status.primary ?? 0), 0);

  function line(rule) {
    const given = draft.content.rules;
    const active = on(rule, given);
    const values = active ? rule.get(given[rule.key]) : rule.values;
    const put = (numbers) => change((c) => {
      c.rules ??= {};
      if (numbers) c.rules[rule.key] = rule.set(numbers, c.rules[rule.key]);
      else delete c.rules[rule.key];
    });
    const box = el("input", { type: "checkbox", checked: active, id: `rule-${rule.key}`, onchange: () => put(box.checked ? values : null) });
    // a number stands beside its name and its unit, and only where the rule is on
    const numbers = active ? values.map((value, i) => {
      const id = `rule-${rule.key}-${i}`;
      const unit = rule.units?.[i] ?? "";
      return el("div", { class: "named" }, el("label", { for: id }, t(`rule.${rule.key}.${i}`)), el("span", { class: "inputs" }, el("input", {
        type: "number", id, value: value === null ? "" : String(value), step: "any", min: "0", "data-rule": `${rule.key}.${i}`,
        onchange: (event) => put(values.map((old, j) => (i === j ? (rule.values[i] === null && event.target.value === "" ? null : Number(event.target.value)) : old))),
      }), el("span", { class: "unit", "aria-hidden": "true" }, unit)));
    }) : [];
    return el("div", { class: `rule${active ? " on" : ""}` }, el("label", { class: "check", for: box.id, title: t(`rule.${rule.key}.hint`) }, box, t(`rule.${rule.key}`)),
      el("span", { class: "marks", "data-marks": rule.key }, active && marks ? [el("b", {}, number(caught(rule.name))), ` ${t("rules.cells", { n: caught(rule.name) })}`] : ""),
      ...numbers, active ? el("small", { class: "hint-line" }, t(`rule.${rule.key}.hint`)) : null);
  }

  function draw() {
    tell(waiting ? t("rules.counting") : marks ? t("rules.said", { n: primary() }) : "");
    inside.classList.toggle("counting", waiting);
    const holding = draft.content.table?.holding;
    const levels = [draft.content.rules?.counted_by ?? "respondent"].flat();
    const warnings = marks?.warnings ?? [];
    const further = kept(draft.content.rules);
    replace(inside, el("div", { class: "rules" }, RULES.filter((rule) => !rule.quiet || on(rule, draft.content.rules)).map(line)),
      further.length ? el("small", { class: "hint-line", id: "rules-kept" }, t("rules.kept", { names: further.map((key) => t(`rules.kept.${key}`)).join(", ") })) : null,
      holding ? el("label", { class: "check" }, el("input", { type: "checkbox", checked: levels.includes("holding"), onchange: (event) => change((c) => { c.rules ??= {}; if (event.target.checked) c.rules.counted_by = "holding"; else delete c.rules.counted_by; }) }), t("rules.holding", { name: holding })) : null,
      handList(),
      marks ? el("div", { class: "marked", role: "status", id: "marked" },
        Object.entries(marks.tables).map(([name, each]) => el("div", { class: "row apart" }, el("span", {}, name), el("span", {}, t("rules.summary", { primary: each.status.primary ?? 0, n: each.occupied })))),
      ) : null,
      refused ? el("div", { class: "marked", role: "alert" }, el("strong", {}, refused.what), refused.hint ? el("small", {}, refused.hint) : null) : null,
      warnings.length ? el("details", {}, el("summary", {}, t("rules.care", { n: warnings.length })), warnings.map((each) => el("p", {}, el("small", {}, each)))) : null,
      el("button", { class: "main", id: "to-protect", disabled: !marks || waiting, onclick: () => context.unfold("protect") }, t("rules.next")));
  }
  return (what) => { if (what === "draft") count(); };
}
