/** All runs of the workspace; two of them side by side. */
import { remove } from "../js/api.js";
import { el, replace } from "../js/dom.js";
import { current, number, said, t } from "../js/i18n.js";
import { attempt } from "../js/notices.js";
import { on, runs, watchRuns } from "../js/store.js";
import { cancel } from "./table/progress.js";
import { badge } from "./table/result.js";
import { Compare } from "./compare.js";

export async function show(root) {
  const list = el("section", { class: "card", "aria-label": t("runs.title") });
  const compare = new Compare();
  replace(root, el("div", { class: "sheet" }, list, compare.root));

  const when = (seconds) => new Date(seconds * 1000).toLocaleString(current() === "de" ? "de-DE" : "en-GB", { dateStyle: "medium", timeStyle: "short" });

  function draw() {
    if (!runs.all.length) return replace(list, el("h1", {}, t("runs.title")), el("p", { class: "muted" }, t("runs.none")));
    return replace(list, el("h1", {}, t("runs.title")), el("div", { class: "wide" }, el("table", { class: "plain whole" },
      el("thead", {}, el("tr", {}, ["runs.name", "runs.kind", "runs.state", "runs.hidden", "runs.started", "runs.seconds", ""].map((key, i) => el("th", { class: i === 5 ? "number" : "" }, key && t(key))))),
      el("tbody", {}, runs.all.map(line)))));
  }

  function line(run) {
    const busy = run.state === "running";
    const hidden = Object.values(run.summary?.tables ?? {}).map((each) => `${number(each.status.primary ?? 0)} ■ + ${number(each.status.secondary ?? 0)} □`).join("; ");
    return el("tr", { "data-run": run.id }, el("td", {}, run.name), el("td", {}, run.state === "damaged" ? "" : t(`kind.${run.kind}`)),
      el("td", {}, badge(run), busy ? el("small", {}, ` ${said("progress", run.progress.what)}`) : null, run.error ? el("div", {}, el("small", {}, run.error.what), run.state === "damaged" ? el("small", {}, ` (${run.error.hint})`) : null) : null),
      el("td", {}, hidden), el("td", {}, when(run.started)), el("td", { class: "number" }, run.ended ? number(Math.round((run.ended - run.started) * 10) / 10) : ""),
      el("td", {}, busy
        ? el("button", { class: "small", onclick: () => cancel(run) }, t("run.cancel"))
        : [run.state === "finished" && run.kind === "records" ? el("button", { class: "small", onclick: () => { sessionStorage.setItem("records-run", run.id); document.getElementById("tab-records").click(); } }, t("runs.show")) : null,
          run.state === "finished" && run.kind === "job" ? el("button", { class: "small", onclick: () => { sessionStorage.setItem("shown", run.id); document.getElementById("tab-table").click(); } }, t("runs.show")) : null, el("button", { class: "small quiet", onclick: () => confirm(t("runs.sure", { name: run.name })) && attempt(() => remove(`/api/runs/${run.id}`)).then(watchRuns) }, t("run.delete"))]));
  }
  let finished = "";
  const both = () => {
    draw();
    const now = runs.all.filter((run) => run.state === "finished").map((run) => run.id).join();
    if (now !== finished) compare.draw();
    finished = now;
  };
  const offs = [on("runs", both), on("view", () => compare.draw())];
  both();
  await watchRuns();
  return () => offs.forEach((off) => off());
}
