/** The table that is shown: of the present choice or of a run, with its tools, its grid and the inspector. */
import { get, query } from "../../js/api.js";
import { el, field, options, replace } from "../../js/dom.js";
import { current, number, t } from "../../js/i18n.js";
import { refusal } from "../../js/notices.js";
import { draft, isChosen, runs, runTitle, showSettings, view } from "../../js/store.js";
import { Axis, single } from "./axis.js";
import { Grid } from "./grid.js";
import { Inspector } from "./inspector.js";
import { fileOf } from "./data.js";
import { Order } from "./order.js";
import { Preview } from "./preview.js";
import { startPage } from "./start.js";
import { Trouble } from "./trouble.js";

const DRAFT = "draft";
/** The code of a job that lacks something. */
const INCOMPLETE = "J1";
/** What is shown that is no table: the first page, and the chosen file as it is. */
const START = "start";
const FILE = "file";

/** Decimals for values that are no short decimals: six digits in all, the same in every cell, so that they stand below each other. */
const enough = (largest) => (largest ? Math.min(6, Math.max(0, 5 - Math.floor(Math.log10(largest)))) : 2);

export class Shown {
  constructor() {
    this.tools = el("div", { class: "tools" });
    this.place = el("div", { class: "shown" });
    this.root = el("section", { class: "shown", "aria-label": t("table.shown") });
    this.inspect = new Inspector(this);
    this.inspector = this.inspect.root;
    this.order = new Order();
    this.key = null;
    this.why = el("p", { class: "why", role: "status" }, t("table.waiting"));
    this.waitingFor = null;
    this.turn = 0;
    this.grid = new Grid({ choose: (row, column) => this.waiting || this.inspect.cell(this.cellAt(row, column)), hover: (at) => this.inspect.hint(this.waiting ? null : at), leave: () => this.inspect.close() });
  }

  async start() {
    const last = runs.all.find((run) => run.state === "finished" && run.kind === "job");
    const kept = sessionStorage.getItem("shown");
    if (kept?.startsWith(`${FILE}:`)) return this.look(kept.slice(FILE.length + 1));
    const known = kept === DRAFT || kept === START || runs.all.some((run) => run.id === kept && run.state === "finished");
    return this.choose(known ? kept : last && (await this.isMine(last)) ? last.id : DRAFT);
  }

  /** Whether a run is what somebody who opens the page left behind; another one would hide the present choice. */
  async isMine(run) {
    if (!draft.content.data) return true;
    try { return isChosen((await get(`/api/runs/${run.id}/settings`)).content); } catch { return false; }
  }

  end() { this.turn++; this.grid.end(); this.inspect.end(); }

  /** The present choice has changed: it is what the user wants to see. */
  draft() { return this.key === FILE && this.preview.stays() ? undefined : this.choose(DRAFT); }
  async view() {
    this.troubled?.view();
    if (!this.description) return;
    const again = this.inspect.at;
    await this.choose(this.key);
    if (again) this.inspect.cell(again);
  }

  /** Show a run as soon as it is finished. */
  follow(id) { this.waitingFor = id; this.runs(); }

  runs() {
    const run = runs.all.find((each) => each.id === this.waitingFor);
    if (run && run.state !== "running") {
      this.waitingFor = null;
      if (run.state === "finished") this.choose(run.id);
    }
    const aRun = ![null, DRAFT, START, FILE].includes(this.key);
    // a run that was deleted elsewhere
    if (aRun && !runs.all.some((each) => each.id === this.key && each.state === "finished")) this.choose(DRAFT);
    else if (this.description && !this.waiting) this.drawTools();
    else if (this.starting !== undefined && this.starting !== runs.all.map((each) => each.id + each.state).join()) this.blank();
  }

  async choose(key) {
    const turn = ++this.turn;
    this.key = key;
    this.starting = undefined;
    sessionStorage.setItem("shown", key);
    this.inspect.close();
    if (key === DRAFT || key === START) showSettings(null);
    this.onChoose?.();
    if (key === START || (key === DRAFT && !draft.content.table?.by?.length && !draft.content.data?.table)) {
      this.description = null;
      this.wait(false);
      this.blank();
      return;
    }
    this.wait(true);
    try {
      const [found, settings] = await Promise.all([get(`/api/tables/${key}`), key === DRAFT ? null : get(`/api/runs/${key}/settings`)]);
      if (turn !== this.turn) return;
      this.wait(false);
      if (settings) showSettings(runs.all.find((run) => run.id === key) ?? { id: key, name: key, summary: {} }, settings);
      this.adopt(found);
    } catch (error) {
      if (turn !== this.turn || error.name === "AbortError") return;
      this.wait(false);
      this.description = null;
      // what is not yet complete needs no message here: the step that is missing says so
      if (key === DRAFT && error.code !== INCOMPLETE) this.refused(error);
      else this.blank();
      if (key !== DRAFT) refusal(error);
    }
  }

  /** The table on the screen is still the one before: grey, with the word why, and deaf until the other one has come. */
  wait(waiting) {
    this.waiting = waiting;
    // cells of the table before would be asked for as cells of the one to come
    if (waiting) this.grid.tiles?.end();
    this.root.classList.toggle("waiting", waiting);
    this.root.setAttribute("aria-busy", String(waiting));
    this.why.remove();
    if (waiting && this.description) this.root.prepend(this.why);
    else if (waiting) replace(this.root, el("div", { class: "empty", role: "status" }, el("h1", {}, t("table.making")), el("p", {}, t("table.makingHint"))));
  }

  /** An error takes the place of the table, with what cures it. */
  refused(error, given = {}) { this.stand(new Trouble(error, { unfold: this.context?.unfold, ...given })); }

  /** Something else than a table stands in its place. */
  stand(panel) {
    this.turn += 1;
    this.key = DRAFT;
    this.starting = undefined;
    sessionStorage.setItem("shown", DRAFT);
    this.description = null;
    this.wait(false);
    this.inspect.close();
    this.troubled = panel;
    replace(this.root, panel.root);
  }

  /** Without a table: the first page, or the file whose columns are still to be named. */
  blank() {
    const file = fileOf(draft.content);
    if (this.key === DRAFT && file && !draft.content.data.table) return this.look(file);
    this.starting = runs.all.map((run) => run.id + run.state).join();
    const { data } = this.context;
    return data ? replace(this.root, startPage(data, { look: (name) => this.look(name), show: (run) => this.choose(run) })) : replace(this.root);
  }

  /** The files of the workspace are known, or others than before. */
  listed() { if (this.starting !== undefined) this.blank(); }

  /** A file as it is, before it is a table. */
  look(name) {
    this.turn += 1;
    this.key = FILE;
    this.starting = undefined;
    sessionStorage.setItem("shown", `${FILE}:${name}`);
    this.description = null;
    this.inspect.close();
    showSettings(null);
    this.wait(false);
    this.onChoose?.();
    this.preview ??= new Preview(this);
    replace(this.root, this.preview.root);
    return this.preview.show(name);
  }

  adopt(description) {
    const before = this.description;
    const same = before && JSON.stringify(before.axes) === JSON.stringify(description.axes);
    this.description = description;
    for (const each of description.responses) each.decimals ??= enough(each.largest);
    if (!same) {
      this.axes = description.axes.map((each) => new Axis(each));
      this.rowAxis = this.axes[0];
      this.columnAxis = this.axes[1] ?? single("");
      this.at = this.axes.map((axis) => axis.total);
    }
    this.putInOrder();
    if (!description.responses.some((each) => each.name === this.response)) this.response = description.responses[0].name;
    replace(this.root, this.tools, this.grid.root, this.legend());
    this.drawTools();
    this.drawGrid();
  }

  putInOrder() { for (const axis of this.axes) axis.order(this.order.of(this.key)); }

  get responseFacts() { return this.description.responses.find((each) => each.name === this.response); }

  /** Positions of a cell on all axes, from those of its row and column. */
  cellAt(row, column) {
    return this.axes.map((axis, i) => (axis === this.rowAxis ? row : axis === this.columnAxis ? column : this.at[i]));
  }

  address() {
    return {
      path: `/api/tables/${this.key}/cells`,
      given: { response: this.response, rows: this.rowAxis.name, columns: this.columnAxis.name, at: this.at.join(","), v: String(this.turn) },
    };
  }

  drawGrid() {
    if (!this.columnAxis.name) this.columnAxis = single(this.response);
    this.grid.show({
      rows: this.rowAxis, columns: this.columnAxis, address: this.address(), decimals: this.responseFacts.decimals, largest: this.responseFacts.largest,
      label: t("grid.of", { response: this.response, rows: this.rowAxis.name, columns: this.columnAxis.name || this.response }),
    });
    this.inspect.relight();
  }

  drawTools() {
    const finished = runs.all.filter((run) => run.state === "finished" && run.kind === "job");
    const sources = options(el("select", { id: "shown-table", onchange: () => this.choose(sources.value) }),
      [...(draft.content.data ? [[DRAFT, t("tools.draft")]] : []), ...finished.map((run) => [run.id, runTitle(run)])], this.key, 40);
    const responses = options(el("select", { id: "response", onchange: () => { this.response = responses.value; this.inspect.close(); this.drawGrid(); } }),
      this.description.responses.map((each) => [each.name, each.name]), this.response);
    const names = this.axes.map((axis) => [axis.name, axis.name]);
    const by = (name) => this.axes.find((axis) => axis.name === name);
    const swap = (mine, other, name) => { if (this[other].name === name) this[other] = this[mine]; this[mine] = by(name); this.inspect.close(); this.drawTools(); this.drawGrid(); };
    const rows = options(el("select", { id: "row-axis", onchange: () => swap("rowAxis", "columnAxis", rows.value) }), names, this.rowAxis.name);
    const columns = options(el("select", { id: "column-axis", onchange: () => swap("columnAxis", "rowAxis", columns.value) }), names, this.columnAxis.name);
    const slices = this.axes.map((axis, i) => [axis, i]).filter(([axis]) => axis !== this.rowAxis && axis !== this.columnAxis).map(([axis, i]) => {
      const select = options(el("select", { "data-slice": axis.name, onchange: () => { this.at[i] = Number(select.value); this.inspect.close(); this.drawGrid(); } }),
        [...axis.codes.keys()].reverse().map((code) => [String(code), `${" ".repeat(axis.levels[code] * 2)}${axis.text(code)}`]), String(this.at[i]));
      return field(axis.name, select);
    });
    const several = this.axes.length > 1;
    const axis = (key, select, of) => {
      const made = field(t(key), select);
      made.append(el("div", { class: "levels" }, select, this.levels(of)));
      return made;
    };
    const file = this.key === DRAFT && !draft.content.data?.table ? fileOf(draft.content) : null;
    replace(this.tools, field(t("tools.table"), sources), file ? el("button", { class: "small quiet", id: "look", onclick: () => this.look(file) }, t("preview.look")) : null, this.description.responses.length > 1 ? field(t("tools.response"), responses) : null,
      several ? axis("tools.rows", rows, this.rowAxis) : this.levels(this.rowAxis), several ? axis("tools.columns", columns, this.columnAxis) : null, ...slices,
      field(t("tools.sums"), this.order.select(this.key, () => { this.inspect.close(); this.putInOrder(); this.grid.refresh(); })));
  }

  levels(axis) {
    if (axis.depth < 3) return "";
    const buttons = [...Array(axis.depth).keys()].map((level) => el("button", {
      class: "small", "aria-pressed": String(axis.level === level), "data-level": `${axis.name}.${level}`,
      onclick: () => { axis.openTo(level); this.grid.refresh(); this.drawTools(); },
    }, String(level + 1)));
    return el("span", { class: "levels", role: "group", "aria-label": t("tools.levels", { name: axis.name }), title: t("tools.levels", { name: axis.name }) }, buttons);
  }

  legend() {
    const facts = this.responseFacts.hidden;
    return el("div", { class: "legend" },
      el("span", {}, el("span", { class: "sign badge primary" }, "■ P"), ` ${t("status.primary")}: ${number(facts.primary)}`),
      el("span", {}, el("span", { class: "sign badge secondary" }, "□ S"), ` ${t("status.secondary")}: ${number(facts.secondary)}`),
      this.key === DRAFT && !view.internal ? el("span", {}, t("grid.later")) : "",
      el("span", { class: "spring" }), el("span", {}, t("grid.cells", { n: this.description.cells })), el("span", {}, t("grid.keys")));
  }

  cellQuery(cell) { return query({ response: this.response, cell: cell.join(","), language: current() }); }
}
