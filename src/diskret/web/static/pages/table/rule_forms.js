/** Primary rules as forms: the numbers a rule shows, and what it becomes in a job when one of them changes. */

const several = (given) => (Array.isArray(given) ? given : [given]);
/** The first of several rules changed; the others stay as they are. */
const first = (changed, before) => (Array.isArray(before) && before.length > 1 ? [changed, ...before.slice(1)] : changed);
const plain = (before, own) => Object.fromEntries(Object.entries({ ...(typeof before === "object" ? before : {}), ...own }).filter(([, value]) => value !== null));
/** A pair of numbers is one rule, a list of tables is several. */
const pairs = (given) => (Array.isArray(given) && typeof given[0] === "number" ? [given] : several(given));

/** Every rule: its key in a job, the name it has in a table, its numbers with their defaults (null: may be left out).
 * A quiet one is shown where a job asks for it. */
export const RULES = [
  { key: "min_count", name: "minimum count", values: [3, null], units: ["", "%"], get: (r) => [r.n ?? (typeof r === "object" ? 3 : r), r.margin ?? null],
    set: ([n, margin], before) => (margin === null && typeof before !== "object" ? n : plain(before, { n, margin })) },
  { key: "p_percent", name: "p%", values: [10, null], units: ["%", ""], get: (r) => { const one = several(r)[0]; return [one.p ?? one, one.n ?? null]; },
    set: ([p, n], before) => first(n === null || n === 1 ? p : { p, n }, before) },
  { key: "dominance", name: "dominance", values: [1, 85], units: ["", "%"], get: (r) => r[0], set: (pair, before) => [pair, ...(before ?? []).slice(1)] },
  { key: "pq", name: "(p,q)", values: [10, 50, null], units: ["%", "%", ""], get: (r) => { const one = pairs(r)[0]; return Array.isArray(one) ? [...one, null] : [one.p, one.q, one.n ?? null]; },
    set: ([p, q, n], before) => {
      const others = before === undefined ? [] : pairs(before).slice(1);
      if (others.length) return [plain({ p, q }, { n }), ...others];
      return n === null || n === 1 ? [p, q] : { p, q, n };
    } },
  { key: "zeros", name: "zero cells", values: [0], quiet: true, get: (r) => [r], set: ([range]) => range },
  { key: "given", name: "given", values: [20], quiet: true, units: ["%"], get: (r) => [r], set: ([margin]) => margin },
  { key: "small_cells", name: "small cells", values: [3], get: (r) => [r], set: ([n]) => n },
  { key: "small_margin", name: "small margin", values: [], get: () => [], set: (_, before) => before || true },
  { key: "one_category", name: "one category", values: [], get: () => [], set: (_, before) => before || true },
];

/** Whether a job asks for a rule. */
export const on = (rule, given) => given?.[rule.key] !== undefined && given[rule.key] !== null && given[rule.key] !== false && !(Array.isArray(given[rule.key]) && !given[rule.key].length);

const SHOWN = new Set([...RULES.map((rule) => rule.key), "counted_by"]);

/** Keys of rules that have no form: they stay in the job as they are. */
export const kept = (given) => Object.keys(given ?? {}).filter((key) => !SHOWN.has(key));
