/** What all pages know: the present choice with its history, the runs, the view. Changes are told to listeners. */
import { get, post, put } from "./api.js";
import { attempt } from "./notices.js";

const listeners = { draft: new Set(), runs: new Set(), view: new Set() };
export const on = (what, listener) => {
  listeners[what].add(listener);
  return () => listeners[what].delete(listener);
};
const tell = (what) => { for (const listener of [...listeners[what]]) listener(); };

export const draft = { content: {}, undo: false, redo: false };
export const view = { internal: false, workspace: "" };
export const runs = { all: [] };

/** A run's name, with the time if another has the same. */
export const runTitle = (run) => (runs.all.filter((each) => each.name === run.name && each.kind === run.kind).length > 1
  ? `${run.name} (${new Date(run.started * 1000).toLocaleTimeString("de-DE")})` : run.name);

function adopt(answer) {
  Object.assign(draft, answer);
  tell("draft");
}

export const loadDraft = async () => adopt(await get("/api/draft"));

/** Change the choice: `edit` works on a copy, which the server keeps. One change after the other, so that none is lost. */
let last = Promise.resolve();
export function change(edit) {
  last = last.then(() => {
    const content = structuredClone(draft.content);
    edit(content);
    return attempt(async () => adopt(await put("/api/draft", content)));
  });
  return last;
}

export const step = (way) => attempt(async () => adopt(await post(`/api/draft/${way}`)));
export const takeExample = (name) => attempt(async () => adopt(await post(`/api/examples/${encodeURIComponent(name)}`)));
export const openJob = (name) => attempt(async () => adopt(await post(`/api/jobs/${name.split("/").map(encodeURIComponent).join("/")}`)));

export async function loadView() {
  Object.assign(view, await get("/api/state"));
  tell("view");
}

export async function showInternal(internal) {
  await attempt(async () => Object.assign(view, await put("/api/view", { internal })));
  tell("view");
}

let timer = null;
/** Look at the runs; again soon while one of them is at work. */
export async function watchRuns() {
  clearTimeout(timer);
  const found = await attempt(() => get("/api/runs"));
  if (!found) return;
  const changed = JSON.stringify(found.runs) !== JSON.stringify(runs.all);
  runs.all = found.runs;
  if (changed) tell("runs");
  if (runs.all.some((run) => run.state === "running")) timer = setTimeout(watchRuns, 300);
}

export async function startRun(path, body) {
  const run = await attempt(() => post(path, body));
  if (run) await watchRuns();
  return run;
}
