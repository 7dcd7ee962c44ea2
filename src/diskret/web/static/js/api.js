/** Requests to our own server, and nobody else. A refusal comes back as an error with what, where and hint. */

import { t } from "./i18n.js";
import { refusal } from "./notices.js";
import { aboutTab, outdated, settled } from "./tab.js";

/** The refusal of what belongs to a choice that this tab does not show. */
export const CHANGED = "W8";

export class Refusal extends Error {
  constructor(status, said) {
    super(said.what);
    Object.assign(this, { status }, said);
  }
}

async function answer(response) {
  const content = response.headers.get("content-type")?.includes("json") ? await response.json() : null;
  if (response.ok) return content;
  throw new Refusal(response.status, content?.error ?? { code: "D0", what: response.statusText, where: "", hint: "" });
}

/** Questions about what is chosen: they wait for changes that are on their way. */
const ABOUT_CHOICE = /^\/api\/(draft\/(marks|rows)|tables\/draft\b|plan\/plan\.toml)/;

async function ask(method, path, body, signal) {
  if (method === "GET" && ABOUT_CHOICE.test(path)) await settled();
  const given = { method, signal, headers: aboutTab() };
  if (body !== undefined) {
    given.body = body instanceof Blob ? body : JSON.stringify(body);
    given.headers["content-type"] = body instanceof Blob ? "application/octet-stream" : "application/json";
  }
  let response;
  try {
    response = await fetch(path, given);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, { code: "D0", what: t("shell.gone"), where: "", hint: "" });
  }
  try {
    return await answer(response);
  } catch (error) {
    // a question about what this tab itself has replaced meanwhile: its answer is not wanted any more
    if (error.code === CHANGED && method === "GET" && (await outdated(given.headers))) throw new DOMException("outdated", "AbortError");
    throw error;
  }
}

export const get = (path, signal) => ask("GET", path, undefined, signal);
export const post = (path, body = {}) => ask("POST", path, body);
export const put = (path, body) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

/** Save a file; a refusal is shown, not saved. */
export async function download(path) {
  try {
    const response = await fetch(path, { headers: aboutTab() });
    if (!response.ok) await answer(response);
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (error) {
    refusal(error);
  }
}

export const query = (given) => new URLSearchParams(given).toString();
