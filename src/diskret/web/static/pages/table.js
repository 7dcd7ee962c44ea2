/** The table page: choose, mark, protect, look, export. */
import { el, replace } from "../js/dom.js";
import { t } from "../js/i18n.js";
import { settingsBanner } from "../js/settings.js";
import { draft, on, runs, useSettings, watchRuns } from "../js/store.js";
import { dataStep } from "./table/data.js";
import { rolesStep } from "./table/roles.js";
import { rulesStep } from "./table/rules.js";
import { progress } from "./table/progress.js";
import { protectStep } from "./table/protect.js";
import { resultStep } from "./table/result.js";
import { Shown } from "./table/shown.js";
import { drawer } from "../js/drawer.js";

const STEPS = [["data", dataStep], ["roles", rolesStep], ["rules", rulesStep], ["protect", protectStep], ["result", resultStep]];

export async function show(root) {
  const shown = new Shown();
  const choices = el("div", { class: "choices" });
  const whose = el("div");
  const busy = el("div", { class: "busy", role: "status" });
  const bench = el("div", { class: "workbench" }, el("aside", { class: "side", "aria-label": t("table.choices") }, whose, choices, busy), shown.root, shown.inspector);
  replace(root, bench);
  shown.bench = bench;
  const context = { shown, marks: null, unfold };
  shown.context = context;
  const side = drawer(bench, bench.querySelector(".side"));
  const steps = STEPS.map(([name, make], i) => {
    const said = el("span", { class: "said" });
    // what is set is looked at only while it belongs to a run; what came out of it can be used
    const inside = el("fieldset", { class: "inside" });
    const step = el("details", { class: "step", id: `step-${name}` },
      el("summary", {}, el("span", { class: "number", "aria-hidden": "true" }, String(i + 1)), t(`step.${name}`), said), inside);
    const tell = (text, done = Boolean(text)) => { said.textContent = text ?? ""; said.title = text ?? ""; step.classList.toggle("done", done); };
    choices.append(step);
    return { name, step, inside, draw: make(inside, tell, context) };
  });
  function unfold(name) {
    for (const each of steps) each.step.open = each.name === name;
    steps.find((each) => each.name === name)?.step.scrollIntoView({ block: "nearest" });
  }
  const draw = (what) => {
    const of = draft.of;
    replace(whose, of ? settingsBanner(of, draft.changed, () => useSettings(draft.content), () => shown.draft()) : null);
    for (const each of steps) {
      each.inside.disabled = of !== null && each.name !== "result";
      each.draw(what);
    }
    replace(busy, runs.all.filter((run) => run.state === "running").map(progress));
  };
  const offs = [on("draft", () => { draw("draft"); shown.draft(); }), on("settings", () => draw("draft")), on("runs", () => { draw("runs"); shown.runs(); }), on("view", () => shown.view())];
  watchRuns();
  draw("draft");
  draw("runs");
  const chosen = draft.content.data !== undefined;
  // without data the first page in the middle offers what the first step offers
  unfold(!chosen ? "" : runs.all.some((run) => run.state === "finished") ? "result" : "rules");
  await shown.start();
  return () => { offs.forEach((off) => off()); shown.end(); side.end(); };
}
