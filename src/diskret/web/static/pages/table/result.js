/** Step 5: what came out of the run that is shown; attack it, repair it, take it with you. */
import { download, post } from "../../js/api.js";
import { el, replace } from "../../js/dom.js";
import { current, number, t } from "../../js/i18n.js";
import { attempt, notice } from "../../js/notices.js";
import { draft, runs, startRun } from "../../js/store.js";

const FORMATS = ["xlsx", "csv", "json", "px", "parquet"];
const SDMX = ["sdmx.csv", "sdmx.xml"]; // only where the job says what its tables are called in SDMX

export const badge = (run) => el("span", { class: `badge ${{ finished: run.exposed ? "bad" : "good", running: "busy", refused: "bad", failed: "bad", damaged: "bad" }[run.state] ?? ""}` }, t(run.state === "finished" && run.exposed ? "state.exposed" : `state.${run.state}`));

/** The insider of an exposure in the page's language. */
const insider = (by) => by.replace(/^who is alone in (.*)$/, (_, cell) => t("audit.alone", { cell })).replace(/^the largest contributor of (.*)$/, (_, cell) => t("audit.largest", { cell }));

export function auditWords(facts) {
  const { summary } = facts;
  return el("div", {},
    el("p", {}, el("span", { class: `badge ${facts.safe ? "good" : "bad"}` }, facts.safe ? `✓ ${t("audit.safe")}` : `✕ ${t("audit.exposed", { n: summary.exposed })}`)),
    el("small", {}, t("audit.checked", { n: summary.checked, insiders: summary.insiders })),
    facts.exposed.length ? el("ul", {}, facts.exposed.slice(0, 8).map((each) => el("li", {}, el("small", {}, each.cell, ": ", t(each.exact ? "audit.exactly" : "audit.closely"), each.by ? ` (${insider(each.by)})` : "")))) : null);
}

/** What is known of the price of a pattern: the gap to the cheapest one, and how far last period's was kept. */
const percent = (share) => number(Math.round(1000 * share) / 10);
const price = (name, { gap, consistency }) => [
  ...(gap === undefined ? [] : [gap ? t("result.gap", { name, gap: percent(gap) }) : t("result.cheapest", { name })]),
  ...(consistency ? [t("result.kept", { name, share: percent(consistency.share), without: percent(consistency["share without"]), dearer: percent(consistency.dearer ?? 0) })] : []),
];

export function resultStep(inside, tell, context) {
  context.shown.onChoose = () => draw();
  const sums = (run, sign) => context.shown.order.query(run.id, sign);

  function draw() {
    const run = runs.all.find((each) => each.id === context.shown.key && each.state === "finished");
    if (!run) { tell(""); return replace(inside, el("p", { class: "muted" }, t("result.first")), failures()); }
    const facts = run.summary.tables;
    tell(run.name);
    const audits = runs.all.filter((each) => each.kind === "audit" && each.of === run.id);
    const audit = audits.find((each) => each.state === "finished");
    const attacked = audits.some((each) => each.state === "running");
    return replace(inside,
      el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ["", "status.primary", "status.secondary"].map((key, i) => el("th", { class: i ? "number" : "" }, key && t(key))))),
        el("tbody", {}, Object.entries(facts).map(([name, each]) => el("tr", {}, el("td", {}, name), el("td", { class: "number" }, number(each.status.primary ?? 0)), el("td", { class: "number" }, number(each.status.secondary ?? 0)))))),
      ...Object.entries(facts).filter(([, each]) => each.suppression?.unprotected).map(([name, each]) => el("p", { class: "badge bad" }, t("result.unprotected", { name, n: each.suppression.unprotected }))),
      ...Object.entries(facts).flatMap(([name, each]) => price(name, each.suppression ?? {})).map((words) => el("p", { class: "price" }, el("small", {}, words))),
      run.promises?.[current()].length ? el("div", {}, el("h3", {}, t("result.promise")), run.promises[current()].map((words) => el("p", {}, el("small", {}, words)))) : null,
      el("div", {}, el("h3", {}, t("result.audit")),
        audit ? Object.entries(audit.audits).map(([name, each]) => el("div", {}, Object.keys(audit.audits).length > 1 ? el("strong", {}, name) : null, auditWords(each))) : builtIn(facts),
        el("div", { class: "row" },
          el("button", { id: "audit", disabled: attacked, onclick: () => startRun(`/api/runs/${run.id}/audit`) }, t(attacked ? "audit.running" : "audit.start")),
          audit?.exposed ? el("button", { id: "repair", class: "main", onclick: () => repair(run) }, t("audit.repair")) : null)),
      el("div", {}, el("h3", {}, t("result.export")), el("p", {}, el("small", {}, t("result.exportHint"))),
        el("div", { class: "exports" }, [...FORMATS, ...(draft.content?.output?.sdmx ? SDMX : [])].map((each) => el("button", { "data-export": each, onclick: () => download(`/api/runs/${run.id}/export.${each}${sums(run)}`) }, each.toUpperCase())))),
      el("div", {}, el("h3", {}, t("result.report")), el("p", {}, el("small", {}, t("result.reportHint"))),
        el("div", { class: "exports" }, ["html", "pdf"].map((each) => el("button", { "data-report": each, onclick: () => download(`/api/runs/${run.id}/report.${each}?language=${current()}${sums(run, "&")}`) }, each.toUpperCase()))),
        el("p", {}, el("small", {}, t("result.internalHint"))),
        el("div", { class: "exports" }, ["html", "pdf"].map((each) => el("button", { class: "quiet", "data-internal-report": each, onclick: () => download(`/api/runs/${run.id}/report.${each}?language=${current()}&for=internal${sums(run, "&")}`) }, `${each.toUpperCase()} (${t("result.internal")})`)))),
      el("div", {}, el("h3", {}, t("result.job")), el("p", {}, el("small", {}, t("result.jobHint"))),
        el("div", { class: "row" }, el("button", { id: "save-job", onclick: () => save(run) }, t("result.saveJob")),
          el("button", { id: "download-job", class: "quiet", onclick: () => download(`/api/runs/${run.id}/job.toml${sums(run)}`) }, t("result.downloadJob")))),
      failures());
  }

  const builtIn = (facts) => Object.values(facts).every((each) => each.suppression?.audit)
    ? el("p", {}, el("small", {}, Object.values(facts).every((each) => each.suppression.audit.exposed + each.suppression.audit.undecided === 0) ? `✓ ${t("audit.during")}` : t("audit.open")))
    : el("p", {}, el("small", {}, t("audit.never")));

  async function repair(run) {
    const made = await startRun(`/api/runs/${run.id}/repair`);
    if (made) context.shown.follow(made.id);
  }

  async function save(run) {
    const saved = await attempt(async () => {
      try {
        return await post("/api/savejob", { run: run.id, sums: context.shown.order.asked(run.id) });
      } catch (error) {
        if (error.code !== "O1" || !confirm(`${error.what}. ${t("result.replace")}`)) throw error;
        return post("/api/savejob", { run: run.id, sums: context.shown.order.asked(run.id), replace: true });
      }
    });
    if (saved) notice(t("result.saved", { name: saved.name }));
  }

  /** The last run, if it came to nothing. */
  function failures() {
    const last = runs.all[0];
    if (!last || !["refused", "failed", "cancelled", "interrupted", "damaged"].includes(last.state)) return null;
    return el("div", { class: "marked" }, el("div", { class: "row apart" }, el("span", {}, last.name), badge(last)),
      last.error ? [el("strong", {}, last.error.what), last.error.hint ? el("small", {}, last.error.hint) : null] : null);
  }
  return () => draw();
}
