/** A run at work: what it does, how far it is, and a way to end it. */
import { post } from "../../js/api.js";
import { el } from "../../js/dom.js";
import { said, t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";
import { watchRuns } from "../../js/store.js";

export const cancel = (run) => attempt(() => post(`/api/runs/${run.id}/cancel`)).then(watchRuns);

export function progress(run) {
  const { what, done, of } = run.progress;
  const share = of ? Math.min(100, (100 * done) / of) : null;
  const bar = el("i");
  if (share !== null) bar.style.width = `${share}%`;
  return el("div", { class: "running", "data-run": run.id },
    el("div", { class: "row apart" },
      el("span", { class: "what", title: `${run.name}: ${said("progress", what)}` }, `${run.name}: `, el("span", { class: "muted" }, said("progress", what))),
      el("button", { class: "small cancel", "aria-label": `${t("run.cancel")}: ${run.name}`, onclick: () => cancel(run) }, t("run.cancel"))),
    el("div", {
      class: `progress${share === null ? " unknown" : ""}`, role: "progressbar", "aria-label": run.name,
      "aria-valuenow": share === null ? undefined : String(Math.round(share)), "aria-valuemin": "0", "aria-valuemax": "100",
    }, bar));
}
