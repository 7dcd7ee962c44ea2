/** What stands in the way of a table: the error in the main area, with what cures it as buttons, and its rows on demand. */
import { CHANGED, get } from "../../js/api.js";
import { el, replace } from "../../js/dom.js";
import { number, sentence, t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";
import { change, showInternal, view } from "../../js/store.js";
import { fileOf } from "./data.js";

/** Set a key of the choice, however deep; a column may have the name of something that every object has. */
export function setKey(content, path, value) {
  let section = content;
  for (const part of path.slice(0, -1)) section = Object.hasOwn(section, part) ? section[part] : (section[part] = {});
  section[path.at(-1)] = value;
}

/** What a cure sets, as a job file says it. */
const setting = (cure) => `${cure.key} = ${JSON.stringify(cure.value)}`;

export class Trouble {
  /** `file` is a file that could not even be looked at, `again` looks at it once more; `base` are settings not chosen yet. */
  constructor(error, { unfold, file, again, base } = {}) {
    Object.assign(this, { error, unfold, file, again, base });
    this.rows = el("div", { class: "rows", id: "trouble-rows", "aria-live": "polite" });
    const lines = error.what.split("\n");
    this.root = el("section", { class: "trouble", role: "alert", "data-code": error.code },
      el("h1", {}, t("trouble.title")),
      el("p", {}, el("strong", {}, `[${error.code}] `, lines.flatMap((line, i) => (i ? [el("br"), line.trim()] : [line])))),
      error.where ? el("p", {}, `${t("notice.where")}: ${error.where.replaceAll(`${view.workspace}/`, "")}`) : null,
      // hints are for whoever writes a job or a program: here the buttons say what can be done
      error.hint && !error.cures?.some((cure) => cure.value !== null) ? el("p", {}, `${t("notice.hint")}: ${error.hint}`) : null,
      el("div", { class: "cures", role: "group", "aria-label": t("trouble.cures") }, (error.cures ?? []).map((cure) => this.button(cure)),
        error.code === CHANGED ? el("button", { class: "main again", onclick: () => document.dispatchEvent(new Event("look-again")) }, t("notice.again")) : null,
        error.rows?.length && !file && !base ? el("button", { id: "show-rows", onclick: () => this.show() }, t("trouble.show", { n: error.rows.length })) : null),
      (error.cures ?? []).some((cure) => cure.value !== null) ? el("p", {}, el("small", {}, t("trouble.undo"))) : null,
      this.rows);
  }

  button(cure) {
    const words = sentence(cure.words);
    if (cure.value === null) return el("button", { "data-cure": cure.label, onclick: () => this.edit(cure) }, words);
    return el("button", { class: "main", "data-cure": cure.label, title: setting(cure), onclick: () => this.apply(cure) }, el("span", {}, words), el("small", {}, setting(cure)));
  }

  async apply(cure) {
    await change((content) => {
      const base = this.base ?? (this.file && fileOf(content) !== this.file ? { data: { microdata: this.file } } : null);
      if (base) {
        for (const key of Object.keys(content)) delete content[key];
        Object.assign(content, structuredClone(base));
      }
      setKey(content, cure.path, cure.value);
    });
    await this.again?.();
  }

  /** Something to be decided on the spot: the tree of a classification, else the step with the columns. */
  async edit({ path }) {
    if (path[0] === "classifications" && path[2] === "hierarchy") await (await import("./tree.js")).openTree(path[1]);
    else this.unfold?.("roles");
  }

  /** Rows of the file are shown in the internal view only: whoever asks for them switches it on. */
  async show() {
    if (!view.internal && !confirm(t("trouble.confirm"))) return;
    if (!view.internal) await showInternal(true);
    const found = await attempt(() => get(`/api/draft/rows?rows=${this.error.rows.join(",")}`));
    if (!found) return;
    replace(this.rows, el("h2", {}, t("trouble.rows")), el("div", { class: "wide", tabindex: "0" }, el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, el("th", { class: "number" }, t("trouble.row")), found.columns.map((name) => el("th", {}, name)))),
      el("tbody", {}, found.rows.map((each) => el("tr", {}, el("td", { class: "number" }, number(each.row)), each.cells.map((cell) => el("td", {}, cell ?? el("em", {}, t("trouble.blank"))))))))));
  }

  /** The view has changed: without the internal one no row stays on the screen. */
  view() { if (!view.internal) replace(this.rows); }
}
