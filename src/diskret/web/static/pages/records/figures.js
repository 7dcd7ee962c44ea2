/** The right side: a run while it searches, and what came out of it. */
import { get, post } from "../../js/api.js";
import { el, field, options, replace } from "../../js/dom.js";
import { current, number, said, t } from "../../js/i18n.js";
import { attempt } from "../../js/notices.js";
import { plot } from "../../js/plot.js";
import { sameSettings } from "../../js/settings.js";
import { runs, runTitle, watchRuns } from "../../js/store.js";
import { cancel } from "../table/progress.js";

const short = (value) => number(Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
const percent = (share) => `${number(Math.round(share * 1000) / 10)} %`;

export class Figures {
  constructor(chosen) {
    this.chosen = chosen;
    this.turn = 0;
    this.note = el("div");
    this.root = el("section", { class: "figures", "aria-label": t("figures.title"), tabindex: "-1" });
    this.key = sessionStorage.getItem("records-run");
    this.found = null;
  }

  end() { this.over = true; }

  follow(id) { this.key = id; sessionStorage.setItem("records-run", id); this.found = null; this.runs(); }

  /** The runs have changed: show the one that is chosen, or the newest. */
  async runs() {
    const turn = ++this.turn;
    const mine = runs.all.filter((run) => run.kind === "records");
    if (!mine.some((run) => run.id === this.key)) { this.key = mine[0]?.id ?? null; this.found = null; }
    const run = mine.find((each) => each.id === this.key);
    if (!run) return this.empty();
    if (run.state === "running") return this.live(run);
    if (run.state !== "finished") return replace(this.root, this.head(run, mine), el("div", { class: "card" }, el("p", {}, el("span", { class: "badge bad" }, t(`state.${run.state}`))), run.error ? [el("strong", {}, run.error.what), el("p", { class: "muted" }, run.error.hint)] : null));
    if (this.found?.id !== run.id) {
      // figures of another run must not stand below this name
      replace(this.root, this.head(run, mine), el("p", { class: "muted", role: "status" }, t("figures.waiting")));
      const found = await attempt(() => Promise.all(["figures", "settings"].map((each) => get(`/api/runs/${run.id}/${each}`))));
      if (!found || this.over || turn !== this.turn) return null;
      this.found = { id: run.id, content: found[0], settings: found[1] };
    }
    const shown = this.found.content.kind === "anonymise" ? anonymous : scientific;
    replace(this.root, this.head(run, mine), this.note, shown(this.found.content));
    return this.compare();
  }

  /** Say whether the file on the right was made with what is chosen on the left. */
  compare() {
    const { settings } = this.found ?? {};
    const other = settings && !sameSettings(settings.content, this.chosen.content);
    const use = () => this.chosen.change(() => structuredClone(settings.content));
    return replace(this.note, other || settings?.changed ? el("div", { class: "settings-of", role: "status" },
      other ? el("p", {}, t("figures.other")) : null, settings.changed ? el("p", {}, el("span", { class: "badge bad" }, t("settings.changed"))) : null,
      other ? el("button", { class: "small", id: "use-settings", onclick: use }, t("settings.use")) : null) : null);
  }

  empty() {
    replace(this.root, el("div", { class: "empty" }, el("h1", {}, t("records.empty")), el("p", {}, t("records.emptyHint"))));
  }

  head(run, mine) {
    const select = options(el("select", { id: "shown-run", onchange: () => this.follow(select.value) }), mine.map((each) => [each.id, runTitle(each)]), run.id);
    return el("div", { class: "head" }, el("h1", {}, t(run.summary?.anonymisation ? "what.anonymise" : run.summary?.microdata ? "what.microdata" : "figures.title")), el("span", { class: "spring" }), field(t("figures.run"), select));
  }

  /** While a search runs: its course, and two ways to end it. Buttons stay where they are: a click must not miss them. */
  live(run) {
    if (this.alive?.id !== run.id || !this.root.contains(this.alive.frame)) {
      const stop = el("button", { id: "stop", onclick: () => attempt(() => post(`/api/runs/${run.id}/stop`)).then(watchRuns) }, t("live.best"));
      const words = el("p", { class: "muted" });
      const bar = el("i");
      const track = el("div", { class: "progress", role: "progressbar", "aria-label": run.name, "aria-valuemin": "0", "aria-valuemax": "100" }, bar);
      const stopping = el("div", { class: "row", hidden: true }, stop, el("small", {}, t("live.bestHint")));
      const frame = el("div", { class: "card live" }, el("div", { class: "row apart" }, words, el("button", { class: "small", id: "cancel", onclick: () => cancel(run) }, t("run.cancel"))), track, stopping);
      this.alive = { id: run.id, frame, words, bar, track, stopping, plots: el("div") };
      replace(this.root, el("div", { class: "head" }, el("h1", {}, run.name), el("span", { class: "badge" }, t("state.running"))), frame, this.alive.plots);
    }
    const { words, bar, track, stopping, plots } = this.alive;
    const { what, done, of, course } = run.progress;
    const share = of ? Math.min(100, (100 * done) / of) : null;
    track.classList.toggle("unknown", share === null);
    bar.style.width = share === null ? "" : `${share}%`;
    if (share !== null) track.setAttribute("aria-valuenow", String(Math.round(share)));
    const sought = course?.limits?.length ? t("live.limits", { limits: course.limits.join(" / ") }) : "";
    words.textContent = course ? `${said("stage", course.stage)}. ${sought}` : said("progress", what);
    stopping.hidden = !run.progress["can stop"];
    if (course) replace(plots, coursePlots(course));
  }
}

function coursePlots(course) {
  const sought = course.groups.map((groups, i) => [groups, course.cases[i]]).filter(([, cases]) => cases !== null);
  const whole = sought.length < 2;
  const largest = course.largest.map((values, d) => ({ name: t("figures.dimension", { d: d + 1 }), values }));
  const plots = [plot({ kind: "steps", title: t("figures.bounds"), x: course.groups, series: largest, xTitle: t("figures.groups"), yTitle: t("figures.largest"), whole })];
  if (!whole) plots.push(plot({ kind: "lines", title: t("figures.cases"), x: sought.map(([groups]) => groups), series: [{ name: t("figures.casesShort"), values: sought.map(([, cases]) => cases) }], xTitle: t("figures.groups"), yTitle: t("figures.casesShort") }));
  return el("div", { class: "pair", id: "course" }, plots.map((each) => el("div", { class: "card" }, each)));
}

const tile = (value, words, key = false) => el("div", { class: key ? "tile key" : "tile" }, el("b", {}, value), el("small", {}, words));

function table(id, caption, head, rows) {
  const numeric = (cell) => typeof cell === "number" || /^[\d.,\u2212-]+( %)?$/.test(cell);
  return el("div", { class: "wide" }, el("table", { class: "plain", id }, el("caption", { class: "seen-not" }, caption),
    el("thead", {}, el("tr", {}, head.map((each, i) => el("th", { scope: "col", class: i ? "number" : "" }, each)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) => (i ? el("td", { class: numeric(cell) ? "number" : "number words" }, String(cell)) : el("th", { scope: "row" }, String(cell)))))))));
}

function anonymous(found) {
  const { summary, deviations, attack } = found;
  const facts = summary;
  const dimensions = Object.entries(deviations);
  const most = Math.max(...dimensions.map(([, each]) => each["cells by deviation and weight"].length));
  const share = (each) => Array.from({ length: most }, (_, i) => (each["cells by deviation and weight"][i] ?? []).reduce((a, b) => a + b, 0) / Math.max(1, each.cells));
  return [
    el("div", { class: "card" }, el("div", { class: "row" }, el("span", { class: "badge good" }, `✓ ${t("figures.kept", { k: facts.k })}`), facts.complete ? null : el("span", { class: "badge bad" }, t("figures.early"))),
      found.verdict ? el("p", { id: "release" }, el("span", { class: `badge ${found.ready ? "good" : "bad"}` }, found.ready ? "✓" : "✕"), " ", found.verdict[current()] ?? found.verdict.en) : null,
      el("div", { class: "tiles" }, tile(number(facts.objects), t("figures.objects")), tile(number(facts.rows), t("figures.rows")), tile(number(facts["control tables"]), t("figures.tables")), tile(number(facts["control cells"]), t("figures.cells")),
        ...dimensions.map(([d, each]) => tile(number(each.maximum), t("figures.bound", { d, n: number(each.cells) }), true))),
      found.warnings?.length ? el("ul", {}, found.warnings.map((each) => el("li", {}, el("small", {}, each)))) : null),
    coursePlots(found.course),
    el("div", { class: "pair" },
      el("div", { class: "card" }, plot({ kind: "bars", title: t("figures.deviations"), x: Array.from({ length: most }, (_, i) => String(i)), series: dimensions.map(([d, each]) => ({ name: t("figures.dimension", { d }), values: share(each) })), xTitle: t("figures.deviation"), yTitle: t("figures.shareOfCells"), percent: true })),
      el("div", { class: "card" }, el("h2", {}, t("figures.attack")), el("small", {}, t("figures.attackHint")),
        table("attack-figures", t("figures.attack"), ["", t("figures.before"), t("figures.atMost")], Object.entries(attack).map(([key, pair]) => [t(`figures.attack.${key}`), ...pair.map((v) => (["highest", "expected"].includes(key) ? percent(v) : number(v)))])))),
    ...dimensions.map(([d, each]) => el("div", { class: "card" }, el("h2", {}, t("figures.deviationTable", { d })),
      el("small", {}, t("figures.statement", { mean: number(Math.round(each.mean * 100) / 100), n: each.quantiles["90%"] })),
      table(`deviations-${d}`, t("figures.deviationTable", { d }), [t("figures.deviation"), ...each["maximum by weight"].map((_, g) => `g = ${g}`), t("figures.cells")],
        each["cells by deviation and weight"].map((row, i) => [String(i), ...row.map((n) => number(n)), number(row.reduce((a, b) => a + b, 0))])))),
  ];
}

function scientific(found) {
  const { attack, columns, utility } = found;
  const steps = found.summary.steps ?? [];
  return [
    attack ? attackCard(attack) : el("div", { class: "card" }, el("p", {}, t("figures.noAttack"))),
    el("div", { class: "card" }, el("h2", {}, t("figures.utility")),
      el("div", { class: "tiles" }, Object.entries(utility).map(([key, value]) => tile(value === null ? "–" : short(value), said("measure", key))))),
    columns.length ? el("div", { class: "card" }, el("h2", {}, t("figures.moments")), table("moments", t("figures.moments"),
      [t("figures.column"), t("figures.meanBefore"), t("figures.after"), t("figures.varianceBefore"), t("figures.after"), "IL1s", "Hellinger"],
      columns.map((c) => [c.name, ...c.mean.map(short), ...c.variance.map(short), short(c.il1s), short(c.hellinger)]))) : null,
    el("div", { class: "card" }, el("h2", {}, t("figures.done")), el("ul", {}, steps.map((step) => el("li", {}, `${said("method", step.method)}: ${t("figures.records", { n: step.records })}`)))),
  ];
}

function attackCard(attack) {
  const risks = [...attack.risks].sort((a, b) => a.units - b.units);
  return el("div", { class: "card" }, el("div", { class: "row" }, el("h2", {}, t("figures.linkage")), el("span", { class: `badge ${attack.safe ? "good" : "bad"}` }, attack.safe ? `✓ ${t("figures.below")}` : `✕ ${t("figures.above", { n: attack.exceeding })}`)),
    el("small", {}, t("figures.linkageHint")),
    el("div", { class: "tiles" },
      tile(percent(attack["true match rate"]), t("figures.trueMatch"), true), tile(percent(attack.precision), t("figures.precision")), tile(number(attack.correct), t("figures.correct", { n: attack.checkable })),
      ...Object.entries(attack["usable values"]).map(([name, v]) => tile(percent(v), t("figures.usable", { name })))),
    risks.length ? el("div", { class: "pair" },
      plot({ kind: "dots", title: t("figures.risk"), x: risks.map((each) => each.units), series: [{ name: t("figures.risk"), values: risks.map((each) => each.risk) }], xTitle: t("figures.units"), yTitle: t("figures.riskOf", { by: attack.by.join(", ") }), log: risks.at(-1).units / risks[0].units > 20, cap: { at: attack.cap, name: t("figures.cap") }, top: 1, percent: true }),
      table("risks", t("figures.risk"), [attack.by.join(" / "), t("figures.units"), t("figures.correctShort"), t("figures.riskShort")], attack.risks.slice(0, 9).map((each) => [each.codes.join(" / "), number(each.units), number(each.correct), percent(each.risk)]))) : null);
}
