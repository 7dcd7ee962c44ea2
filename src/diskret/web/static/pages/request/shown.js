/** What requests and the ledger show alike: badges, lists of sentences, cells of a table. */
import { el } from "../../js/dom.js";
import { number, t } from "../../js/i18n.js";

const SIGNS = { good: "✓", care: "!", bad: "✕" };

export const badgeOf = (kind, words) => el("span", { class: `badge ${kind === "care" ? "secondary" : kind}` }, `${SIGNS[kind]} ${words}`);

export const sentences = (said) => (said.length ? el("ul", { class: "sentences" }, said.map((each) => el("li", {}, each))) : null);

/** One row per cell; a hidden one shows its mark and nothing else. */
export function cellTable(table) {
  const rows = table.rows.map((codes, i) => {
    const value = table.values[i];
    return el("tr", { class: value === null ? "hidden-cell" : null }, codes.map((code) => el("th", { scope: "row" }, code)),
      el("td", { class: "number" }, value === null ? el("span", { "aria-label": t("request.hidden") }, "■") : number(value)));
  });
  return el("div", {}, el("p", {}, el("small", {}, t("request.cells", { cells: table.cells, hidden: table.hidden }))),
    el("div", { class: "wide" }, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, [...table.names, table.response ?? t("request.value")].map((name, i) => el("th", { scope: "col", class: i === table.names.length ? "number" : "" }, name)))), el("tbody", {}, rows))),
    table.rows.length < table.cells ? el("small", { class: "muted" }, t("request.first", { n: table.rows.length })) : null);
}
