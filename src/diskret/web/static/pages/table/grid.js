/** The table as a grid: scrolls over any number of cells, draws those on the screen, walks with the arrow keys. */
import { el } from "../../js/dom.js";
import { number, t } from "../../js/i18n.js";
import { Tiles } from "./tiles.js";

const ROW = 28;
const HEAD = 44;
const NARROWEST = 84;
const WIDEST = 160;
const SIDE = 210;
/** A grid narrower than this has slimmer heads of rows. */
const NARROW = 620;
const SLIM = 150;
const MARGIN = 3;
/** Browsers cannot scroll further than some 16 million pixels: beyond, a pixel of the bar stands for more than one. */
const TALLEST = 8_000_000;
export const SIGNS = { 1: "■ P", 2: "□ S" };
export const STATUS = ["open", "primary", "secondary", "never", "published", "structural zero", "zero"];

export class Grid {
  constructor({ choose, hover, leave }) {
    Object.assign(this, { choose, hover, leave, active: [0, 0], chosen: null, lit: new Map(), lines: new Map(), tiles: null, wide: NARROWEST, side: SIDE, drawn: 0 });
    this.sizer = el("div", { class: "sizer" });
    this.head = el("div", { class: "head", role: "row", "aria-rowindex": "1" });
    this.body = el("div", { class: "body", role: "rowgroup" });
    this.root = el("div", {
      class: "grid", role: "grid", tabindex: "0", "aria-label": t("grid.label"), "aria-readonly": "true",
      onscroll: () => this.draw(), onkeydown: (event) => this.key(event), onclick: (event) => this.click(event),
      onmousemove: (event) => this.point(event), onmouseleave: () => this.hover?.(null),
    }, this.sizer, el("div", { class: "through", role: "rowgroup" }, this.head), this.body);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.root);
  }

  end() {
    this.watch.disconnect();
    this.tiles?.end();
  }

  /** Show a table: two axes, where its cells come from, how numbers are written. */
  show({ rows, columns, address, decimals, largest, label }) {
    Object.assign(this, { rows, columns, address, decimals });
    let longest = 0;
    columns.codes.forEach((_, code) => { for (const word of columns.text(code).split(/[\s-]/)) longest = Math.max(longest, word.length); });
    this.wide = Math.max(NARROWEST, 34 + 8 * (largest === null ? 0 : number(largest, decimals).length), Math.min(WIDEST, 38 + 8 * longest));
    this.root.setAttribute("aria-label", label);
    this.refresh();
  }

  /** The axes or the view have changed: old cells stand in other places now. */
  refresh() {
    this.tiles?.end();
    this.tiles = new Tiles(this.address, () => this.draw());
    const [r, c] = this.active;
    this.active = [Math.min(r, this.rows.shown.length - 1), Math.min(c, this.columns.shown.length - 1)];
    this.draw(true);
  }

  get height() { return this.rows.shown.length * ROW; }
  get tall() { return Math.min(this.height, TALLEST); }

  /** The first pixel of the table that is shown, if all of it stood below each other. */
  get top() {
    const view = this.root.clientHeight - HEAD;
    const most = Math.max(this.tall - view, 1);
    return (Math.min(this.root.scrollTop, most) / most) * Math.max(this.height - view, 0);
  }

  /** Draw in the next frame: what has come into view, and everything again if it was `changed`. */
  draw(changed = false) {
    if (changed) this.stale = true;
    if (!this.rows || this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.paint(); });
  }

  paint() {
    const { root, rows, columns } = this;
    if (!root.isConnected) return;
    const side = root.clientWidth < NARROW ? SLIM : SIDE;
    if (side !== this.side) this.stale = true;
    this.side = side;
    const width = this.side + columns.shown.length * this.wide;
    this.sizer.style.width = `${width}px`;
    this.sizer.style.height = `${HEAD + this.tall}px`;
    root.setAttribute("aria-rowcount", rows.shown.length + 1);
    root.setAttribute("aria-colcount", columns.shown.length + 1);
    const top = this.top;
    const view = root.clientHeight - HEAD;
    const first = Math.max(0, Math.floor(top / ROW) - MARGIN);
    const last = Math.min(rows.shown.length - 1, Math.ceil((top + view) / ROW) + MARGIN);
    const left = Math.max(0, Math.floor(root.scrollLeft / this.wide) - MARGIN);
    const right = Math.min(columns.shown.length - 1, Math.ceil((root.scrollLeft + root.clientWidth - this.side) / this.wide) + MARGIN);
    this.tiles.want(first, last, left, right, rows.shown, columns.shown);
    if (this.stale) this.forget();
    if (this.headed !== `${left} ${right}`) this.paintHead(left, right, width);
    this.headed = `${left} ${right}`;
    for (const [r, line] of this.lines) if (r < first || r > last) { line.made.remove(); this.lines.delete(r); }
    // rows stand where the scroll bar is, shifted by what one pixel of it stands for
    const shift = root.scrollTop - top;
    for (let r = first; r <= last; r++) this.paintRow(r, left, right, width, r * ROW + shift);
    const active = this.root.querySelector(".active");
    if (active) root.setAttribute("aria-activedescendant", active.id);
    else root.removeAttribute("aria-activedescendant");
    this.drawn++;
  }

  forget() {
    this.stale = false;
    this.headed = "";
    this.lines.clear();
    this.body.replaceChildren();
  }

  paintHead(left, right, width) {
    const { head, columns, rows } = this;
    head.style.width = `${width}px`;
    const parts = [el("div", { class: "corner", role: "columnheader", "aria-colindex": "1", title: rows.name }, `${rows.name}${columns.name ? ` \\ ${columns.name}` : ""}`)];
    parts[0].style.width = `${this.side}px`;
    for (let c = left; c <= right; c++) {
      const code = columns.shown[c];
      const each = el("div", {
        class: `colhead${columns.children[code].length ? " sums" : ""}`, role: "columnheader", "aria-colindex": String(c + 2), id: `head-${c}`,
        title: `${columns.code(code)} ${columns.text(code)}`.trim(),
      }, this.fold(columns, code, c, "column"), el("span", {}, columns.text(code)));
      each.style.left = `${this.side + c * this.wide}px`;
      each.style.width = `${this.wide}px`;
      if (this.active[0] === -1 && this.active[1] === c) each.classList.add("active");
      parts.push(each);
    }
    head.replaceChildren(...parts);
  }

  fold(axis, code, place, kind) {
    const sums = axis.children[code].length > 0;
    const open = axis.open.has(code);
    return el("button", {
      class: `fold${sums ? "" : " none"}`, tabindex: "-1", "data-kind": kind, "data-place": String(place),
      "aria-expanded": sums ? String(open) : undefined, "aria-label": t(open ? "grid.close" : "grid.open", { code: axis.text(code) }),
    }, open ? "▾" : "▸");
  }

  /** A row that stays in view keeps its elements; only cells that come or have come from the server are made. */
  paintRow(r, left, right, width, y) {
    const line = this.lines.get(r) ?? this.newRow(r);
    const { made, cells } = line;
    if (line.y !== y) made.style.transform = `translateY(${y}px)`;
    line.y = y;
    made.style.width = `${width}px`;
    for (const [c, cell] of cells) if (c < left || c > right) { cell.remove(); cells.delete(c); }
    const code = this.rows.shown[r];
    const sum = this.rows.children[code].length > 0;
    const fresh = [];
    for (let c = left; c <= right; c++) {
      const before = cells.get(c);
      if (before && !(before.dataset.status === "wait" && this.tiles.cell(r, c))) continue;
      const column = this.columns.shown[c];
      const cell = this.paintCell(r, c, sum || this.columns.children[column].length > 0, code === this.rows.total && column === this.columns.total);
      if (before) before.replaceWith(cell);
      else fresh.push(cell);
      cells.set(c, cell);
    }
    if (fresh.length) made.append(...fresh);
  }

  newRow(r) {
    const { rows } = this;
    const code = rows.shown[r];
    const depth = rows.levels[code];
    const text = rows.text(code);
    const side = el("div", { class: `rowhead${rows.children[code].length ? " sums" : ""}`, role: "rowheader", "aria-colindex": "1", id: `row-${r}`, title: `${rows.code(code)} ${text}`.trim() },
      this.fold(rows, code, r, "row"), text, rows.code(code) ? el("span", { class: "code" }, rows.code(code)) : null);
    side.style.width = `${this.side}px`;
    side.style.paddingLeft = `${6 + depth * 14}px`;
    if (this.active[0] === r && this.active[1] === -1) side.classList.add("active");
    const made = el("div", { class: "line", role: "row", "aria-rowindex": String(r + 2) }, side);
    const line = { made, cells: new Map(), y: null };
    this.lines.set(r, line);
    this.body.append(made);
    return line;
  }

  paintCell(r, c, sums, top) {
    const found = this.tiles.cell(r, c);
    const [value, status] = found ?? [null, 0];
    const name = STATUS[status];
    const hidden = status === 1 || status === 2;
    const key = `${this.rows.shown[r]},${this.columns.shown[c]}`;
    const coefficient = this.lit.get(key);
    const classes = ["cell", sums && "sum", top && "top", hidden && name, !found && "wait", coefficient !== undefined && "lit",
      this.active[0] === r && this.active[1] === c && "active", this.chosen === key && "chosen"].filter(Boolean);
    const made = document.createElement("div");
    made.className = classes.join(" ");
    made.setAttribute("role", "gridcell");
    made.setAttribute("aria-colindex", c + 2);
    made.id = `cell-${r}-${c}`;
    made.dataset.status = found ? name : "wait";
    made.style.left = `${this.side + c * this.wide}px`;
    made.style.width = `${this.wide}px`;
    const shown = value === null ? "" : number(value, this.decimals);
    const sign = hidden ? SIGNS[status] : status === 3 ? "!" : "";
    const moving = coefficient === undefined ? "" : coefficient > 0 ? "+" : "−";
    if (moving || (sign && shown)) {
      const mark = document.createElement("span");
      mark.className = "sign";
      mark.textContent = moving + (shown ? sign.slice(0, 1) : "");
      made.append(mark, shown || sign);
    } else made.textContent = found ? shown || sign || "○" : "·";
    if (found && value === null && !hidden) {
      made.classList.add("unknown");
      made.setAttribute("aria-label", t("status.open"));
    }
    if (status > 2) made.title = t(`status.${name}`);
    if (hidden) made.setAttribute("aria-label", [t(`status.${name}`), shown, moving && t(`move.${moving}`)].filter(Boolean).join(", "));
    if (this.chosen === key) made.setAttribute("aria-selected", "true");
    return made;
  }

  // --- walking and choosing -------------------------------------------------------------------------------------

  at(target) {
    const found = /^(cell|row|head)-(\d+)(?:-(\d+))?$/.exec(target.closest?.("[id]")?.id ?? "");
    if (!found) return null;
    if (found[1] === "cell") return [Number(found[2]), Number(found[3])];
    return found[1] === "row" ? [Number(found[2]), -1] : [-1, Number(found[2])];
  }

  click(event) {
    const fold = event.target.closest(".fold");
    const at = this.at(event.target);
    if (at) this.active = at;
    if (fold) this.toggle(fold.dataset.kind, Number(fold.dataset.place));
    else if (at && at[0] >= 0 && at[1] >= 0) this.enter();
    else this.draw(true);
  }

  toggle(kind, place) {
    const axis = kind === "row" ? this.rows : this.columns;
    if (axis.toggle(axis.shown[place])) this.refresh();
  }

  point(event) {
    const cell = event.target.closest(".cell.primary, .cell.secondary");
    const at = cell && this.at(cell);
    this.hover?.(at && { row: this.rows.shown[at[0]], column: this.columns.shown[at[1]], cell });
  }

  enter() {
    const [r, c] = this.active;
    if (c < 0) return this.toggle("row", r);
    if (r < 0) return this.toggle("column", c);
    this.chosen = `${this.rows.shown[r]},${this.columns.shown[c]}`;
    this.draw(true);
    return this.choose(this.rows.shown[r], this.columns.shown[c]);
  }

  key(event) {
    const page = Math.max(1, Math.floor((this.root.clientHeight - HEAD) / ROW) - 1);
    const [r, c] = this.active;
    const all = event.ctrlKey || event.metaKey;
    const end = [this.rows.shown.length - 1, this.columns.shown.length - 1];
    const ways = {
      ArrowDown: [r + 1, c], ArrowUp: [r - 1, c], ArrowRight: [r, c + 1], ArrowLeft: [r, c - 1],
      PageDown: [r + page, c], PageUp: [Math.max(0, r - page), c], Home: [all ? 0 : r, 0], End: [all ? end[0] : r, end[1]],
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.enter();
    } else if (event.key === "Escape") {
      this.leave?.();
    } else if (ways[event.key] && !event.altKey) {
      event.preventDefault();
      const [row, column] = ways[event.key];
      this.walk(Math.min(Math.max(row, column < 0 ? 0 : -1), end[0]), Math.min(Math.max(column, row < 0 ? 0 : -1), end[1]));
    }
  }

  walk(r, c) {
    this.active = [r, c];
    this.uncover(r, c);
    this.draw(true);
  }

  /** Scroll until a cell can be seen. */
  uncover(r, c) {
    const { root } = this;
    const view = root.clientHeight - HEAD;
    const top = this.top;
    const to = r * ROW < top ? r * ROW : (r + 1) * ROW > top + view ? (r + 1) * ROW - view : top;
    if (r >= 0 && to !== top) root.scrollTop = (to / Math.max(this.height - view, 1)) * Math.max(this.tall - view, 1);
    const wide = root.clientWidth - this.side;
    if (c >= 0 && c * this.wide < root.scrollLeft) root.scrollLeft = c * this.wide;
    else if (c >= 0 && (c + 1) * this.wide > root.scrollLeft + wide) root.scrollLeft = (c + 1) * this.wide - wide;
  }

  /** Light up cells: from "row code,column code" to a coefficient. */
  light(cells) {
    this.lit = cells;
    this.draw(true);
  }

  /** Open what hides a cell and go there. */
  goTo(row, column) {
    const place = [this.rows.reveal(row), this.columns.reveal(column)];
    this.refresh();
    this.walk(...place);
  }
}
