/** The last step: make the file, take it with you, save the job. */
import { download, post, query } from "../../js/api.js";
import { el, field, replace } from "../../js/dom.js";
import { current, t } from "../../js/i18n.js";
import { attempt, notice } from "../../js/notices.js";
import { runs, startRun } from "../../js/store.js";
import { settled } from "../../js/tab.js";

export function runStep(inside, tell, context) {
  const { chosen, figures } = context;
  const kind = chosen.content.anonymise ? "anonymise" : chosen.content.microdata ? "microdata" : null;
  const run = runs.all.find((each) => each.id === figures.key);
  if (!kind && !run) return false;
  tell(run?.state === "finished" ? run.name : "");
  const usual = `${(chosen.content.data?.microdata ?? "").replace(/.*\/|\.[^.]*$/g, "")} ${kind ? t(`what.${kind}.short`) : ""}`.trim();
  // a name belongs to the file it was given to
  const subject = JSON.stringify([chosen.content.data, kind]);
  if (context.subject !== subject) context.name = "";
  context.subject = subject;
  const name = el("input", { id: "records-name", placeholder: usual, value: context.name ?? "", oninput: () => { context.name = name.value; } });
  const busy = runs.all.some((each) => each.kind === "records" && each.state === "running");
  const make = async () => {
    if (!(await settled())) return;
    const made = await startRun("/api/records/runs", { name: context.name || usual });
    if (made) { figures.follow(made.id); }
  };
  replace(inside,
    kind ? [field(t("protect.name"), name), el("button", { class: "main", id: "make", disabled: busy, onclick: make }, t(`make.${kind}`))] : null,
    run?.state === "finished" ? taken(run) : el("small", {}, t("make.first")),
    run?.error ? el("div", { class: "marked" }, el("strong", {}, run.error.what), el("small", {}, run.error.hint)) : null);
  return true;
}

function taken(run) {
  const report = (ending, more = {}) => download(`/api/runs/${run.id}/report.${ending}?${query({ language: current(), ...more })}`);
  return [
    el("div", {}, el("h3", {}, t("make.file")), el("p", {}, el("small", {}, t("make.fileHint"))),
      el("div", { class: "exports" }, ["csv", "parquet"].map((each) => el("button", { id: `file-${each}`, onclick: () => download(`/api/runs/${run.id}/records.${each}`) }, each.toUpperCase())))),
    el("div", {}, el("h3", {}, t("make.report")), el("div", { class: "exports" }, ["html", "pdf"].map((each) => el("button", { id: `report-${each}`, onclick: () => report(each) }, each.toUpperCase()))),
      el("p", {}, el("small", {}, t("result.internalHint"))),
      el("div", { class: "exports" }, ["html", "pdf"].map((each) => el("button", { class: "quiet", id: `internal-report-${each}`, onclick: () => report(each, { for: "internal" }) }, `${each.toUpperCase()} (${t("result.internal")})`)))),
    el("div", {}, el("h3", {}, t("result.job")), el("p", {}, el("small", {}, t("result.jobHint"))),
      el("div", { class: "row" }, el("button", { id: "records-save-job", onclick: () => save(run) }, t("result.saveJob")),
        el("button", { class: "quiet", id: "records-download-job", onclick: () => download(`/api/runs/${run.id}/job.toml`) }, t("result.downloadJob")))),
  ];
}

async function save(run) {
  const saved = await attempt(async () => {
    try {
      return await post("/api/savejob", { run: run.id });
    } catch (error) {
      if (error.code !== "O1" || !confirm(`${error.what}. ${t("result.replace")}`)) throw error;
      return post("/api/savejob", { run: run.id, replace: true });
    }
  });
  if (saved) notice(t("result.saved", { name: saved.name }));
}
