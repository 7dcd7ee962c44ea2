/** A tree of codes on the screen: draws the rows in view, walks and selects by keyboard and pointer, drags. */
import { el } from "../../../js/dom.js";
import { number, t } from "../../../js/i18n.js";
import { Drag } from "./drag.js";
import { MISSING } from "./outline.js";

const ROW = 26;
const MARGIN = 6;
const TYPING = 900;

export class TreeView {
  /** `act(what, given)` does what a key or a drop asks for. */
  constructor(act) {
    Object.assign(this, { act, rows: [], open: new Set(), selected: new Set(), cut: new Set(), active: null, anchor: null, typed: "", drawn: new Map() });
    this.body = el("div", { role: "presentation", class: "leaves" });
    this.root = el("div", {
      class: "tree", role: "tree", id: "tree", tabindex: "0", "aria-multiselectable": "true",
      onscroll: () => this.draw(), onkeydown: (event) => this.key(event), ondblclick: (event) => { const code = this.codeOf(event.target); if (code && !event.target.closest(".fold")) this.act("rename", { code }); },
    }, this.body);
    this.drag = new Drag(this);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.root);
  }

  end() { this.watch.disconnect(); this.drag.end(); }

  show(outline, counts) {
    this.outline = outline;
    this.counts = counts;
    const there = (code) => outline.has(code) || outline.missing.includes(code);
    for (const set of [this.selected, this.cut]) for (const code of set) if (!there(code)) set.delete(code);
    if (this.active === null || !(there(this.active) || this.active === MISSING)) this.active = outline.codes[outline.total];
    this.refresh();
  }

  refresh() {
    this.rows = this.outline.rows(this.open);
    this.places = new Map(this.rows.map((row, i) => [row.code, i]));
    if (!this.places.has(this.active)) this.active = this.rows[0].code;
    this.body.style.height = `${this.rows.length * ROW}px`;
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.paint();
  }

  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; if (this.outline) this.paint(); });
  }

  paint() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW) - MARGIN);
    const last = Math.min(this.rows.length - 1, Math.ceil((this.root.scrollTop + this.root.clientHeight) / ROW) + MARGIN);
    for (const [i, row] of this.drawn) if (i < first || i > last) { row.remove(); this.drawn.delete(i); }
    const fresh = [];
    for (let i = first; i <= last; i++) if (!this.drawn.has(i)) { const row = this.line(i); this.drawn.set(i, row); fresh.push([i, row]); }
    // in the order of the tree, for those who read it one item after the other
    for (const [i, row] of fresh) { let next = i + 1; while (next <= last && !this.drawn.get(next)?.isConnected) next++; this.body.insertBefore(row, this.drawn.get(next)?.isConnected ? this.drawn.get(next) : null); }
    this.mark();
  }

  line(i) {
    const { outline, rows } = this;
    const { code, level, place, of, sum, isOpen, lacking } = rows[i];
    const pile = code === MISSING;
    const label = pile || lacking ? "" : outline.label(code);
    const notes = [lacking && t("tree.lacking"), !pile && !lacking && !sum && !outline.known.has(code) && t("tree.noData"), sum && outline.sums.includes(code) && t("tree.sumInData")].filter(Boolean);
    const count = this.counts?.get(code);
    const made = el("div", {
      class: `leaf${sum ? " sum" : ""}${pile || lacking ? " lacking" : ""}`, role: "treeitem", id: `leaf-${i}`, "data-code": pile ? "" : code,
      "aria-level": String(level), "aria-setsize": String(of), "aria-posinset": String(place), "aria-expanded": sum ? String(Boolean(isOpen)) : null,
    }, el("span", { class: "fold", "aria-hidden": "true" }, sum ? (isOpen ? "▾" : "▸") : ""),
    el("span", { class: "code" }, pile ? t("tree.pile", { n: outline.missing.length }) : code), label ? el("span", { class: "label" }, label) : null,
    sum && !pile ? el("small", {}, `(${number(outline.parts(code).length)})`) : null,
    notes.map((note) => el("small", { class: "note" }, note)), count === undefined ? null : el("small", { class: "count", title: t("tree.rows") }, number(count)));
    made.style.transform = `translateY(${i * ROW}px)`;
    made.style.paddingLeft = `${6 + (level - 1) * 18}px`;
    return made;
  }

  /** Who is active, selected, cut: told by classes and attributes, without drawing anew. */
  mark() {
    for (const [i, row] of this.drawn) {
      const { code } = this.rows[i];
      row.classList.toggle("active", code === this.active);
      row.classList.toggle("cut", this.cut.has(code));
      row.setAttribute("aria-selected", String(this.selected.has(code)));
    }
    const at = this.places.get(this.active);
    if (this.drawn.has(at)) this.root.setAttribute("aria-activedescendant", `leaf-${at}`);
  }

  codeOf(target) {
    const found = /^leaf-(\d+)$/.exec(target.closest?.(".leaf")?.id ?? "");
    return found ? this.rows[Number(found[1])]?.code : undefined;
  }

  toggle(code, open = !this.open.has(code)) {
    if (open) this.open.add(code); else this.open.delete(code);
    this.refresh();
    this.act("looked");
  }

  /** Open all sums above a code, and go there. */
  reveal(code) {
    if (this.outline.missing.includes(code)) this.open.add(MISSING);
    for (let up = this.outline.up(code); up !== undefined; up = this.outline.up(up)) this.open.add(up);
    this.active = code;
    this.refresh();
    this.follow();
  }

  follow() {
    const y = this.places.get(this.active) * ROW;
    if (y < this.root.scrollTop) this.root.scrollTop = y;
    else if (y + ROW > this.root.scrollTop + this.root.clientHeight) this.root.scrollTop = y + ROW - this.root.clientHeight;
    this.paint();
  }

  /** Go to a code; `how` is only (select nothing else), more (all from the anchor) or none (keep what is selected). */
  go(code, how = "only") {
    if (code === undefined) return;
    const past = this.active;
    this.active = code;
    if (how === "only") { this.anchor = code; this.select(code === MISSING ? [] : [code]); }
    if (how === "more") {
      const [a, b] = [this.places.get(this.anchor ?? past) ?? 0, this.places.get(code)].sort((x, y) => x - y);
      this.select(this.rows.slice(a, b + 1).map((row) => row.code));
    }
    this.follow();
    this.act("looked");
  }

  select(codes) { this.selected = new Set(codes.filter((code) => code !== MISSING && code !== this.outline.codes[this.outline.total])); }
  flip(code) { const now = [...this.selected]; this.select(this.selected.has(code) ? now.filter((each) => each !== code) : [...now, code]); this.anchor = code; this.mark(); this.act("looked"); }

  // --- keys -----------------------------------------------------------------------------------------------------

  key(event) {
    const { key, shiftKey } = event;
    const control = event.ctrlKey || event.metaKey;
    const act = control ? { x: "cut", v: "paste", g: "group", ArrowRight: "indent", ArrowLeft: "outdent", ArrowUp: "up", ArrowDown: "down" }[key] : { F2: "rename", Delete: "delete" }[key];
    if (act) { event.preventDefault(); this.act(act, { code: this.active }); return; }
    if (control && key === "a") { event.preventDefault(); this.select(this.outline.siblings(this.active)); this.mark(); this.act("looked"); return; }
    if (control && key !== " " && key !== "Home" && key !== "End") return;
    if (this.walk(key, shiftKey)) event.preventDefault();
    else if (key.length === 1 && key !== " " && !event.altKey) this.type(key);
  }

  walk(key, shift) {
    const at = this.places.get(this.active);
    const row = this.rows[at];
    const page = Math.max(1, Math.floor(this.root.clientHeight / ROW) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.rows.length - 1 }[key];
    if (to !== undefined) this.go(this.rows[Math.min(Math.max(to, 0), this.rows.length - 1)].code, shift ? "more" : "only");
    else if (key === "ArrowRight") { if (row.sum && !row.isOpen) this.toggle(row.code); else if (row.sum) this.go(this.rows[at + 1]?.code); }
    else if (key === "ArrowLeft") { if (row.isOpen) this.toggle(row.code); else this.go(this.outline.up(row.code) ?? (row.lacking ? MISSING : undefined)); }
    else if (key === "Enter") { if (row.sum) this.toggle(row.code); }
    else if (key === " ") this.flip(row.code);
    else return false;
    return true;
  }

  /** Go to the next row that begins with what is typed. */
  type(key) {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => { this.typed = ""; }, TYPING);
    this.typed += key.toLowerCase();
    const at = this.places.get(this.active) + (this.typed.length === 1 ? 1 : 0);
    const order = [...this.rows.slice(at), ...this.rows.slice(0, at)];
    this.go(order.find((row) => [row.code, this.outline.label(row.code)].some((text) => text.toLowerCase().startsWith(this.typed)))?.code);
  }
}
