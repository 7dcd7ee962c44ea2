/** A tree of codes as the page holds it, and the rows of it that are open. Edits are the server's. */

export const MISSING = "\u0000missing";

export class Outline {
  /** `plain` as the server sends it: a sum follows its parts, the total is last. */
  constructor(plain, { data, cells, totals }) {
    Object.assign(this, plain, { plain, data, cells });
    this.at = new Map(this.codes.map((code, i) => [code, i]));
    this.children = this.codes.map(() => []);
    this.parents.forEach((parent, i) => { if (parent >= 0) this.children[parent].push(i); });
    this.total = this.codes.length - 1;
    const known = new Set(data);
    this.missing = data.filter((code) => !this.at.has(code));
    this.empty = this.codes.filter((code, i) => !this.children[i].length && !known.has(code));
    this.sums = cells ? [] : data.filter((code) => this.children[this.at.get(code)]?.length && !totals.includes(code));
    this.known = known;
  }

  has(code) { return this.at.has(code); }
  parts(code) { return this.children[this.at.get(code)] ?? []; }
  isSum(code) { return this.parts(code).length > 0; }
  up(code) { return this.has(code) ? this.codes[this.parents[this.at.get(code)]] : undefined; }
  label(code) { const label = this.labels[this.at.get(code)]; return label === code ? "" : label ?? ""; }
  /** Whether codes may be put below this one: records carry finest codes only. */
  holds(code) { return this.has(code) && (this.isSum(code) || this.cells || !this.known.has(code)); }
  siblings(code) { return this.has(this.up(code)) ? this.parts(this.up(code)).map((i) => this.codes[i]) : this.missing; }
  next(code) { const all = this.siblings(code); return all[all.indexOf(code) + 1] ?? null; }
  isBelow(code, top) { for (let at = code; at !== undefined; at = this.up(at)) if (at === top) return true; return false; }
  get single() { return this.children.filter((parts) => parts.length === 1).length; }

  /** How many sums stand on each level below the total. */
  levels() {
    const depth = new Array(this.codes.length).fill(0);
    const found = [];
    for (let i = this.total - 1; i >= 0; i--) {
      depth[i] = depth[this.parents[i]] + 1;
      if (this.children[i].length) found[depth[i] - 1] = (found[depth[i] - 1] ?? 0) + 1;
    }
    return Array.from(found, (n) => n ?? 0);
  }

  /** The rows to be drawn: the tree as far as it is open, and what the tree lacks. */
  rows(open) {
    const found = [];
    const stack = [[this.total, 1, 1, this.missing.length ? 2 : 1]];
    while (stack.length) {
      const [i, level, place, of] = stack.pop();
      const code = this.codes[i];
      const parts = this.children[i];
      const isOpen = parts.length > 0 && open.has(code);
      found.push({ code, level, place, of, sum: parts.length > 0, isOpen });
      if (isOpen) for (let k = parts.length - 1; k >= 0; k--) stack.push([parts[k], level + 1, k + 1, parts.length]);
    }
    if (this.missing.length) {
      found.push({ code: MISSING, level: 1, place: 2, of: 2, sum: true, isOpen: open.has(MISSING) });
      if (open.has(MISSING)) this.missing.forEach((code, k) => found.push({ code, level: 2, place: k + 1, of: this.missing.length, sum: false, lacking: true }));
    }
    return found;
  }
}
