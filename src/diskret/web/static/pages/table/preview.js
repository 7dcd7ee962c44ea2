/** The chosen file as it is: its columns with what they seem to be, and on demand its first rows, to pick the row of names. */
import { get, put, query } from "../../js/api.js";
import { el, field, options, replace } from "../../js/dom.js";
import { current, t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";
import { change, draft, view } from "../../js/store.js";
import { fileOf } from "./data.js";
import { rowsTable } from "./picker.js";
import { roleOf } from "./roles.js";
import { Trouble } from "./trouble.js";

const READING = ["delimiter", "decimal", "thousands", "encoding", "sheet", "header", "range"];
const SHEETS = /\.(xlsx|xlsm|ods)$/i;
const TEXTS = /\.(csv|tsv|txt)(\.gz)?$/i;
const DECIMALS = [["", null], [".", "1234.5"], [",", "1234,5"]];
const THOUSANDS = [["", null], [".", "1.234"], [",", "1,234"], [" ", "1 234"], ["'", "1'234"]];
const ENCODINGS = [["", null], ["utf-8", "UTF-8"], ["windows-1252", "Windows-1252"], ["latin-1", "Latin-1"], ["cp850", "CP850 (DOS)"], ["utf-16", "UTF-16"]];

export class Preview {
  constructor(shown) {
    this.shown = shown;
    this.root = el("div", { class: "preview" });
    this.turn = 0;
    this.changing = 0;
  }

  get chosen() { return fileOf(draft.content) === this.name; }
  get data() { return this.chosen ? draft.content.data : {}; }

  /** Whether a change of the choice comes from here: then the file is still what the user looks at. */
  stays() {
    if (!this.changing) return false;
    this.show(this.name);
    return true;
  }

  async show(name) {
    const turn = ++this.turn;
    if (name !== this.name) replace(this.root, el("p", { class: "muted" }, t("preview.wait")));
    this.name = name;
    const { sheet = "" } = this.data;
    const kind = this.data.cells ? "cells" : this.data.microdata ? "microdata" : "";
    const [columns, file] = await Promise.all([
      quietly(() => get(`/api/recognise?${query({ file: name, sheet, language: current(), ...(kind && { kind }) })}`)),
      quietly(() => get(`/api/preview?${query({ file: name, sheet })}`)),
    ]);
    if (turn !== this.turn) return;
    this.columns = columns;
    this.file = file;
    this.draw();
  }

  draw() {
    const active = document.activeElement?.id;
    replace(this.root, this.head(), this.reading(), this.named(), this.rows());
    if (active && document.activeElement?.id !== active) document.getElementById(active)?.focus();
  }

  head() {
    const { shown } = this;
    return el("header", {}, el("div", {}, el("h1", { title: this.name }, this.name), el("p", { class: "muted" }, t(this.chosen ? "preview.chosen" : "preview.hint"))),
      el("div", { class: "row" }, this.chosen
        ? el("button", { class: "main", id: "to-table", disabled: !draft.content.table?.by?.length, onclick: () => shown.choose("draft") }, t("preview.table"))
        : [el("button", { class: "main", id: "use-file", onclick: () => shown.context.data.use(this.name) }, t("start.use")),
          el("button", { class: "quiet", id: "to-start", onclick: () => shown.choose("start") }, t("preview.back"))]));
  }

  /** How the file is read, where it does not say so itself. What is left empty is found. */
  reading() {
    const { data, file } = this;
    const select = (key, entries) => {
      const made = options(el("select", { id: `read-${key}`, onchange: () => this.set({ [key]: made.value || null }) }), entries.map(([value, text]) => [value, text ?? t("preview.found")]), data[key] ?? "");
      return field(t(`reading.${key}`), made);
    };
    const text = (key, shown, parse, hint) => {
      const made = el("input", { id: `read-${key}`, value: shown, placeholder: t("preview.found"), onchange: () => this.set({ [key]: parse(made.value) }) });
      return field(t(`reading.${key}`), made, hint);
    };
    const header = text("header", [data.header ?? []].flat().join(", "), parseRows, t("reading.headerHint"));
    if (SHEETS.test(this.name)) {
      const sheets = file?.sheets ?? [];
      const sheet = options(el("select", { id: "read-sheet", onchange: () => this.set({ sheet: sheet.value, header: null, range: null }) }), sheets.map((each) => [each, each]), data.sheet ?? file?.sheet ?? sheets[0]);
      return el("div", { class: "reading" }, sheets.length > 1 ? field(t("reading.sheet"), sheet) : null, header, text("range", data.range ?? "", (value) => value.trim().toUpperCase() || null, t("reading.rangeHint")));
    }
    if (!TEXTS.test(this.name)) return null;
    return el("div", { class: "reading" }, header, select("decimal", DECIMALS), select("thousands", THOUSANDS), select("encoding", ENCODINGS));
  }

  /** Set how the file is read; a file that was not chosen is chosen by it. Other columns may come of it: they are recognised anew. */
  async set(keys) {
    const { name, data } = this;
    const reading = Object.fromEntries(Object.entries({ ...data, ...keys }).filter(([key, value]) => READING.includes(key) && value !== null));
    const found = await quietly(() => get(`/api/recognise?${query({ file: name, reading: JSON.stringify(reading) })}`));
    if (this.name !== name) return;
    this.changing += 1;
    await change((content) => {
      for (const key of Object.keys(content)) if (key !== "output" || !this.chosen) delete content[key];
      Object.assign(content, found.error ? { data: { microdata: name, ...reading } } : found.content);
    });
    this.changing -= 1;
  }

  named() {
    const { columns } = this;
    if (columns.error) return el("div", { id: "unread" }, new Trouble(columns.error, { unfold: this.shown.context.unfold, file: this.name, again: () => this.show(this.name) }).root, el("p", { class: "muted" }, t("preview.pick")));
    return el("section", {}, el("h2", {}, t("preview.columns", { n: columns.columns.length })), el("div", { class: "wide" }, el("table", { class: "plain", id: "preview-columns" },
      el("thead", {}, el("tr", {}, ["preview.name", "preview.role", "preview.why"].map((key) => el("th", { scope: "col" }, t(key))))),
      el("tbody", {}, columns.columns.map((each) => el("tr", {}, el("th", { scope: "row" }, each.name), el("td", {}, t(`role.${this.chosen ? roleOf(draft.content, each.name) : each.role}`)), el("td", {}, el("small", {}, each.why))))))));
  }

  rows() {
    const { file } = this;
    const head = el("h2", {}, t("preview.rows"));
    if (file.error) return file.error.status === 404 ? null : el("section", {}, head, el("p", { class: "muted" }, file.error.what));
    if (!file.rows) {
      return el("section", {}, head, el("p", {}, t("preview.ask")), el("button", { id: "show-first", onclick: () => attempt(async () => { Object.assign(view, await put("/api/rows", { rows: true })); await this.show(this.name); }) }, t("preview.show")));
    }
    const canPick = SHEETS.test(this.name) || TEXTS.test(this.name);
    return el("section", {}, el("div", { class: "row apart" }, head, el("button", { class: "quiet small", id: "hide-rows", onclick: () => attempt(async () => { Object.assign(view, await put("/api/rows", { rows: false })); await this.show(this.name); }) }, t("preview.hide"))),
      el("p", { class: "secret" }, t("preview.confidential")), canPick ? el("p", {}, el("small", {}, t(SHEETS.test(this.name) ? "preview.pickHint" : "preview.pickRow"))) : null,
      rowsTable({ rows: file.rows, header: [this.data.header ?? []].flat(), proposed: file.header ?? [], range: this.data.range ?? null, lettered: SHEETS.test(this.name),
        pick: canPick ? (header) => this.set({ header: header.length === 1 ? header[0] : header.length ? header : null }) : null,
        enclose: SHEETS.test(this.name) ? (range) => this.set({ range }) : null }));
  }
}

const parseRows = (text) => { const found = text.split(/[^0-9]+/).filter(Boolean).map(Number).slice(0, 2); return found.length === 0 ? null : found.length === 1 ? found[0] : found; };

/** An answer or, in its place, what was refused: both have a place on the page. */
async function quietly(work) {
  try {
    return await work();
  } catch (error) {
    return { error };
  }
}
