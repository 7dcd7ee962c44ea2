/** One classification as it is shown: sums before or after their parts, parts folded away or open. */
import { t } from "../../js/i18n.js";

export class Axis {
  constructor({ name, codes, labels, parents, depth, unnamed }) {
    Object.assign(this, { name, codes, labels, parents, depth, unnamed });
    this.children = codes.map(() => []);
    this.total = codes.length - 1;
    parents.forEach((parent, i) => { if (parent >= 0) this.children[parent].push(i); });
    this.levels = new Array(codes.length).fill(0);
    for (let i = codes.length - 2; i >= 0; i--) this.levels[i] = this.levels[parents[i]] + 1;
    this.open = new Set();
    this.after = false;
    this.openTo(codes.length <= 80 ? depth - 1 : 1);
  }

  /** Open every sum above a level; 0 leaves only the total. */
  openTo(level) {
    this.level = level;
    this.open = new Set();
    this.children.forEach((parts, i) => { if (parts.length && this.levels[i] < level) this.open.add(i); });
    this.list();
  }

  /** Sums after their parts, or before them. */
  order(sums) {
    if (this.after === (sums === "after")) return;
    this.after = sums === "after";
    this.list();
  }

  toggle(code) {
    if (!this.children[code].length) return false;
    if (!this.open.delete(code)) this.open.add(code);
    this.level = null;
    this.list();
    return true;
  }

  /** Open everything above a code, so that it is shown. */
  reveal(code) {
    for (let at = this.parents[code]; at >= 0; at = this.parents[at]) this.open.add(at);
    this.list();
    return this.place.get(code);
  }

  /** Positions of the codes that are shown, in their order, and where each stands. */
  list() {
    const shown = [];
    const stack = [this.total];
    while (stack.length) {
      const code = stack.pop();
      shown.push(code);
      const parts = this.open.has(code) ? this.children[code] : [];
      // turned round as a whole, sums that come before their parts, last part first, come after them, first part first
      stack.push(...(this.after ? parts : parts.toReversed()));
    }
    this.shown = this.after ? shown.reverse() : shown;
    this.place = new Map(shown.map((code, at) => [code, at]));
  }

  text(code) {
    // a total that nobody named is called as the page calls it
    return this.unnamed && code === this.codes.length - 1 ? t("grid.total") : this.labels[code] || this.codes[code];
  }

  /** The code where it says more than the text. */
  code(code) {
    return this.text(code) === this.codes[code] || (this.unnamed && code === this.codes.length - 1) ? "" : this.codes[code];
  }
}

/** A classification that is not there, for tables with only one: a single column. */
export const single = (text) => new Axis({ name: "", codes: [text], labels: [text], parents: [-1], depth: 1 });
