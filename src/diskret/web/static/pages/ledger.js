/** The ledger: what was released, what was asked, what is wrong with it. */
import { get, post } from "../js/api.js";
import { el, field, options, replace } from "../js/dom.js";
import { number, t } from "../js/i18n.js";
import { attempt } from "../js/notices.js";
import { on } from "../js/store.js";
import { badgeOf, cellTable, sentences } from "./request/shown.js";

const KINDS = { table: "good", accept: "good", reduced: "care", change: "care", refused: "bad", refuse: "bad" };

export async function show(root) {
  const sheet = el("div", { class: "sheet" });
  replace(root, sheet);
  const state = { folders: [], ledger: null, entry: null };
  let asked = 0;

  async function open(folder) {
    const mine = (asked += 1);
    Object.assign(state, { ledger: null, entry: null });
    draw();
    const found = folder ? await attempt(() => post("/api/ledger", { folder })) : null;
    if (mine !== asked) return;
    state.ledger = found ?? null;
    draw();
  }

  async function look(number) {
    const mine = (asked += 1);
    const found = await attempt(() => post("/api/ledger/entry", { folder: state.ledger.folder, number }));
    if (mine !== asked || !found) return;
    state.entry = { ...found, number };
    draw();
    document.getElementById("entry")?.focus();
  }

  function draw() {
    const select = el("select", { id: "ledger-folder", onchange: () => open(select.value) });
    options(select, [["", t("ledger.choose")], ...state.folders.map((each) => [each, each])], state.ledger?.folder ?? "");
    replace(sheet, el("section", { class: "card", "aria-label": t("ledger.title") }, el("h1", {}, t("ledger.title")), el("p", {}, t("ledger.hint")),
      state.folders.length ? field(t("ledger.folder"), select) : el("p", { class: "muted" }, t("ledger.none")), state.ledger ? flaws() : null),
      state.ledger ? [entries(), state.entry ? entry() : null, requests()] : null);
  }

  function flaws() {
    const { flaws: wrong, trouble } = state.ledger;
    if (!wrong.length && !trouble) return el("p", {}, badgeOf("good", t("ledger.whole", { n: state.ledger.entries.length })));
    return el("div", { id: "flaws" }, el("p", {}, badgeOf("bad", t("ledger.flawed"))), sentences([...wrong, ...(trouble ? [trouble] : [])]));
  }

  function entries() {
    const head = ["ledger.number", "ledger.name", "ledger.counts", "ledger.period", "ledger.by", "ledger.cells", "ledger.on", ""];
    return el("section", { class: "card", "aria-label": t("ledger.entries") }, el("h2", {}, t("ledger.entries")), el("div", { class: "wide" }, el("table", { class: "plain whole", id: "entries" },
      el("thead", {}, el("tr", {}, head.map((key) => el("th", { scope: "col" }, key && t(key))))),
      el("tbody", {}, state.ledger.entries.map((each) => el("tr", { "data-entry": String(each.number) }, el("td", { class: "number" }, number(each.number)), el("th", { scope: "row" }, each.name), el("td", {}, each.counts), el("td", {}, each.period), el("td", {}, each.by.join(" × ")),
        el("td", { class: "number" }, `${number(each.cells)} (${number(each.hidden)} ■)`), el("td", {}, each.on), el("td", {}, el("button", { class: "small", id: `look-${each.number}`, "aria-label": t("ledger.lookAt", { name: each.name }), onclick: () => look(each.number) }, t("ledger.look")))))))));
  }

  function entry() {
    const { entry: found } = state;
    const about = Object.entries(found.about.fixed ?? {}).map(([name, code]) => `${name} ${code}`).join(", ");
    return el("section", { class: "card", id: "entry", tabindex: "-1", "aria-label": found.name }, el("h2", {}, found.name), el("p", {}, [found.counts, found.period, about].filter(Boolean).join("; ")), cellTable(found));
  }

  function requests() {
    const { requests: all } = state.ledger;
    if (!all.length) return null;
    return el("section", { class: "card", "aria-label": t("ledger.requests") }, el("h2", {}, t("ledger.requests")), el("div", { class: "wide" }, el("table", { class: "plain whole", id: "asked" },
      el("thead", {}, el("tr", {}, ["ledger.number", "ledger.who", "ledger.asked", "ledger.answer", "ledger.on"].map((key) => el("th", { scope: "col" }, t(key))))),
      el("tbody", {}, all.map((each) => el("tr", {}, el("td", { class: "number" }, number(each.number)), el("td", {}, each.who), el("td", {}, each.asked, each.reasons ? sentences(each.reasons.warnings) : null), el("td", {}, each.answer ? badgeOf(KINDS[each.answer], t(`request.is.${each.answer}`)) : null), el("td", {}, each.on)))))));
  }

  draw();
  const found = await attempt(() => get("/api/request"));
  state.folders = found?.ledgers ?? [];
  if (state.folders.length === 1) await open(state.folders[0]);
  else draw();
  const off = on("view", () => state.ledger && open(state.ledger.folder));
  return () => { asked += 1; off(); };
}
