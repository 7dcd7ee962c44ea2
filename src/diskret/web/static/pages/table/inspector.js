/** What is behind a cell: why it is hidden, with what it moves, what remains possible; or what hiding it would cost. */
import { get } from "../../js/api.js";
import { el, replace } from "../../js/dom.js";
import { number, ruleName, t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";
import { SIGNS } from "./grid.js";
import { byHand } from "./hand.js";

const HOVER = 250;

export class Inspector {
  constructor(shown) {
    this.shown = shown;
    this.root = el("aside", { class: "inspector", hidden: true, "aria-label": t("inspect.label"), "aria-live": "polite" });
    this.bubble = el("div", { class: "hint", role: "tooltip", hidden: true });
    document.body.append(this.bubble);
    this.at = null;
  }

  end() { this.bubble.remove(); clearTimeout(this.timer); }

  close() {
    this.at = null;
    this.facts = null;
    this.root.hidden = true;
    this.shown.bench?.classList.remove("inspecting");
    this.shown.grid.chosen = null;
    this.shown.grid.light(new Map());
  }

  async cell(at) {
    this.at = at;
    const { turn } = this.shown;
    const facts = await attempt(() => get(`/api/tables/${this.shown.key}/cell?${this.shown.cellQuery(at)}`));
    if (!facts || this.at !== at || turn !== this.shown.turn) return;
    this.facts = facts;
    this.picked = 0;
    this.root.hidden = false;
    this.shown.bench.classList.add("inspecting");
    this.draw();
    this.relight();
    // the inspector takes room from the grid: the cell must not get lost behind it
    requestAnimationFrame(() => this.shown.grid.uncover(...this.shown.grid.active));
  }

  /** Light the cells of the moves that lie in the part of the table that is shown. */
  relight() {
    const lit = new Map();
    const move = this.facts?.moves[this.picked];
    for (const each of move?.cells ?? []) {
      const key = this.inView(each.index);
      if (key) lit.set(key, each.sign);
    }
    this.shown.grid.light(lit);
  }

  inView(index) {
    const { axes, rowAxis, columnAxis, at } = this.shown;
    const here = axes.every((axis, i) => axis === rowAxis || axis === columnAxis || at[i] === index[i]);
    const column = columnAxis.name ? index[axes.indexOf(columnAxis)] : 0;
    return here ? `${index[axes.indexOf(rowAxis)]},${column}` : null;
  }

  names(index) { return this.shown.axes.map((axis, i) => axis.text(index[i])).join(" · "); }

  draw() {
    const { facts, shown } = this;
    const hidden = facts.status === 1 || facts.status === 2;
    const kind = facts.status === 1 ? "primary" : "secondary";
    const decimals = shown.responseFacts.decimals;
    replace(this.root,
      el("header", {}, el("div", {}, el("h2", {}, this.names(facts.index)), el("small", {}, shown.response)),
        el("button", { class: "quiet small", "aria-label": t("inspect.close"), onclick: () => { this.close(); shown.grid.root.focus(); } }, "✕")),
      hidden ? el("p", {}, el("span", { class: `badge ${kind}` }, `${SIGNS[facts.status]} · ${t(`status.${kind}`)}`)) : null,
      el("dl", {},
        facts.value === null ? null : [el("dt", {}, t(hidden ? "inspect.hiddenValue" : "inspect.value")), el("dd", {}, number(facts.value, decimals))],
        facts.count === null || facts.count === undefined ? null : [el("dt", {}, t("inspect.count")), el("dd", {}, number(facts.count))],
        facts.rules.length ? [el("dt", {}, t("inspect.rules")), el("dd", {}, facts.rules.map(ruleName).join(", "))] : null),
      facts.interval ? this.interval(facts.interval, decimals) : null,
      hidden && !facts.interval && shown.key !== "draft" ? el("p", { class: "muted" }, t("inspect.intervalNone")) : null,
      hidden ? null : el("div", { class: "words" }, facts.words.map((each) => el("p", {}, each)), facts.value === null ? el("p", { class: "muted" }, t("grid.later")) : null),
      !hidden && shown.key !== "draft" ? this.instead() : null,
      ...facts.moves.map((move, i) => this.move(move, i)),
      facts.further ? el("small", {}, t("inspect.further", { n: facts.further })) : null,
      hidden && facts.words.length ? el("details", {}, el("summary", {}, t("inspect.words")), el("div", { class: "words" }, facts.words.map((each) => el("p", {}, each)))) : null,
      hidden && shown.key === "draft" ? el("p", { class: "muted" }, t("inspect.notYet")) : null,
      shown.key === "draft" ? byHand(shown, facts) : null,
      facts.unprotected ? el("p", {}, el("span", { class: "badge bad" }, t("inspect.unprotected"))) : null);
  }

  /** A question that takes an attack to answer. */
  instead() {
    const said = el("p", { role: "status" });
    const ask = el("button", { id: "instead", onclick: async () => {
      ask.disabled = true;
      said.textContent = t("audit.running");
      const found = await attempt(() => get(`/api/tables/${this.shown.key}/instead?${this.shown.cellQuery(this.at)}`));
      said.textContent = found?.words ?? "";
    } }, t("inspect.instead"));
    return el("div", {}, ask, said);
  }

  interval({ lower, upper }, decimals) {
    const end = (value, none) => (value === null ? none : number(value, decimals));
    return el("div", { class: "interval" }, el("h3", {}, t("inspect.interval")),
      el("div", { class: "ends" }, el("span", {}, end(lower, "−∞")), el("span", {}, end(upper, "∞"))), el("div", { class: "band" }), el("small", {}, t("inspect.intervalHint")));
  }

  /** One move; the one that is picked is lit in the table and listed cell by cell. */
  move(move, i) {
    const picked = i === this.picked;
    const key = move.protects ? (move.cuboid ? "inspect.cuboid" : "inspect.move") : "inspect.helps";
    return el("div", { class: "moves", "data-move": String(i) },
      el("button", { "aria-pressed": String(picked), class: "pick", onclick: () => { this.picked = i; this.draw(); this.relight(); } }, t(key, { n: move.cells.length, cells: move.helped.join(", ") })),
      picked ? move.cells.map((each) => this.jump(each.index, each.sign > 0 ? "+" : "−", each.value)) : null);
  }

  jump(index, sign, value) {
    const { shown } = this;
    return el("button", { class: "quiet", onclick: () => {
      const column = shown.columnAxis.name ? index[shown.axes.indexOf(shown.columnAxis)] : 0;
      if (!this.inView(index)) { shown.at = shown.axes.map((axis, i) => (axis === shown.rowAxis || axis === shown.columnAxis ? shown.at[i] : index[i])); shown.drawTools(); shown.drawGrid(); }
      shown.grid.goTo(index[shown.axes.indexOf(shown.rowAxis)], column);
    } }, sign ? el("span", { class: "coefficient" }, sign) : null, el("span", { class: "where" }, this.names(index)), value === undefined ? null : el("span", {}, number(value, shown.responseFacts.decimals)));
  }

  /** The remaining interval beside the pointer. */
  hint(at) {
    clearTimeout(this.timer);
    if (!at) { this.bubble.hidden = true; return; }
    if (this.over === at.cell.id && !this.bubble.hidden) return;
    this.bubble.hidden = true;
    this.timer = setTimeout(async () => {
      const cell = this.shown.cellAt(at.row, at.column);
      const { turn } = this.shown;
      let found = null;
      try { found = await get(`/api/tables/${this.shown.key}/interval?${this.shown.cellQuery(cell)}`); } catch { return; }
      if (!at.cell.isConnected || turn !== this.shown.turn) return;
      this.over = at.cell.id;
      const box = at.cell.getBoundingClientRect();
      const decimals = this.shown.responseFacts.decimals;
      const ends = found.interval ? `${found.interval.lower === null ? "−∞" : number(found.interval.lower, decimals)} – ${found.interval.upper === null ? "∞" : number(found.interval.upper, decimals)}` : t("inspect.noInterval");
      replace(this.bubble, `${t(`status.${found.status === 1 ? "primary" : "secondary"}`)} · ${ends}`);
      this.bubble.style.left = `${Math.min(box.left, innerWidth - 330)}px`;
      this.bubble.style.top = `${box.bottom + 4 > innerHeight - 50 ? box.top - 34 : box.bottom + 4}px`;
      this.bubble.hidden = false;
    }, HOVER);
  }
}
