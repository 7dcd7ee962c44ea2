/** The first page: examples, a place to drop a file, the files of the workspace, the last runs, a tour. */
import { el, middle, replace } from "../../js/dom.js";
import { current, number, t } from "../../js/i18n.js";
import { runs, runTitle, view } from "../../js/store.js";
import { seen, tour, wasSeen } from "../../js/tour.js";
import { badge } from "./result.js";

const MOST_FILES = 40;
const MOST_RUNS = 6;

export const when = (seconds) => new Date(seconds * 1000).toLocaleString(current() === "de" ? "de-DE" : "en-GB", { dateStyle: "medium", timeStyle: "short" });

export function size(bytes) {
  const unit = bytes < 1000 ? 0 : bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3;
  const value = bytes / 1000 ** unit;
  return `${number(Math.round(value * (unit && value < 10 ? 10 : 1)) / (unit && value < 10 ? 10 : 1))} ${["B", "kB", "MB", "GB"][unit]}`;
}

/** `data` does what the first step does: `{ files, examples, example, use, take }`. */
export function startPage(data, { look, show }) {
  const offer = el("div", { class: "offer" });
  const drawOffer = () => replace(offer, wasSeen()
    ? el("button", { class: "quiet", id: "tour-again", onclick: tour }, t("tour.again"))
    : [el("span", {}, t("tour.offer")), el("button", { id: "tour-start", onclick: () => { tour(); drawOffer(); } }, t("tour.start")),
      el("button", { class: "quiet", id: "tour-never", onclick: () => { seen(); drawOffer(); } }, t("tour.never"))]);
  drawOffer();
  return el("div", { class: "start" },
    el("header", {}, el("h1", {}, t("empty.title")), el("p", { class: "muted" }, t("start.hint")), offer),
    el("section", { "aria-labelledby": "start-examples" }, el("h2", { id: "start-examples" }, t("data.examples")),
      el("div", { class: "examples wide-examples" }, data.examples.map((name) => el("button", { "data-example": name, onclick: () => data.example(name) },
        el("span", {}, t(`example.${name}`)), el("small", {}, t(`example.${name}.hint`)))))),
    el("section", { "aria-labelledby": "start-own" }, el("h2", { id: "start-own" }, t("start.own")), dropPlace(data), files(data, look)),
    lastRuns(show));
}

function dropPlace(data) {
  const input = el("input", { type: "file", class: "seen-not", id: "start-upload", multiple: true, accept: data.accept, "aria-label": t("data.upload"), onchange: () => data.take(input.files) });
  const drop = el("label", {
    class: "drop", for: "start-upload",
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
    ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); data.take(event.dataTransfer.files); },
  }, t("start.drop"), input);
  return drop;
}

function files(data, look) {
  const all = data.files;
  if (!all.length) return el("p", { class: "muted" }, t("start.noFiles", { folder: view.workspace }));
  const usable = (each) => each.kind === "data" || each.kind === "job";
  const sorted = [...all].sort((a, b) => usable(b) - usable(a) || b.changed - a.changed || a.name.localeCompare(b.name));
  return el("div", { class: "wide" }, el("table", { class: "plain files" },
    el("caption", {}, t("start.files", { folder: view.workspace })),
    el("thead", {}, el("tr", {}, ["start.name", "start.kind", "start.size", "start.changed", ""].map((key, i) => el("th", { scope: "col", class: i === 2 ? "number" : "" }, key && t(key))))),
    el("tbody", {}, sorted.slice(0, MOST_FILES).map((each) => el("tr", { "data-file": each.name },
      el("th", { scope: "row", title: each.name }, middle(each.name, 48)), el("td", {}, t(`filekind.${each.kind}`)), el("td", { class: "number" }, size(each.bytes)), el("td", {}, when(each.changed)),
      el("td", { class: "do" }, each.kind === "data" ? el("button", { class: "small", "data-look": each.name, "aria-label": `${t("start.look")}: ${each.name}`, onclick: () => look(each.name) }, t("start.look")) : null,
        usable(each) ? el("button", { class: "small", "data-use": each.name, "aria-label": `${t(each.kind === "job" ? "start.open" : "start.use")}: ${each.name}`, onclick: () => data.use(each.name) }, t(each.kind === "job" ? "start.open" : "start.use")) : null))))),
    sorted.length > MOST_FILES ? el("p", { class: "muted" }, t("start.more", { n: sorted.length - MOST_FILES })) : null);
}

function lastRuns(show) {
  const last = runs.all.filter((run) => run.kind === "job").slice(0, MOST_RUNS);
  if (!last.length) return null;
  return el("section", { "aria-labelledby": "start-runs" }, el("h2", { id: "start-runs" }, t("start.runs")),
    el("table", { class: "plain files" }, el("tbody", {}, last.map((run) => el("tr", {},
      el("th", { scope: "row", title: run.name }, middle(runTitle(run), 48)), el("td", {}, badge(run)), el("td", {}, when(run.started)),
      el("td", { class: "do" }, run.state === "finished" ? el("button", { class: "small", "data-show": run.id, "aria-label": `${t("runs.show")}: ${run.name}`, onclick: () => show(run.id) }, t("runs.show")) : null))))));
}
