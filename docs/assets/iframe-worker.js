// Search where no server answers (file://): browsers start no worker there, so its script runs in a hidden frame.
// After the idea of iframe-worker; loaded by every page of the documentation instead of a copy on somebody's server.
"use strict";
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow;
      const load = (address) => new Promise((done) => {
        const script = inside.document.createElement("script");
        script.src = address;
        script.onload = done;
        inside.document.body.appendChild(script);
      });
      inside.document.open();
      inside.document.write("<html><body></body></html>");
      inside.document.close();
      inside.postMessage = (message) => {
        this.dispatchEvent(new MessageEvent("message", { data: structuredClone(message) }));
        if (this.onmessage) this.onmessage(new MessageEvent("message", { data: structuredClone(message) }));
      };
      inside.importScripts = (...addresses) =>
        addresses.reduce((before, address) => before.then(() => load(address)), Promise.resolve());
      this.frame = frame;
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() =>
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
