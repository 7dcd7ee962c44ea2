/** What is chosen on one page, kept by the server with its history: a reload finds it again, and every step can be undone. */
import { get, post, put } from "./api.js";
import { attempt } from "./notices.js";
import { saw, sending, settled } from "./tab.js";

export class Choices {
  constructor(page) {
    this.page = page;
    this.path = `/api/choices/${page}`;
    this.content = {};
    this.undo = false;
    this.redo = false;
    this.listeners = new Set();
    this.again = () => this.load();
    document.addEventListener("look-again", this.again);
  }

  adopt(answer) {
    Object.assign(this, answer);
    saw(this.page, answer.version);
    this.tell();
    return true;
  }

  tell() { for (const listener of [...this.listeners]) listener(); }

  on(listener) {
    this.listeners.add(listener);
  }

  end() { document.removeEventListener("look-again", this.again); }

  load() {
    return attempt(async () => this.adopt(await get(this.path)));
  }

  /** Change the choice: `edit` works on a copy, or gives a new one. */
  change(edit) {
    // one after the other: a change must not start from what another is about to replace
    this.last = sending((this.last ?? Promise.resolve()).then(() => {
      const copy = structuredClone(this.content);
      const content = edit(copy) ?? copy;
      // what was refused must not stay on the screen as if it were chosen
      return attempt(async () => this.adopt(await put(this.path, content))).then((taken) => taken ?? (this.tell(), false));
    }));
    return this.last;
  }

  step(way) { return this.take(`${this.path}/${way}`); }

  /** Take another choice that the server has: an earlier one, an example, a job file. */
  async take(path) {
    await settled();
    return sending(attempt(async () => this.adopt(await post(path))));
  }
}
