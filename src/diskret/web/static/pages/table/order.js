/** Whether sums stand before or after their parts: on the screen and in what is exported alike. */
import { el, options } from "../../js/dom.js";
import { t } from "../../js/i18n.js";
import { change, draft } from "../../js/store.js";

export class Order {
  constructor() { this.ofRuns = new Map(); }

  /** What the job says, if it does: a new table begins with sums before their parts, as it is unfolded; a job that says nothing puts them after. */
  said(key) { return draft.content.output?.sums ?? (key === "draft" ? "before" : "after"); }
  of(key) { return this.ofRuns.get(key) ?? this.said(key); }

  /** What an address about a run must add, where the user has turned the order round since. */
  asked(key) { return this.ofRuns.has(key) && this.ofRuns.get(key) !== this.said(key) ? this.ofRuns.get(key) : null; }
  query(key, sign = "?") { return this.asked(key) ? `${sign}sums=${this.asked(key)}` : ""; }

  /** Turn it: of a choice in the choice, of a run for what is shown and exported of it. */
  set(key, sums, then) {
    if (key !== "draft") this.ofRuns.set(key, sums);
    else change((c) => { (c.output ??= {}).sums = sums; });
    then();
  }

  select(key, then) {
    const made = options(el("select", { id: "sums", onchange: () => this.set(key, made.value, then) }), ["before", "after"].map((each) => [each, t(`sums.${each}`)]), this.of(key));
    return made;
  }
}

/** A table that is protected leaves as it was seen: the job says the order before it is run. */
export async function settleOrder() {
  if (!draft.content.output?.sums) await change((c) => { (c.output ??= {}).sums = "before"; });
}
