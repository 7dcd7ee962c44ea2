/** Dragging codes to another place of the tree: before, behind or into the row under the pointer. */
import { el } from "../../../js/dom.js";
import { t } from "../../../js/i18n.js";
import { MISSING } from "./outline.js";

const NEAR = 28;

export class Drag {
  constructor(view) {
    this.view = view;
    this.ghost = el("div", { class: "ghost", hidden: true, "aria-hidden": "true" });
    const { root } = view;
    root.append(this.ghost);
    root.addEventListener("pointerdown", (event) => this.press(event));
    root.addEventListener("pointermove", (event) => this.move(event));
    root.addEventListener("pointerup", (event) => this.drop(event));
    root.addEventListener("pointercancel", () => this.end());
  }

  press(event) {
    const code = this.view.codeOf(event.target);
    if (event.button !== 0 || code === undefined) return;
    if (event.target.closest(".fold")) { this.view.toggle(code); return; }
    this.from = { code, x: event.clientX, y: event.clientY, event };
  }

  move(event) {
    if (!this.from) return;
    if (!this.at && Math.hypot(event.clientX - this.from.x, event.clientY - this.from.y) < 5) return;
    if (!this.codes) this.start(event);
    if (!this.codes) return;
    this.ghost.style.left = `${event.clientX + 12}px`;
    this.ghost.style.top = `${event.clientY + 8}px`;
    this.scroll(event.clientY);
    this.aim(event.clientX, event.clientY);
  }

  start(event) {
    const { view, from } = this;
    if (from.code === MISSING || from.code === view.outline.codes[view.outline.total]) { this.from = null; return; }
    if (!view.selected.has(from.code)) view.go(from.code);
    this.codes = [...view.selected];
    view.root.setPointerCapture(event.pointerId);
    view.root.classList.add("dragging");
    this.ghost.hidden = false;
    this.ghost.textContent = this.codes.length === 1 ? this.codes[0] : t("tree.codes", { n: this.codes.length });
  }

  /** Where a drop would put the codes: before or behind a row, or into it. */
  aim(x, y) {
    const { view } = this;
    this.unmark();
    const row = document.elementFromPoint(x, y)?.closest(".leaf");
    const code = row && view.codeOf(row);
    const { outline } = view;
    if (!row || !outline.has(code) || this.codes.some((each) => outline.isBelow(code, each))) return;
    const box = row.getBoundingClientRect();
    const part = (y - box.top) / box.height;
    const top = code === outline.codes[outline.total];
    const edge = outline.holds(code) ? 0.3 : 0.5;
    const how = top || (part >= edge && part <= 1 - edge && outline.holds(code)) ? "into" : part < 0.5 ? "before" : "behind";
    this.at = { row, how, under: how === "into" ? code : outline.up(code), before: how === "into" ? null : how === "before" ? code : outline.next(code) };
    row.classList.add(`drop-${how}`);
  }

  unmark() {
    this.at?.row.classList.remove("drop-into", "drop-before", "drop-behind");
    this.at = null;
  }

  drop(event) {
    const { view, from, codes, at } = this;
    this.end();
    if (!from) return;
    if (codes) { if (at) view.act("drop", { codes, under: at.under, before: at.before }); return; }
    if (event.ctrlKey || event.metaKey) { view.active = from.code; view.flip(from.code); }
    else view.go(from.code, event.shiftKey ? "more" : "only");
  }

  /** The tree moves on while the pointer waits at its edge. */
  scroll(y) {
    const box = this.view.root.getBoundingClientRect();
    const way = y < box.top + NEAR ? -1 : y > box.bottom - NEAR ? 1 : 0;
    clearInterval(this.timer);
    if (way) this.timer = setInterval(() => { this.view.root.scrollTop += way * 12; }, 16);
  }

  get busy() { return Boolean(this.codes); }

  end() {
    clearInterval(this.timer);
    this.unmark();
    this.from = null;
    this.codes = null;
    this.ghost.hidden = true;
    this.view.root.classList.remove("dragging");
  }
}
