/** Cells from the server, in tiles that are asked for once, the ones on the screen first. */
import { get, query } from "../../js/api.js";
import { refusal } from "../../js/notices.js";

const ROWS = 48;
const COLUMNS = 24;
const MOST = 600;
const AT_ONCE = 4;

export class Tiles {
  /** `codes(r0, r1, c0, c1)` gives the codes of a range of places; `come` is called when cells have come. */
  constructor(address, come) {
    Object.assign(this, { address, come, kept: new Map(), waiting: new Map(), busy: 0, ended: new AbortController() });
  }

  end() {
    this.ended.abort();
    this.waiting.clear();
  }

  /** The cell at two places: [value, status], or null as long as it has not come. */
  cell(row, column) {
    const tile = this.kept.get(`${Math.floor(row / ROWS)}:${Math.floor(column / COLUMNS)}`);
    if (!tile) return null;
    const r = row % ROWS;
    const c = column % COLUMNS;
    return [tile.value[r]?.[c] ?? null, tile.status[r]?.[c] ?? 0];
  }

  /** Ask for what is on the screen, then for what is next to it. */
  want(top, bottom, left, right, rows, columns) {
    this.waiting.clear();
    const range = (a, b, size, most) => [Math.max(0, Math.floor(a / size)), Math.min(Math.ceil(most / size) - 1, Math.floor(b / size))];
    const [r0, r1] = range(top, bottom, ROWS, rows.length);
    const [c0, c1] = range(left, right, COLUMNS, columns.length);
    const ask = (r, c) => {
      const key = `${r}:${c}`;
      if (r < 0 || c < 0 || r * ROWS >= rows.length || c * COLUMNS >= columns.length) return;
      if (!this.kept.has(key)) this.waiting.set(key, [r, c, rows, columns]);
    };
    for (let r = r0; r <= r1; r++) for (let c = c0; c <= c1; c++) ask(r, c);
    for (let r = r0 - 1; r <= r1 + 1; r++) for (let c = c0 - 1; c <= c1 + 1; c++) ask(r, c);
    this.fetch();
  }

  fetch() {
    for (const [key, [r, c, rows, columns]] of this.waiting) {
      if (this.busy >= AT_ONCE) return;
      this.waiting.delete(key);
      this.busy++;
      this.kept.set(key, null);
      this.ask(key, rows.slice(r * ROWS, (r + 1) * ROWS), columns.slice(c * COLUMNS, (c + 1) * COLUMNS));
    }
  }

  async ask(key, rows, columns) {
    try {
      const { path, given } = this.address;
      const tile = await get(`${path}?${query({ ...given, r: rows.join(","), c: columns.join(",") })}`, this.ended.signal);
      this.kept.delete(key);
      this.kept.set(key, tile);
      if (this.kept.size > MOST) this.kept.delete(this.kept.keys().next().value);
      this.come();
    } catch (error) {
      this.kept.delete(key);
      if (error.name !== "AbortError" && !this.ended.signal.aborted) refusal(error);
    } finally {
      this.busy--;
      if (!this.ended.signal.aborted) this.fetch();
    }
  }
}
