/** The editor of one classification's tree: opened from its column, saved as a hierarchy file and set in the choice. */
import { get, post } from "../../js/api.js";
import { el, field, options, replace } from "../../js/dom.js";
import { learn, number, t } from "../../js/i18n.js";
import { notice, refusal } from "../../js/notices.js";
import { change, draft } from "../../js/store.js";
import { asked } from "./tree/ask.js";
import { makePanel } from "./tree/make.js";
import { MISSING, Outline } from "./tree/outline.js";
import { TreeView } from "./tree/view.js";

const MOST_KEPT = 2_000_000;

/** Open the tree of a column; `set(classification)` puts what was saved into the choice. Gives the file's name, if any. */
export async function openTree(column, { content = draft.content, set } = {}) {
  await learn("tree");
  const keep = set ?? ((said) => change((c) => { (c.classifications ??= {})[column] = said; }));
  try {
    const found = await post("/api/trees/open", { column, content });
    return await new Promise((resolve) => new Editor(column, structuredClone(content), found, keep, resolve));
  } catch (error) {
    refusal(error);
    return undefined;
  }
}

class Editor {
  constructor(column, content, found, keep, done) {
    Object.assign(this, { column, content, keep, done, past: [], future: [], last: Promise.resolve(), before: document.activeElement });
    this.data = found.codes;
    this.totals = found.totals;
    this.cells = Boolean(content.data.cells);
    this.counts = found.counts && new Map(found.codes.map((code, i) => [code, found.counts[i]]));
    this.view = new TreeView((what, given) => this.act(what, given));
    this.said = el("p", { class: "said-here", id: "tree-said", role: "status" });
    this.tools = el("div", { class: "tree-tools", role: "toolbar", "aria-label": t("tree.tools") });
    this.fit = el("div", { class: "tree-fit", role: "status" });
    this.form = el("div", { class: "tree-ask" });
    this.view.root.setAttribute("aria-label", t("tree.title", { name: column }));
    this.root = el("dialog", { class: "tree-editor", "aria-labelledby": "tree-title", onkeydown: (event) => this.key(event), oncancel: (event) => { event.preventDefault(); this.escape(); } },
      el("header", {}, el("h2", { id: "tree-title" }, t("tree.title", { name: column })), el("button", { class: "quiet", id: "tree-close", "aria-label": t("tree.close"), onclick: () => this.close() }, "✕")),
      this.tools, el("div", { class: "tree-body" }, el("div", { class: "tree-main" }, this.form, this.view.root, this.said),
        el("aside", { class: "tree-side" }, this.fit, makePanel(this), this.saving(), el("small", {}, t("tree.keys")))));
    document.body.append(this.root);
    this.root.showModal();
    this.begin(found.tree);
    this.view.root.focus();
    if (found.problem) this.tell(`${found.problem.what}. ${t("tree.problem")}`, true);
  }

  begin(tree) {
    this.outline = new Outline(tree, this);
    const { outline, view } = this;
    view.open.add(outline.codes[outline.total]).add(MISSING);
    if (outline.codes.length < 200) outline.codes.forEach((code) => view.open.add(code));
    view.active = null;
    this.draw();
  }

  adopt(tree) {
    this.outline = new Outline(tree, this);
    this.draw();
  }

  draw() {
    this.view.show(this.outline, this.counts);
    this.drawTools();
    this.drawFit();
    this.drawSaving?.();
  }

  tell(text, bad = false) {
    this.said.textContent = text;
    this.said.className = `said-here${bad ? " bad" : ""}`;
    this.said.setAttribute("role", bad ? "alert" : "status");
  }

  /** Run what may be refused; the page's own messages stand behind this window. */
  async attempt(work) {
    try {
      this.tell("");
      return await work();
    } catch (error) {
      if (error.what === undefined) throw error;
      this.tell([error.what, error.hint].filter(Boolean).join(". "), true);
      return undefined;
    }
  }

  // --- edits ----------------------------------------------------------------------------------------------------

  /** One edit after the other: none starts from a tree that another is about to replace. */
  edit(edit, then) {
    this.last = this.last.then(() => this.attempt(async () => {
      const found = await post("/api/trees/edit", { tree: this.outline.plain, edit });
      this.take(found.tree);
      then?.();
    }));
    return this.last;
  }

  /** A new tree, with a way back. */
  take(tree) {
    this.past.push(this.outline.plain);
    while (this.past.length > 1 && this.past.length * tree.codes.length > MOST_KEPT) this.past.shift();
    this.future = [];
    this.adopt(tree);
  }

  step(from, to) {
    if (!from.length) return;
    to.push(this.outline.plain);
    this.adopt(from.pop());
    this.tell("");
  }

  get chosen() { return this.view.selected.size ? [...this.view.selected] : [this.view.active].filter((code) => code !== MISSING && code !== this.total); }
  get total() { return this.outline.codes[this.outline.total]; }

  move(codes, under, before = null) {
    if (!codes.length || under === undefined) return undefined;
    return this.edit({ do: "move", codes, under, before }, () => { this.view.cut.clear(); this.view.open.add(under); this.view.reveal(codes[0]); this.view.select(codes); this.draw(); });
  }

  act(what, given = {}) {
    if (what === "looked") this.drawTools();
    else if (what === "drop") this.move(given.codes, given.under, given.before);
    else if (what === "rename") this.rename(given.code);
    else if (this[what]) this[what](given.code);
  }

  cut() {
    this.view.cut = new Set(this.chosen);
    this.view.mark();
    this.tell(t("tree.isCut", { n: this.view.cut.size }));
    this.drawTools();
  }

  paste(code = this.view.active) {
    const codes = [...this.view.cut];
    if (!this.outline.has(code)) return undefined;
    return this.outline.holds(code) ? this.move(codes, code) : this.move(codes, this.outline.up(code), this.outline.next(code));
  }

  /** Into the sum before it; behind its own sum; one place up or down. */
  indent() {
    const [first] = this.chosen;
    const all = first === undefined ? [] : this.outline.siblings(first);
    const sum = all.slice(0, all.indexOf(first)).reverse().find((code) => !this.chosen.includes(code));
    if (sum !== undefined && this.outline.holds(sum)) return this.move(this.chosen, sum);
    return this.tell(t("tree.noSumBefore"), true);
  }

  outdent() {
    const up = this.outline.up(this.chosen[0]);
    if (up !== undefined && up !== this.total) this.move(this.chosen, this.outline.up(up), this.outline.next(up));
  }

  up() { this.along(-1); }
  down() { this.along(1); }
  along(way) {
    const code = this.view.active;
    const all = this.outline.siblings(code);
    const to = all.indexOf(code) + way;
    if (this.outline.has(code) && to >= 0 && to < all.length) this.move([code], this.outline.up(code), way < 0 ? all[to] : all[to + 1] ?? null);
  }

  async group() {
    const codes = this.chosen;
    if (!codes.length) return this.tell(t("tree.chooseFirst"), true);
    const given = await asked(this.form, t("tree.groupOf", { n: codes.length }), { name: "", label: "" });
    this.view.root.focus();
    if (given) await this.edit({ do: "group", codes, name: given.name.trim(), label: given.label }, () => { this.view.open.add(given.name.trim()); this.view.reveal(given.name.trim()); this.view.select([given.name.trim()]); this.draw(); });
    return undefined;
  }

  async rename(code = this.view.active) {
    if (!this.outline.has(code)) return;
    const fixed = this.outline.known.has(code) && !this.outline.isSum(code);
    const before = { name: code, label: this.outline.label(code) };
    const given = await asked(this.form, t(fixed ? "tree.labelOf" : "tree.nameOf", { code }), fixed ? { label: before.label } : before);
    this.view.root.focus();
    if (!given) return;
    const name = given.name?.trim() ?? code;
    if (name !== code) await this.edit({ do: "rename", code, to: name }, () => { if (this.view.open.has(code)) this.view.open.add(name); this.view.active = name; this.draw(); });
    if (given.label !== before.label && this.outline.has(name)) await this.edit({ do: "label", code: name, label: given.label });
  }

  dissolve() { return this.edit({ do: "dissolve", codes: this.chosen }); }
  merge() { return this.edit({ do: "merge", codes: this.chosen }); }
  remove(codes = this.chosen) { return this.edit({ do: "remove", codes }); }
  /** Sums are dissolved, codes without data taken out; a code of the data stays. */
  delete() {
    const sums = this.chosen.filter((code) => this.outline.isSum(code));
    const empty = this.chosen.filter((code) => this.outline.empty.includes(code));
    if (sums.length) this.edit({ do: "dissolve", codes: sums });
    else if (empty.length) this.remove(empty);
    else this.tell(t("tree.hasData"), true);
  }

  // --- what stands around the tree --------------------------------------------------------------------------------

  drawTools() {
    const { outline, view, chosen } = this;
    const sums = chosen.filter((code) => outline.isSum(code)).length;
    const button = (id, on, work = () => this[id]()) => el("button", { class: "small", id: `tree-${id}`, disabled: !on, onclick: work }, t(`tree.${id}`));
    const active = document.activeElement?.id;
    replace(this.tools, button("undo", this.past.length, () => this.step(this.past, this.future)), button("redo", this.future.length, () => this.step(this.future, this.past)),
      button("group", chosen.length), button("dissolve", chosen.length && sums === chosen.length), button("merge", sums > 1 && sums === chosen.length), button("rename", outline.has(view.active), () => this.rename()),
      button("indent", chosen.length), button("outdent", chosen.length), button("cut", chosen.length), button("paste", view.cut.size, () => this.paste()),
      button("single", outline.single, () => this.edit({ do: "single" })),
      button("openAll", true, () => { const all = view.open.size < outline.codes.length; view.open = new Set(all ? [...outline.codes, MISSING] : [this.total, MISSING]); view.refresh(); }));
    if (active && document.activeElement?.id !== active) document.getElementById(active)?.focus();
  }

  drawFit() {
    const { outline } = this;
    const pick = (id, codes) => el("button", { class: "small", id, onclick: () => { for (const code of codes) this.view.reveal(code); this.view.select(codes); this.view.mark(); this.drawTools(); this.view.root.focus(); } }, t("tree.select"));
    const line = (id, codes, ...more) => (codes.length ? el("div", { class: "row apart", "data-fit": id }, el("span", {}, t(`tree.fit.${id}`, { n: codes.length })), el("span", { class: "row" }, pick(`pick-${id}`, codes), ...more)) : null);
    const clear = el("button", { class: "small", id: "drop-empty", onclick: () => this.remove(outline.empty) }, t("tree.takeOut"));
    const fine = !outline.missing.length && !outline.empty.length && !outline.sums.length;
    replace(this.fit, el("strong", {}, t("tree.size", { n: outline.codes.length, sums: number(outline.codes.filter((_, i) => outline.children[i].length).length) })),
      line("missing", outline.missing), line("empty", outline.empty, clear), line("sums", outline.sums), fine ? el("small", {}, t("tree.fit.fine")) : null);
  }

  saving() {
    const before = this.content.classifications?.[this.column]?.hierarchy ?? "";
    const stem = before.match(/^([^/]+)\.(?:csv|hrc)$/i)?.[1] ?? `${this.column.replace(/[^\p{L}\p{N}_-]+/gu, "-")}-tree`;
    const name = el("input", { id: "tree-name", value: stem });
    const ending = options(el("select", { id: "tree-ending" }), [[".csv", ".csv"], [".hrc", ".hrc"]], /\.hrc$/i.test(before) ? ".hrc" : ".csv");
    const anyway = el("input", { type: "checkbox", id: "tree-anyway" });
    const all = el("label", { class: "check", hidden: true }, anyway, t("tree.anyway"));
    const button = el("button", { class: "main", id: "tree-save", onclick: () => this.save(`${name.value.trim()}${ending.value}`, anyway.checked) }, t("tree.save"));
    this.drawSaving = () => {
      const { outline } = this;
      const lost = ending.value === ".hrc" && outline.labels.some((label, i) => label !== outline.codes[i]);
      all.hidden = !(outline.missing.length || outline.sums.length || lost);
      if (all.hidden) anyway.checked = false;
      button.disabled = !all.hidden && !anyway.checked;
    };
    ending.onchange = this.drawSaving;
    anyway.onchange = this.drawSaving;
    return el("div", { class: "group" }, el("h3", {}, t("tree.saveTitle")), el("div", { class: "two" }, field(t("tree.file"), name), field(t("tree.kind"), ending, t("tree.kindHint"))), all, button);
  }

  async save(name, anyway) {
    await this.last;
    await this.attempt(async () => {
      const there = (await get("/api/files")).files.some((each) => each.name === name);
      if (there && !confirm(t("data.replace", { name }))) return;
      const done = await post("/api/trees/save", { column: this.column, content: this.content, tree: this.outline.plain, name, anyway, replace: there });
      await this.keep(done.classification);
      notice(t("tree.saved", { name: done.name }));
      this.end(done.name);
    });
  }

  key(event) {
    event.stopPropagation();
    if (!(event.ctrlKey || event.metaKey) || event.target.tagName === "INPUT") return;
    if (event.key === "z") { event.preventDefault(); this.step(this.past, this.future); }
    if (event.key === "y") { event.preventDefault(); this.step(this.future, this.past); }
  }

  escape() {
    if (this.view.drag.busy) this.view.drag.end();
    else if (this.form.childElementCount) this.form.querySelector(".cancel").click();
    else if (this.view.cut.size) { this.view.cut.clear(); this.view.mark(); this.tell(""); this.drawTools(); }
    else this.close();
  }

  close() { if (!this.past.length || confirm(t("tree.leave"))) this.end(); }

  end(name) {
    this.view.end();
    this.root.close();
    this.root.remove();
    this.before?.focus?.();
    this.done(name);
  }
}
