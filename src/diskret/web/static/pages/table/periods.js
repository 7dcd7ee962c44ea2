/** A column of dates: by year, quarter or month; which comes first where day and month could change places. */
import { field, el, options } from "../../js/dom.js";
import { t } from "../../js/i18n.js";

const PERIODS = ["year", "quarter", "month"];

/** What a job says of a column as a classification, as it was recognised. */
export function sectionOf(column) {
  return { ...(column.period ? { period: column.period } : {}), ...(column.prefixes.length ? { prefixes: column.prefixes } : {}) };
}

/** Fields for a column of dates; none for others. `set` takes what to add to the section, undefined to take away. */
export function periodFields(column, said, set) {
  const known = PERIODS.filter((each) => column.periods?.[each]);
  if (!known.length) return [];
  const by = options(el("select", { "data-period": column.name, onchange: () => {
    const several = by.value && by.value !== "year" && column.periods.year > 1;
    set({ period: by.value || undefined, dates: by.value ? said.dates : undefined, prefixes: several ? [4] : undefined });
  } }), [["", t("period.each")], ...known.map((each) => [each, t(`period.${each}`, { n: column.periods[each] })])], said.period ?? "");
  if (!column.asks_order || !said.period) return [field(t("period.label"), by)];
  const first = options(el("select", { "data-dates": column.name, onchange: () => set({ dates: first.value || undefined }) }),
    [["", t("dates.ask")], ...["day first", "month first"].map((each) => [each, t(`dates.${each}`)])], said.dates ?? "");
  return [field(t("period.label"), by), field(t("dates.label"), first)];
}
