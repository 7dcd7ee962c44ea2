/** The start: show the token once, learn the words, open a page. */
import { el, replace } from "./dom.js";
import { post } from "./api.js";
import { current, learn, onLanguage, preferred, speak, t } from "./i18n.js";
import { clear, notice, refusal } from "./notices.js";
import { PAGES } from "./pages.js";
import { tour } from "./tour.js";
import { nameTab, tab } from "./tab.js";
import { draft, loadDraft, loadView, on, showInternal, step, view, watchRuns } from "./store.js";

const page = document.getElementById("page");
const tabs = document.querySelector(".tabs");
let shown = null;
let end = null;

async function enter() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  // the address must not keep the token: it would stay in the history
  history.replaceState(null, "", location.pathname);
  await post("/api/session", { token });
}

export async function open(id) {
  const found = PAGES.find((each) => each.id === id) ?? PAGES[0];
  shown = found.id;
  history.replaceState(null, "", `#${found.id}`);
  drawTabs();
  end?.();
  clear();
  const module = await found.load();
  if (found.book) await learn(found.book);
  document.body.dataset.page = found.id;
  replace(page);
  page.setAttribute("aria-label", t(found.title));
  end = (await module.show(page)) ?? null;
}

function drawTabs() {
  replace(tabs, PAGES.map((each) => el("button", {
    role: "tab", id: `tab-${each.id}`, "aria-selected": String(each.id === shown), "aria-controls": "page",
    tabindex: each.id === shown ? "0" : "-1",
    onclick: () => open(each.id),
    onkeydown: (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      const next = PAGES[(PAGES.indexOf(each) + way + PAGES.length) % PAGES.length].id;
      open(next).then(() => document.getElementById(`tab-${next}`).focus());
    },
  }, t(each.title))));
}

function drawHistory() {
  document.getElementById("undo").disabled = !draft.undo;
  document.getElementById("redo").disabled = !draft.redo;
}

function drawView() {
  document.getElementById("internal").checked = view.internal;
  document.getElementById("confidential").hidden = !view.internal;
  document.body.classList.toggle("internal", view.internal);
}

async function start() {
  const asked = location.hash.slice(1);
  const words = speak(preferred());
  try {
    await Promise.all([enter(), nameTab()]);
    await Promise.all([loadView(), loadDraft(), words]);
  } catch (error) {
    await words;
    replace(page, el("div", { class: "closed" },
      el("h1", {}, t("shell.closed")), el("p", {}, t(error.status === 401 ? "shell.closedHint" : "shell.gone"))));
    if (error.status !== 401) refusal(error);
    return;
  }
  document.getElementById("home").onclick = () => { sessionStorage.setItem("shown", "start"); open("table"); };
  document.getElementById("help").onclick = async () => { if (shown !== "table") await open("table"); tour(); };
  document.getElementById("undo").onclick = () => step("undo");
  document.getElementById("redo").onclick = () => step("redo");
  document.getElementById("internal").onchange = (event) => showInternal(event.target.checked);
  const language = document.getElementById("language");
  language.value = current();
  language.onchange = () => speak(language.value);
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox";
    if (!(event.ctrlKey || event.metaKey) || typing || !["z", "y"].includes(event.key.toLowerCase())) return;
    event.preventDefault();
    step(event.key.toLowerCase() === "y" || event.shiftKey ? "redo" : "undo");
  });
  on("draft", drawHistory);
  on("view", drawView);
  onLanguage(async () => { await watchRuns(); await open(shown); });
  drawView();
  drawHistory();
  await watchRuns();
  await open(asked);
  if (tab.others && draft.content.data) notice(t(tab.copy ? "tab.copy" : "tab.new"));
  document.body.dataset.ready = String(Math.round(performance.now()));
}

start();
