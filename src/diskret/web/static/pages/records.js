/** Records: an anonymous file (SAFE) or a scientific-use file, from the choice of columns to the attack figures. */
import { get } from "../js/api.js";
import { Choices } from "../js/choices.js";
import { drawer } from "../js/drawer.js";
import { sheetChoice, upload } from "../js/controls.js";
import { el, field, options, replace } from "../js/dom.js";
import { current, t } from "../js/i18n.js";
import { attempt } from "../js/notices.js";
import { Steps } from "../js/steps.js";
import { on, runs, watchRuns } from "../js/store.js";
import { Figures } from "./records/figures.js";
import { columnsStep, controlStep } from "./records/safe.js";
import { attackStep, protectionStep, usedStep } from "./records/use.js";
import { runStep } from "./records/run.js";

const EXAMPLES = ["care", "firms"];

export async function show(root) {
  const chosen = new Choices("records");
  const context = { chosen, files: [], trees: [], columns: [], unfold: (name) => steps.unfold(name) };
  const figures = new Figures(chosen);
  context.figures = figures;
  const choices = el("div", { class: "choices" });
  const tools = el("div", { class: "page-tools" });
  const aside = el("aside", { class: "side", "aria-label": t("table.choices") }, tools, choices);
  const bench = el("div", { class: "workbench" }, aside, figures.root);
  const side = drawer(bench, aside);
  replace(root, bench);
  const steps = new Steps(choices);
  steps.add("records", (inside, tell) => dataStep(inside, tell, context));
  steps.add("what", (inside, tell) => kindStep(inside, tell, context));
  steps.add("attributes", (inside, tell) => columnsStep(inside, tell, context));
  steps.add("control", (inside, tell) => controlStep(inside, tell, context));
  steps.add("used", (inside, tell) => usedStep(inside, tell, context));
  steps.add("protection", (inside, tell) => protectionStep(inside, tell, context));
  steps.add("attack", (inside, tell) => attackStep(inside, tell, context));
  steps.add("make", (inside, tell) => runStep(inside, tell, context));

  function draw() {
    steps.draw();
    replace(tools, el("strong", {}, t("records.title")),
      ["undo", "redo"].map((way) => el("button", { class: "quiet small", id: `records-${way}`, disabled: !chosen[way], onclick: () => chosen.step(way) }, t(`shell.${way}`))));
  }

  context.list = async () => {
    context.files = (await attempt(() => get("/api/files")))?.files ?? [];
    context.trees = (await attempt(() => get("/api/hierarchies")))?.files ?? [];
  };
  /** Learn the columns of the file that is chosen. */
  context.look = async () => {
    const { microdata: file, sheet = "" } = chosen.content.data ?? {};
    const wanted = `${file} ${sheet}`;
    if (wanted === context.file) return;
    context.file = wanted;
    Object.assign(context, { sheets: [], columns: [], rows: 0 });  // those of another file are none of this one
    const found = file ? await attempt(() => get(`/api/recognise?file=${encodeURIComponent(file)}&kind=microdata&language=${current()}&sheet=${encodeURIComponent(sheet)}`)) : null;
    if (wanted !== context.file) return;
    context.sheets = found?.sheets ?? [];
    context.columns = found?.columns ?? [];
    context.rows = found?.rows ?? 0;
  };
  chosen.on(async () => { figures.compare(); await context.look(); draw(); });
  const offs = [on("runs", () => { figures.runs(); draw(); })];
  await Promise.all([context.list(), watchRuns()]);
  await chosen.load();
  figures.runs();
  const made = runs.all.some((run) => run.kind === "records");
  steps.unfold(!chosen.content.data ? "records" : made ? "make" : chosen.content.microdata ? "protection" : "attributes");
  return () => { offs.forEach((off) => off()); figures.end(); chosen.end(); side.end(); };
}

/** Step 1: a file of the workspace, one from elsewhere, or an example. */
function dataStep(inside, tell, context) {
  const { chosen } = context;
  const file = chosen.content.data?.microdata;
  tell(file);
  const select = el("select", { id: "records-file", onchange: () => select.value && take(select.value) });
  const entries = context.files.filter((each) => each.kind === "data" || each.kind === "job").map((each) => [each.name, each.name]);
  if (file && !entries.some(([name]) => name === file)) entries.unshift([file, file]);
  options(select, [["", t("data.none")], ...entries], file ?? "");

  async function take(name, sheet = "") {
    if (name.endsWith(".toml")) {
      await chosen.take(`/api/records/jobs/${name.split("/").map(encodeURIComponent).join("/")}`);
    } else {
      const found = await attempt(() => get(`/api/recognise?file=${encodeURIComponent(name)}&kind=microdata&sheet=${encodeURIComponent(sheet)}`));
      if (!found) return;
      await chosen.change(() => ({ data: found.content.data }));
    }
    await context.list();
    context.unfold("what");
  }

  replace(inside, el("h3", {}, t("data.examples")),
    el("div", { class: "examples" }, EXAMPLES.map((name) => el("button", {
      id: `example-${name}`, "data-example": name,
      onclick: async () => {
        await chosen.take(`/api/records/examples/${name}`);
        await context.list();
        context.unfold(name === "care" ? "control" : "protection");
      },
    }, el("span", {}, t(`example.${name}`)), el("small", {}, t(`example.${name}.hint`))))),
    upload("records-upload", () => context.files, (name) => take(name)), field(t("data.file"), select),
    sheetChoice("records-sheet", context.sheets ?? [], chosen.content.data?.sheet, (sheet) => take(file, sheet)));
  return true;
}

const named = (context, ...roles) => context.columns.filter((each) => roles.includes(each.role)).map((each) => each.name);

/** Step 2: which of the two kinds of file. */
function kindStep(inside, tell, context) {
  const { chosen } = context;
  if (!chosen.content.data) return false;
  const kind = chosen.content.anonymise ? "anonymise" : chosen.content.microdata ? "microdata" : null;
  tell(kind ? t(`what.${kind}.short`) : "");
  const choose = async (wanted) => {
    const seed = (await attempt(() => get("/api/records/seed")))?.seed;
    await chosen.change((content) => ({ data: content.data, output: content.output, ...first(context, wanted, seed) }));
    context.unfold(wanted === "microdata" ? "used" : "attributes");
  };
  replace(inside, el("div", { role: "radiogroup", "aria-label": t("step.what") }, ["anonymise", "microdata"].map((each) => el("label", { class: "choice" },
    el("input", { type: "radio", name: "what", id: `what-${each}`, value: each, checked: each === kind, onchange: () => choose(each) }),
    el("span", {}, t(`what.${each}`)), el("small", {}, t(`what.${each}.hint`))))));
  return true;
}

/** A first choice for a file: what its columns look like. */
function first(context, kind, seed) {
  const codes = named(context, "classification");
  if (kind === "anonymise") {
    const attributes = codes.slice(0, 6);
    const prefixes = context.columns.filter((each) => attributes.includes(each.name) && each.prefixes.length);
    const made = { anonymise: { attributes, k: 3, up_to: Math.min(2, attributes.length), seed } };
    if (prefixes.length) made.classifications = Object.fromEntries(prefixes.map((each) => [each.name, { prefixes: each.prefixes }]));
    return made;
  }
  const values = named(context, "value");
  const gone = named(context, "identifier", "holding");
  const steps = [gone.length ? { do: "drop", columns: gone } : null, values.length ? { do: "microaggregate", m: 3 } : null].filter(Boolean);
  const made = { microdata: { values, classes: codes.slice(0, 4), seed, steps: steps.length ? steps : [{ do: "drop", columns: codes.slice(-1) }] } };
  if (codes.length || values.length) made.attack = { keys: codes.slice(0, 2), values };
  return made;
}
