/** What all pages know: the present choice with its history, the runs, the view. Changes are told to listeners. */
import { get, post, put } from "./api.js";
import { current } from "./i18n.js";
import { attempt } from "./notices.js";
import { sameSettings } from "./settings.js";
import { saw, sending, settled } from "./tab.js";

const listeners = { draft: new Set(), settings: new Set(), runs: new Set(), view: new Set() };
export const on = (what, listener) => {
  listeners[what].add(listener);
  return () => listeners[what].delete(listener);
};
const tell = (what) => { for (const listener of [...listeners[what]]) listener(); };

/** What is chosen, as panels show it; `of` is the run whose settings stand in its place, to be looked at only. */
export const draft = { content: {}, undo: false, redo: false, of: null };
/** What is chosen, whatever is shown. */
let chosen = { content: {}, undo: false, redo: false };
export const view = { internal: false, workspace: "" };
export const runs = { all: [] };

/** A run's name, with the time if another has the same. */
export const runTitle = (run) => (runs.all.filter((each) => each.name === run.name && each.kind === run.kind).length > 1
  ? `${run.name} (${new Date(run.started * 1000).toLocaleTimeString(current() === "de" ? "de-DE" : "en-GB")})` : run.name);

function adopt(answer) {
  chosen = answer;
  Object.assign(draft, answer, { of: null, changed: false });
  saw("table", answer.version);
  tell("draft");
  return true;
}

/** Show the settings of a run in the place of the choice, which stays as it is; without a run, the choice again. */
export function showSettings(run, settings) {
  const other = run && !sameSettings(settings.content, chosen.content);
  const before = draft.of?.id;
  Object.assign(draft, chosen, other ? { content: settings.content, of: run, changed: settings.changed } : { of: null, changed: false });
  if (before !== draft.of?.id) tell("settings");
}
/** Whether a run of this tab's choice would be a run of these settings. */
export const isChosen = (content) => sameSettings(content, chosen.content);
/** Make the settings of a run the choice of this tab. */
export const useSettings = (content) => change((c) => { for (const key of Object.keys(c)) delete c[key]; Object.assign(c, structuredClone(content)); });

export const loadDraft = async () => adopt(await get("/api/draft"));

/** Change the choice: `edit` works on a copy, which the server keeps. One change after the other, so that none is lost. */
let last = Promise.resolve();
export function change(edit) {
  last = sending(last.then(() => {
    const content = structuredClone(chosen.content);
    edit(content);
    // what was refused must not stay on the screen as if it were chosen
    return attempt(async () => adopt(await put("/api/draft", content))).then((taken) => taken ?? (tell("draft"), false));
  }));
  return last;
}

/** Take another choice that the server has, once all changes have arrived there. */
const take = async (path) => { await settled(); return sending(attempt(async () => adopt(await post(path)))); };
export const step = (way) => take(`/api/draft/${way}`);
export const takeExample = (name) => take(`/api/examples/${encodeURIComponent(name)}`);
export const openJob = (name) => take(`/api/jobs/${name.split("/").map(encodeURIComponent).join("/")}`);
document.addEventListener("look-again", () => attempt(loadDraft));

export async function loadView() {
  Object.assign(view, await get("/api/state"));
  tell("view");
}

export async function showInternal(internal) {
  await attempt(async () => Object.assign(view, await put("/api/view", { internal })));
  tell("view");
}

let timer = null;
let turn = 0;
/** Look at the runs; again soon while one of them is at work. */
export async function watchRuns() {
  clearTimeout(timer);
  const mine = ++turn;
  const found = await attempt(() => get("/api/runs"));
  if (!found || mine !== turn) return;
  const changed = JSON.stringify(found.runs) !== JSON.stringify(runs.all);
  runs.all = found.runs;
  if (changed) tell("runs");
  if (runs.all.some((run) => run.state === "running")) timer = setTimeout(watchRuns, 300);
}

// runs of other tabs come and go while nobody looks at this one
document.addEventListener("visibilitychange", () => { if (!document.hidden) watchRuns(); });

/** Start a run of what is on the screen: what was typed last has to be with the server before. */
export async function startRun(path, body) {
  if (!(await settled())) return undefined;
  const run = await attempt(() => post(path, body));
  if (run) await watchRuns();
  return run;
}
