/** This tab: its name, which versions of its choices it shows, and the changes that are on their way. */
import { asked } from "./i18n.js";

const NAME = "tab";
const LOCK = "diskret-tab-";
export const tab = { name: "", copy: "", others: false };
/** The version of what is chosen, by page, as it stands on the screen. */
const seen = {};

/**
 * Take a name: the one this tab had before it was reloaded, or a new one. A duplicated tab brings the name of its origin
 * along; the origin holds a lock on it, so that the copy notices and goes on under a name of its own.
 */
export async function nameTab() {
  let kept = "";
  try { kept = sessionStorage.getItem(NAME) ?? ""; } catch { /* a browser that keeps nothing: a new tab every time */ }
  tab.name = kept || crypto.randomUUID();
  if (!(await hold(tab.name))) {
    tab.copy = tab.name;
    tab.name = crypto.randomUUID();
    await hold(tab.name);
  }
  try { sessionStorage.setItem(NAME, tab.name); } catch { /* see above */ }
  const held = (await navigator.locks?.query())?.held ?? [];
  tab.others = tab.name !== kept && held.some((each) => each.name.startsWith(LOCK) && each.name !== LOCK + tab.name);
}

/** Hold a name as long as this page lives; false if another tab holds it. Without locks, versions find out later. */
function hold(name) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((resolve) => {
    navigator.locks.request(LOCK + name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock ? new Promise(() => {}) : undefined;
    }).catch(() => resolve(true));
  });
}

export function saw(page, version) { if (version) seen[page] = version; }

const said = () => Object.entries(seen).map(([page, version]) => `${page}=${version}`).join(";");

/** What every request says about this tab, and the language it speaks. */
export function aboutTab() {
  return { "x-diskret-language": asked(), "x-diskret-tab": tab.name, "x-diskret-seen": said(), ...(tab.copy ? { "x-diskret-copy": tab.copy } : {}) };
}

const coming = new Set();
/** A change on its way to the server; it gives true if the server took it. */
export function sending(work) {
  coming.add(work);
  work.finally(() => coming.delete(work));
  return work;
}
/** When all changes have arrived: what is asked then belongs to what was typed last. False if one was refused. */
export async function settled() {
  const all = [];
  while (coming.size) all.push(...(await Promise.all([...coming])));
  return all.every(Boolean);
}

/** Whether an answer belongs to a choice that this tab has left behind by itself. */
export async function outdated(headers) {
  await settled();
  return headers["x-diskret-seen"] !== said();
}
