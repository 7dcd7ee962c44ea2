/** What is chosen on one page, kept by the server with its history: a reload finds it again, and every step can be undone. */
import { get, post, put } from "./api.js";
import { attempt } from "./notices.js";

export class Choices {
  constructor(page) {
    this.path = `/api/choices/${page}`;
    this.content = {};
    this.undo = false;
    this.redo = false;
    this.listeners = new Set();
  }

  adopt(answer) {
    Object.assign(this, answer);
    for (const listener of [...this.listeners]) listener();
  }

  on(listener) {
    this.listeners.add(listener);
  }

  load() {
    return attempt(async () => this.adopt(await get(this.path)));
  }

  /** Change the choice: `edit` works on a copy, or gives a new one. */
  change(edit) {
    // one after the other: a change must not start from what another is about to replace
    this.last = (this.last ?? Promise.resolve()).then(() => {
      const copy = structuredClone(this.content);
      const content = edit(copy) ?? copy;
      return attempt(async () => this.adopt(await put(this.path, content)));
    });
    return this.last;
  }

  step(way) {
    return attempt(async () => this.adopt(await post(`${this.path}/${way}`)));
  }
}
