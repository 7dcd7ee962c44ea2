"""The workbench: a page on this machine that does what job files do.

How it is laid out, and how a page is added:

- `serve` listens on the loopback address, `connections` ends connections that ask nothing, `guard` decides who may ask
  at all, `server` puts them together.
- `workspace` is the one way to files: nothing outside the chosen folder is read or written. What users hand in is read
  by `reading` in a process apart (`reader`), which may crash without harm; `confined` says what such processes may not.
- `routes/` answers requests, one module per subject, each with a list ``ROUTES``; a new one goes into
  ``routes/__init__.py``.
- `run_folders` keeps runs in the workspace and starts a process for each; `worker` is that process, `table_runs` and
  `record_runs` what it does and leaves. `run_files` and `stored_moves` read what stands in the folder of a run, and
  trust none of it.
- `grid` cuts windows out of tables; hidden values leave only while the session's internal view is switched on.
- `static/` is the page, plain ES modules without a build step: ``js/`` what all pages share, ``pages/`` one module per
  page with a function ``show(root)``; a new one goes into ``js/pages.js``, its words into ``i18n/en.json`` and
  ``i18n/de.json``.

What the page says is a job (`diskret.job.models.Job` as plain data); whatever runs, runs as a job.
"""
