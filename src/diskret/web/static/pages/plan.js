/** Planning a survey: how many persons could be singled out, before anything is asked. */
import { download, post } from "../js/api.js";
import { Choices } from "../js/choices.js";
import { drawer } from "../js/drawer.js";
import { slider } from "../js/controls.js";
import { el, field, replace } from "../js/dom.js";
import { number, t } from "../js/i18n.js";
import { attempt, notice } from "../js/notices.js";
import { plot } from "../js/plot.js";
import { attributeCard, equal } from "./plan/attribute.js";

/** A plan to begin with, in words of the page's language. */
function firstPlan() {
  const words = (key) => t(`plan.first.${key}`).split("|");
  const named = ["sex", "age", "education", "region"].map((key) => { const [name, ...levels] = words(key); return [name, equal(levels)]; });
  return { n: [300], tolerated: 0.1, ordered: [named[1][0], named[2][0]], freely: [], keep: [], shares: Object.fromEntries(named) };
}
const ESTIMATORS = ["orwell", "degrees_of_freedom", "rounded", "truncated", "expected"];
const toNumber = (position) => { const n = 10 ** (1 + (position / 100) * 4); const size = 10 ** (Math.floor(Math.log10(n)) - 1); return Math.round(n / size) * size; };
const toPosition = (n) => Math.round(((Math.log10(n) - 1) / 4) * 100);
const percent = (share) => `${number(Math.round(share * 1000) / 10)} %`;

export async function show(root) {
  const chosen = new Choices("plan");
  const side = el("aside", { class: "side", "aria-label": t("plan.title") });
  const figures = el("section", { class: "figures", "aria-label": t("plan.result") });
  // read aloud when a slider has come to rest: the one number that counts, not the whole page
  const aloud = el("p", { class: "seen-not", role: "status" });
  const inside = el("div", { class: "plan-side" });
  side.append(inside);
  const bench = el("div", { class: "workbench" }, side, figures);
  const folds = drawer(bench, side);
  replace(root, bench, aloud);
  let open = null;
  let asked = 0;
  let timer = null;
  const state = { now: null, curve: null, merges: null };

  const content = () => (Object.keys(chosen.content.shares ?? {}).length ? chosen.content : firstPlan());
  const change = (edit) => chosen.change((copy) => { const base = Object.keys(copy.shares ?? {}).length ? copy : firstPlan(); edit(base); return base; });

  /** Estimates for a number of persons that need not be settled yet: while the slider moves. */
  function estimate(n = content().n[0], wait = 60) {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const ticket = asked + 1;
      ask(n).catch((error) => ticket === asked && missed(error));
    }, wait);
  }

  /** What cannot be estimated takes the figures of the plan before with it. */
  function missed(error) {
    if (error.name === "AbortError") return;
    state.now = null;
    figures.classList.remove("waiting");
    replace(figures, el("div", { class: "card", role: "alert" }, el("strong", {}, error.what), el("p", { class: "muted" }, error.hint)));
  }

  async function ask(n) {
    const ticket = ++asked;
    figures.classList.add("waiting");
    const { shares } = content();
    const curve = Array.from({ length: 33 }, (_, i) => toNumber(i * 3.125)).filter((each, i, all) => all.indexOf(each) === i && each !== n);
    const found = await post("/api/plan", { n: [n, ...curve], shares });
    if (ticket !== asked) return;
    const [now, ...rest] = found.shares;
    Object.assign(state, { found, now, curve: [...rest, now].sort((a, b) => a.n - b.n), n, merges: null });
    figures.classList.remove("waiting");
    drawFigures();
    const { tolerated, ordered, freely, keep } = content();
    const merges = await post("/api/plan", { n: [n], shares, tolerated, ordered, freely, keep });
    if (ticket !== asked) return;
    state.merges = merges;
    drawFigures();
    aloud.textContent = `${t("plan.orwell")}: ${percent(now.orwell)}`;
  }

  function drawFigures() {
    const { found, now, curve, merges } = state;
    if (!now) return;
    const series = ESTIMATORS.filter((each) => each in now).map((each) => ({ name: t(`plan.${each}`), values: curve.map((point) => point[each]) }));
    const tolerated = content().tolerated;
    replace(figures,
      el("div", { class: "card" }, el("h1", {}, t("plan.head", { n: number(state.n) })),
        el("div", { class: "tiles", id: "estimates" }, ESTIMATORS.filter((each) => each in now).map((each) => el("div", { class: each === "orwell" ? "tile key" : "tile", "data-estimator": each }, el("b", {}, percent(now[each])), el("small", {}, t(`plan.${each}`))))),
        el("p", { class: "muted" }, t("plan.cells", { cells: number(found.cells), orwell: number(Math.round(found.orwell * 10) / 10) }))),
      el("div", { class: "card" }, plot({ kind: "lines", title: t("plan.curve"), x: curve.map((point) => point.n), series, xTitle: t("plan.persons"), yTitle: t("plan.share"), percent: true, log: true, top: 1, whole: true, rule: { at: state.n, name: `N = ${number(state.n)}` }, cap: { at: tolerated, name: t("plan.tolerated") } }),
        el("details", {}, el("summary", {}, t("plan.numbers")), el("div", { class: "wide" }, el("table", { class: "plain" },
          el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "N"), ESTIMATORS.filter((each) => each in now).map((each) => el("th", { scope: "col", class: "number" }, t(`plan.${each}`))))),
          el("tbody", {}, curve.filter((_, i) => i % 3 === 0).map((point) => el("tr", {}, el("th", { scope: "row" }, number(point.n)), ESTIMATORS.filter((each) => each in now).map((each) => el("td", { class: "number" }, percent(point[each])))))))))),
      el("div", { class: "card", id: "merges" }, el("h2", {}, t("plan.merges", { share: percent(tolerated) })), merges ? proposal(merges) : el("p", { class: "muted" }, t("plan.wait"))),
      el("small", { class: "muted" }, t("plan.about")));
  }

  function proposal(found) {
    const steps = found.merges ?? [];
    const words = found.reached ? (steps.length ? t("plan.reached") : t("plan.fine")) : t("plan.missed");
    return [el("p", {}, el("span", { class: `badge ${found.reached ? "good" : "bad"}` }, `${found.reached ? "✓" : "✕"} ${words}`)),
      steps.length ? el("ol", { class: "merges" }, steps.slice(0, 12).map((step) => el("li", {}, t("plan.merge", { attribute: step.attribute, levels: step.levels.join(" + "), percent: number(step.percent) })))) : null,
      steps.length > 12 ? el("small", {}, t("plan.more", { n: steps.length - 12 })) : null,
      found["persons needed"] ? el("small", {}, t("plan.needed", { n: number(found["persons needed"]) })) : null];
  }

  function draw() {
    const active = document.activeElement?.id;
    const { n, tolerated, shares } = content();
    replace(inside,
      el("div", { class: "page-tools" }, el("strong", {}, t("plan.title")), ["undo", "redo"].map((way) => el("button", { class: "quiet small", id: `plan-${way}`, disabled: !chosen[way], onclick: () => chosen.step(way) }, t(`shell.${way}`)))),
      el("div", { class: "choices" }, el("div", { class: "step" }, el("div", { class: "inside plan-top" },
        slider("plan-n", t("plan.n"), { value: toPosition(n[0]), min: 0, max: 100, show: (p) => number(toNumber(p)), change: (p) => estimate(toNumber(p)), settle: (p) => change((c) => { c.n = [toNumber(p)]; }) }),
        slider("plan-tolerated", t("plan.toleratedShare"), { value: Math.round(tolerated * 100), min: 1, max: 50, show: (p) => `${p} %`, settle: (p) => change((c) => { c.tolerated = p / 100; }) }))),
      Object.keys(shares).map((name) => attributeCard(name, content(), { open: open === name, toggle: () => { open = open === name ? null : name; draw(); }, change, slider })),
      el("div", { class: "step" }, el("div", { class: "inside plan-top" },
        el("button", { id: "add-attribute", onclick: add }, `+ ${t("plan.add")}`),
        el("h3", {}, t("plan.file")), el("p", {}, el("small", {}, t("plan.fileHint"))), field(t("plan.name"), name),
        el("div", { class: "row" }, el("button", { id: "save-plan", onclick: save }, t("result.saveJob")), el("button", { class: "quiet", id: "download-plan", onclick: () => change(() => undefined).then(() => download("/api/plan/plan.toml")) }, t("result.downloadJob")))))));
    if (active && document.activeElement?.id !== active) document.getElementById(active)?.focus();
  }

  const name = el("input", { id: "plan-name", placeholder: "plan" });
  const add = () => change((c) => {
    let i = 1;
    while (c.shares[t("plan.attribute", { i })]) i += 1;
    open = t("plan.attribute", { i });
    c.shares[open] = equal(["1", "2"]);
  });

  async function save() {
    const said = { name: name.value || "plan", plan: content() };
    const saved = await attempt(async () => {
      try {
        return await post("/api/plan/save", said);
      } catch (error) {
        if (error.code !== "O1" || !confirm(`${error.what}. ${t("result.replace")}`)) throw error;
        return post("/api/plan/save", { ...said, replace: true });
      }
    });
    if (saved) notice(t("plan.saved", { name: saved.name }));
  }

  chosen.on(() => { draw(); estimate(); });
  await chosen.load();
  return () => { folds.end(); clearTimeout(timer); asked += 1; chosen.end(); };
}
