/** The pages, in the order of their tabs. Each module has `show(root)`; it may give back a function that ends it. */

export const PAGES = [
  { id: "table", title: "page.table", load: () => import("../pages/table.js") },
  { id: "records", title: "page.records", book: "records", load: () => import("../pages/records.js") },
  { id: "plan", title: "page.plan", book: "records", load: () => import("../pages/plan.js") },
  { id: "request", title: "page.request", book: "requests", load: () => import("../pages/request.js") },
  { id: "ledger", title: "page.ledger", book: "requests", load: () => import("../pages/ledger.js") },
  { id: "runs", title: "page.runs", load: () => import("../pages/runs.js") },
];
