/** The first rows of a file; a row's number is a button that makes it the row of names, two cells enclose what belongs to the table. */
import { el } from "../../js/dom.js";
import { t } from "../../js/i18n.js";

const MOST_COLUMNS = 60;

/** A, B, ... Z, AA, ... as spreadsheets count. */
export function letters(at) {
  let text = "";
  for (let left = at + 1; left > 0; left = Math.floor((left - 1) / 26)) text = String.fromCharCode(65 + ((left - 1) % 26)) + text;
  return text;
}

/** Where a range begins and ends, as [row, column] from 0; null where it says none. */
export function corners(range) {
  const found = /^([A-Z]{1,3})([0-9]+):([A-Z]{1,3})([0-9]+)$/.exec(range ?? "");
  if (!found) return null;
  const column = (text) => [...text].reduce((sum, each) => sum * 26 + each.charCodeAt(0) - 64, 0) - 1;
  return [[Number(found[2]) - 1, column(found[1])], [Number(found[4]) - 1, column(found[3])]];
}

/** The rows of names after one is pressed: it alone, with its neighbour if that is pressed already, or none. */
export function pressed(header, row) {
  if (header.includes(row)) return header.filter((each) => each !== row);
  return header.length === 1 && Math.abs(header[0] - row) === 1 ? [...header, row].sort((a, b) => a - b) : [row];
}

/** `header`: the rows of names that were chosen, `proposed`: those that seem to be. */
export function rowsTable({ rows, header, proposed, range, lettered, pick, enclose }) {
  const wide = Math.min(MOST_COLUMNS, Math.max(0, ...rows.map((row) => row.length)));
  const within = corners(range);
  const inside = (r, c) => !within || (r >= within[0][0] && r <= within[1][0] && c >= within[0][1] && c <= within[1][1]);
  const name = (r) => String(r + 1);
  let first = within?.[0] ?? null;

  /** One press is one corner; with the Shift key, or where a first corner stands alone, it is the other. */
  const corner = (r, c, other) => {
    if (!other || !first) { first = [r, c]; mark(r, c); return; }
    const [top, bottom] = [Math.min(first[0], r), Math.max(first[0], r)];
    const [left, right] = [Math.min(first[1], c), Math.max(first[1], c)];
    enclose(`${letters(left)}${top + 1}:${letters(right)}${bottom + 1}`);
  };
  const mark = (r, c) => {
    for (const each of table.querySelectorAll(".corner")) each.classList.remove("corner");
    table.querySelector(`[data-place="${r},${c}"]`)?.classList.add("corner");
  };

  /** Arrow keys walk along the numbers, so that Tab does not stop at each of fifty. */
  const walk = (event) => {
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const all = [...table.querySelectorAll("[data-row]")];
    const next = all[Math.min(Math.max(all.indexOf(event.target) + way, 0), all.length - 1)];
    for (const each of all) each.tabIndex = each === next ? 0 : -1;
    next.focus();
  };
  const names = header.length ? header : proposed;
  const reached = Math.max(0, (names[0] ?? 1) - 1);
  const table = el("table", { class: "rows", id: "preview-rows", "aria-label": t("preview.rows") },
    lettered ? el("thead", {}, el("tr", {}, el("th"), [...Array(wide).keys()].map((c) => el("th", { scope: "col" }, letters(c))))) : null,
    el("tbody", {}, rows.map((row, r) => el("tr", { class: names.includes(r + 1) ? "names" : "" },
      el("th", { scope: "row" }, pick ? el("button", {
        class: "small", id: `row-of-names-${r + 1}`, "data-row": name(r), tabindex: r === reached ? "0" : "-1", "aria-pressed": String(header.includes(r + 1)), "aria-label": t("preview.header", { i: name(r) }), onkeydown: walk,
        onclick: () => pick(pressed(header, r + 1)),
      }, name(r)) : name(r)),
      [...Array(wide).keys()].map((c) => el("td", {
        class: inside(r, c) ? "" : "outside", "data-place": `${r},${c}`, title: (row[c] ?? "").length > 30 ? row[c] : null,
        onclick: enclose ? (event) => corner(r, c, event.shiftKey) : null,
      }, row[c] ?? ""))))));
  return el("div", { class: "wide rows-place", tabindex: "0", role: "region", "aria-label": t("preview.rows") }, table);
}
