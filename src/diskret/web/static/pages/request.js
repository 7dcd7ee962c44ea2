/** Requests: a table asked for is answered beside everything released; outputs made elsewhere are checked. */
import { get, post } from "../js/api.js";
import { chips } from "../js/controls.js";
import { el, field, options, replace } from "../js/dom.js";
import { t } from "../js/i18n.js";
import { attempt, notice, refusal } from "../js/notices.js";
import { on } from "../js/store.js";
import { badgeOf, cellTable, sentences } from "./request/shown.js";
import { saveAnswer } from "./request/file.js";

const WAYS = ["where", "without", "at_least", "at_most"];

export async function show(root) {
  const side = el("aside", { class: "side", "aria-label": t("request.title") });
  const result = el("section", { class: "figures", "aria-label": t("request.answer"), "aria-live": "polite" });
  replace(root, el("div", { class: "workbench" }, side, result));
  const state = { files: { houses: [], outputs: [] }, house: null, said: empty(), answer: null, checked: null, busy: false };
  let asked = 0;

  function empty() {
    return { by: [], value: null, filters: [], who: "", levels: {} };
  }

  /** The request as the server takes it; filters of one column and kind are one. */
  function plain() {
    const { by, value, filters, who, levels } = state.said;
    const found = { by, value, who, levels: Object.fromEntries(Object.entries(levels).filter(([name, level]) => by.includes(name) && level)) };
    for (const way of WAYS) found[way] = {};
    for (const each of filters) {
      if (each.way.startsWith("at_") ? each.number !== null : each.codes.length) found[each.way][each.column] = each.way.startsWith("at_") ? each.number : each.codes;
    }
    return found;
  }

  async function choose(name) {
    const mine = (asked += 1);
    Object.assign(state, { house: null, said: empty(), answer: null, checked: null });
    draw();
    if (!name) return;
    const found = await attempt(() => post("/api/request/house", { house: name }));
    if (mine !== asked || !found) return;
    state.house = found;
    state.said.value = found.values[0] ?? null;
    draw();
  }

  async function ask() {
    const mine = (asked += 1);
    Object.assign(state, { busy: true, checked: null });
    draw();
    const done = await attempt(() => post("/api/request/answer", { house: state.house.name, request: plain() }));
    if (mine !== asked) return;
    if (done) state.house.entries = done.entries;
    Object.assign(state, { busy: false, answer: done ?? state.answer });
    draw();
  }

  async function check(file, remember) {
    const mine = (asked += 1);
    Object.assign(state, { busy: true, answer: null });
    draw();
    const done = await attempt(() => post("/api/request/check", { file, remember }));
    if (mine !== asked) return;
    Object.assign(state, { busy: false, checked: done ? { ...done, file } : null });
    draw();
  }

  async function save() {
    const said = { house: state.house.name, request: plain(), name: state.said.name || "request" };
    try {
      const saved = await post("/api/request/save", said);
      notice(t("request.saved", { name: saved.name }));
    } catch (error) {
      if (error.code !== "O1" || !confirm(`${error.what}. ${t("result.replace")}`)) return refusal(error);
      const saved = await attempt(() => post("/api/request/save", { ...said, replace: true }));
      if (saved) notice(t("request.saved", { name: saved.name }));
    }
    return null;
  }

  const change = (what) => { what(); draw(); };

  function draw() {
    replace(side, el("div", { class: "choices" }, houseCard(), state.house ? askCard() : null, outputsCard()));
    replace(result, state.busy ? el("p", { class: "muted", role: "status" }, t("request.wait")) : state.answer ? answerCard() : state.checked ? checkedCard() : hint());
  }

  const hint = () => el("div", { class: "card" }, el("h1", {}, t("request.title")), el("p", {}, t("request.hint")), state.files.houses.length ? null : el("p", { class: "muted" }, t("request.none")));

  function houseCard() {
    const select = el("select", { id: "request-house", onchange: () => choose(select.value) });
    options(select, [["", t("request.choose")], ...state.files.houses.map((each) => [each, each])], state.house?.name ?? "");
    const about = state.house && el("p", {}, el("small", { id: "house-about" }, t("request.about", { population: state.house.population || "–", period: state.house.period || "–", entries: state.house.entries })));
    return el("div", { class: "step" }, el("div", { class: "inside plan-top" }, el("h2", {}, t("request.house")), field(t("request.houseFile"), select, t("request.houseHint")), about));
  }

  function askCard() {
    const { house, said } = state;
    const value = el("select", { id: "request-value", onchange: () => change(() => { said.value = value.value || null; }) });
    options(value, [...house.values.map((each) => [each, each]), ["", t("request.count")]], said.value ?? "");
    const who = el("input", { id: "request-who", value: said.who, onchange: () => { said.who = who.value; } });
    const name = el("input", { id: "request-name", placeholder: "request", value: said.name ?? "", onchange: () => { said.name = name.value; } });
    return el("div", { class: "step" }, el("div", { class: "inside plan-top" }, el("h2", {}, t("request.table")),
      chips("request-by", t("request.by"), house.columns.map((each) => each.name), said.by, (names) => change(() => { said.by = names; })),
      house.columns.filter((each) => said.by.includes(each.name) && each.levels > 1).map(levels),
      field(t("request.value"), value), el("h3", {}, t("request.filter")), said.filters.map(filter),
      el("button", { id: "add-filter", class: "quiet small", onclick: () => change(() => said.filters.push({ column: house.columns[0].name, way: house.columns[0].numbers ? "at_least" : "where", codes: [], number: null })) }, `+ ${t("request.addFilter")}`),
      field(t("request.who"), who), el("div", { class: "row" }, el("button", { id: "ask", class: "main", disabled: state.busy, onclick: ask }, t("request.ask"))),
      el("small", { class: "muted" }, t("request.remembered")),
      field(t("request.name"), name), el("button", { id: "save-request", class: "quiet", onclick: save }, t("request.save"))));
  }

  function levels(column) {
    const select = el("select", { id: `levels-${column.name}`, onchange: () => change(() => { state.said.levels[column.name] = Number(select.value) || null; }) });
    const steps = Array.from({ length: column.levels - 1 }, (_, i) => [String(i + 1), t("request.level", { n: i + 1 })]);
    options(select, [["", t("request.allLevels")], ...steps], String(state.said.levels[column.name] ?? ""));
    return field(t("request.levels", { name: column.name }), select);
  }

  function filter(each, i) {
    const column = state.house.columns.find((found) => found.name === each.column);
    const ways = column.numbers ? ["at_least", "at_most"] : ["where", "without"];
    const which = el("select", { id: `filter-${i}-column`, "aria-label": t("request.column"), onchange: () => change(() => {
      const next = state.house.columns.find((found) => found.name === which.value);
      Object.assign(each, { column: next.name, way: next.numbers ? "at_least" : "where", codes: [], number: null });
    }) });
    options(which, state.house.columns.map((found) => [found.name, found.name]), each.column);
    const way = el("select", { id: `filter-${i}-way`, "aria-label": t("request.way"), onchange: () => change(() => { each.way = way.value; }) });
    options(way, ways.map((one) => [one, t(`request.${one}`)]), each.way);
    const number = el("input", { type: "number", id: `filter-${i}-number`, "aria-label": t(`request.${each.way}`), value: each.number === null ? "" : String(each.number), onchange: () => { each.number = number.value === "" ? null : Number(number.value); } });
    return el("div", { class: "filter", "data-filter": String(i) }, el("div", { class: "row" }, which, way, column.numbers ? number : null,
      el("button", { class: "quiet small", id: `filter-${i}-off`, "aria-label": t("request.noFilter", { name: each.column }), onclick: () => change(() => state.said.filters.splice(i, 1)) }, "✕")),
      column.numbers ? null : chips(`filter-${i}-codes`, t("request.codes"), column.codes, each.codes, (codes) => change(() => { each.codes = codes; })));
  }

  function outputsCard() {
    const select = el("select", { id: "outputs-file" });
    options(select, state.files.outputs.length ? state.files.outputs.map((each) => [each, each]) : [["", t("request.noOutputs")]]);
    const remember = el("input", { type: "checkbox", id: "outputs-remember" });
    return el("div", { class: "step" }, el("div", { class: "inside plan-top" }, el("h2", {}, t("request.outputs")), field(t("request.outputsFile"), select, t("request.outputsHint")),
      el("label", { class: "check" }, remember, t("request.rememberOutputs")),
      el("button", { id: "check-outputs", disabled: state.busy || !state.files.outputs.length, onclick: () => check(select.value, remember.checked) }, t("request.check"))));
  }

  function answerCard() {
    const { answer } = state;
    const good = { table: "good", reduced: "care", refused: "bad" }[answer.answer];
    return el("div", { class: "card", id: "answer", "data-answer": answer.answer }, el("h1", {}, answer.asked),
      el("p", {}, badgeOf(good, t(`request.is.${answer.answer}`)), answer.earlier ? el("small", { id: "earlier" }, ` ${t("request.earlier", { name: answer.earlier })}`) : null),
      answer.given && answer.given !== answer.asked ? el("p", { id: "given" }, t("request.given", { words: answer.given })) : null,
      answer.answer === "table" ? null : el("p", {}, t("request.why")),
      answer.reasons ? el("div", { id: "reasons" }, el("h2", {}, t("request.reasons")), sentences(answer.reasons.warnings)) : null,
      answer.table ? [cellTable(answer.table), saveAnswer(() => ({ house: state.house.name, request: plain() }))] : null);
  }

  function checkedCard() {
    const { checked } = state;
    const kinds = { accept: "good", change: "care", refuse: "bad" };
    return el("div", { class: "card", id: "checked", "data-verdict": checked.verdict }, el("h1", {}, checked.file), el("p", {}, badgeOf(kinds[checked.verdict], t(`request.all.${checked.verdict}`))),
      el("div", { class: "wide" }, el("table", { class: "plain whole" }, el("thead", {}, el("tr", {}, ["request.output", "request.verdict", "request.reason", "request.todo"].map((key) => el("th", { scope: "col" }, t(key))))),
        el("tbody", {}, checked.outputs.map((each) => el("tr", { "data-output": each.name }, el("th", { scope: "row" }, each.name), el("td", {}, badgeOf(kinds[each.verdict], t(`request.is.${each.verdict}`))), el("td", {}, sentences(each.reasons.warnings)), el("td", {}, sentences(each.changes.warnings))))))));
  }

  draw();
  const found = await attempt(() => get("/api/request"));
  if (found) state.files = found;
  draw();
  // what may be seen has changed: an answer on the screen may hold reasons that are not to be seen any more
  const off = on("view", () => { state.answer = null; draw(); });
  return () => { asked += 1; off(); };
}
