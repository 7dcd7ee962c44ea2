#' Hide cells so that nobody can compute a marked one
#'
#' Chooses further cells that have to be hidden and attacks the result with a solver.
#'
#' @param table What [dk_mark()] gave: a table, several, or linked ones.
#' @param promise What is promised, see [dk_promise()].
#' @param method `"moves"` (the whole table), `"cuboids"`, `"complete"` or `"optimal"` (small tables).
#' @param ... Options of the method, by the names they have in a job file: `effort`, `seconds`, `zeros`, `barriers`.
#' @param object What `dk_suppress()` gave.
#' @return A result (`dk_suppression`); of several tables several, of linked tables one, see [dk_split()].
#' @seealso [dk_audit()], [dk_explain()], [dk_publish()]
#' @examples
#' if (dk_available()) {
#'   firms <- data.frame(
#'     nace = rep(c("A", "B", "C"), c(5, 2, 6)), region = rep_len(c("N", "S"), 13), turnover = c(5, 8, 2, 7, 30, 4, 1:7)
#'   )
#'   table <- dk_mark(dk_tabulate(turnover ~ nace * region, firms), dk_min_count(3))
#'   result <- dk_suppress(table)
#'   summary(result)
#' }
#' @export
dk_suppress <- function(table, promise = dk_promise(), method = c("moves", "cuboids", "complete", "optimal"), ...) {
  method <- match.arg(method)
  name <- c(moves = "Moves", cuboids = "Cuboids", complete = "Complete", optimal = "Optimal")[[method]]
  how <- ask(dk()$methods[[name]], named = list(...))
  what <- promise_to_python(promise)
  protect <- function(one) held(ask(dk()$suppress, py_of(one), what, how), class = "dk_suppression")
  if (inherits(table, "dk_pool")) protect(table) else each_table(table, protect)
}

# The Python object of a table, of linked tables as one pool.
py_of <- function(x) {
  if (!inherits(x, "dk_pool")) {
    return(dk_python_object(x))
  }
  tables <- lapply(unclass(x), dk_python_object)
  given <- reticulate::py_dict(as.list(names(x)), unname(tables), convert = FALSE)
  ask(dk()$Pool$of, given)
}

#' What is promised about a protected table
#'
#' @param guard Against whom besides everybody: `"single"` (whoever is alone in a cell), `"public"` (nobody else), `"largest"`.
#' @param levels Whether intervals reach as far as the rules demand.
#' @param unions Whether the hidden cells of a line together must not break the rules.
#' @param min_relative_range,min_range What intervals must be longer than, relative to the value and absolutely.
#' @return A promise, for [dk_suppress()], [dk_audit()] and [dk_job()].
#' @examples
#' dk_promise(guard = "public")
#' @export
dk_promise <- function(guard = "single", levels = TRUE, unions = TRUE, min_relative_range = 0, min_range = NULL) {
  structure(said(
    guard = guard, levels = levels, unions = unions, min_relative_range = min_relative_range, min_range = min_range
  ), class = "dk_promise")
}

#' @export
print.dk_promise <- function(x, ...) {
  cat("<promise: ", paste(names(x), "=", vapply(unclass(x), format, ""), collapse = ", "), ">\n", sep = "")
  invisible(x)
}

promise_to_python <- function(promise) {
  if (!inherits(promise, "dk_promise")) refuse("this is no promise", "make one by dk_promise().")
  ask(dk()$Promise, named = unclass(promise))
}

#' @rdname dk_suppress
#' @export
summary.dk_suppression <- function(object, ...) {
  py <- dk_python_object(object)
  found <- r(bridge()$plain(reticulate::dict(facts = ask(py$summary), exposed = py$exposed, convert = FALSE)))
  structure(
    list(facts = found$facts, promise = reticulate::py_str(py$promise), exposed = found$exposed),
    class = "summary.dk_suppression"
  )
}

#' @export
print.summary.dk_suppression <- function(x, ...) {
  cat(x$facts$primary, "primary,", x$facts$secondary, "secondary cells\n")
  if (is.null(x$facts$audit)) {
    cat("not attacked: see dk_audit()\n")
  } else if (x$exposed) {
    cat(x$exposed, "cells or lines are exposed or undecided: not fit to be published\n")
  } else {
    cat("attacked with a solver: nothing is exposed\n")
  }
  cat(strwrap(x$promise, 100), sep = "\n")
  invisible(x)
}

#' The tables of a result about linked tables
#'
#' @param result What [dk_suppress()] gave for linked tables.
#' @return A list of tables by name, fit for [dk_publish()] and `as.data.frame()`.
#' @examples
#' if (dk_available()) {
#'   people <- data.frame(age = rep(c("young", "old"), 6), sex = rep(c("m", "w"), c(5, 7)), town = rep(c("a", "b", "c"), 4))
#'   linked <- dk_mark(dk_tabulate(~ age * sex + age * town, people), dk_small_cells(3))
#'   dk_split(dk_suppress(linked))
#' }
#' @export
dk_split <- function(result) {
  py <- dk_python_object(result)
  found <- ask(bridge()$split, py)
  names <- unlist(r(bridge()$names(found)))
  tables <- lapply(names, function(name) held(reticulate::py_get_item(found, name), class = "dk_table"))
  structure(stats::setNames(tables, names), class = "dk_several")
}

#' Attack a table with a solver
#'
#' @param x What [dk_suppress()] gave, or a table.
#' @param promise What is promised about it; left out: what the result promises.
#' @param intervals `"none"`, `"primary"` or `"hidden"`: whose intervals are computed.
#' @return A report (`dk_audit`): `safe` says whether anything was found; its data frame names what is exposed.
#' @examples
#' if (dk_available()) {
#'   cells <- data.frame(nace = rep(c("A", "B", "C"), c(4, 1, 6)), x = 1:11)
#'   result <- dk_suppress(dk_mark(dk_tabulate(x ~ nace, cells), dk_min_count(3)))
#'   dk_audit(result)$safe
#' }
#' @export
dk_audit <- function(x, promise = NULL, intervals = c("none", "primary", "hidden")) {
  intervals <- match.arg(intervals)
  py <- dk_python_object(x)
  is_result <- reticulate::py_has_attr(py, "promise") && reticulate::py_has_attr(py, "table")
  if (is.null(promise) && !is_result) promise <- dk_promise()
  what <- if (is.null(promise)) py$promise else promise_to_python(promise)
  table <- if (is_result) py$table else py
  report <- ask(dk()$audit, table, what, named = list(intervals = intervals))
  found <- r(bridge()$audited(report))
  held(
    report, safe = found$safe, exposed = as.character(found$exposed), undecided = as.character(found$undecided),
    intervals = from_python(found$intervals), class = "dk_audit"
  )
}

#' @export
print.dk_audit <- function(x, ...) {
  cat(if (x$safe) "<attacked: nothing is exposed>\n" else "<attacked: NOT safe>\n")
  if (length(x$exposed)) cat("exposed:", utils::head(x$exposed, 20), sep = "\n  ")
  if (length(x$undecided)) cat("undecided:", utils::head(x$undecided, 20), sep = "\n  ")
  invisible(x)
}

#' Why a cell is hidden
#'
#' @param result What [dk_suppress()] gave.
#' @param ... The codes of the cell, in the order of the classifications.
#' @return A text, for the house only: it tells whether a cell is primary or secondary.
#' @examples
#' if (dk_available()) {
#'   cells <- data.frame(nace = rep(c("A", "B", "C"), c(4, 1, 6)), x = 1:11)
#'   result <- dk_suppress(dk_mark(dk_tabulate(x ~ nace, cells), dk_min_count(3)))
#'   cat(dk_explain(result, "B"))
#' }
#' @export
dk_explain <- function(result, ...) {
  py <- dk_python_object(result)
  if (!reticulate::py_has_attr(py, "explain")) refuse("only what dk_suppress() gave is explained", "suppress first.")
  reticulate::py_str(do.call(ask, c(list(py$explain), lapply(list(...), as.character))))
}

#' Change values instead of hiding them
#'
#' `dk_perturb()` moves values along cuboids, all sums kept; `dk_round()` rounds all cells to multiples of a base, sums
#' included; `dk_adjust()` finds the nearest table outside all protection intervals.
#'
#' @param table What [dk_mark()] gave.
#' @param promise What is promised.
#' @param base To whose multiples is rounded.
#' @param seed A whole number; equal seeds give equal tables. It is secret.
#' @param seconds How long a better table is looked for.
#' @return A result with a changed table.
#' @examples
#' if (dk_available()) {
#'   people <- data.frame(age = rep(c("young", "old"), 6), sex = rep(c("m", "w"), c(5, 7)))
#'   dk_round(dk_mark(dk_tabulate(~ age * sex, people), dk_small_cells(3)), 3, seed = 1)
#' }
#' @export
dk_perturb <- function(table, promise = dk_promise(), seed = NULL) {
  changed(table, dk()$perturb, promise_to_python(promise), named = said(seed = seed_of(seed)))
}

#' @rdname dk_perturb
#' @export
dk_round <- function(table, base, seed = NULL) {
  changed(table, dk()$round_table, number(base, "base"), named = said(seed = seed_of(seed)))
}

#' @rdname dk_perturb
#' @export
dk_adjust <- function(table, promise = dk_promise(), seconds = 60) {
  changed(table, dk()$adjust, promise_to_python(promise), named = list(seconds = number(seconds, "seconds")))
}

changed <- function(table, f, ..., named) {
  each_table(table, function(one) held(ask(f, dk_python_object(one), ..., named = named), class = "dk_changed"))
}

seed_of <- function(seed) if (!is.null(seed)) number(seed, "seed", TRUE)

#' Publish a result
#'
#' Only codes, labels and open values leave; every hidden cell shows the same mark. What was never marked, and what nothing
#' protects, is refused.
#'
#' @param result What protected a table; several results over the same classifications; what [dk_anonymise()] gave.
#' @param path File to write; its ending chooses the format: `.csv`, `.xlsx`, `.parquet`, `.arrow`, `.json` (JSON-stat), `.px`,
#'   `.dta`, `.sav`, `.xpt` and others.
#' @param ... `mark`, `title`, `counts`, `language` and whatever the Python function `publish` takes.
#' @return The path, invisibly.
#' @examples
#' if (dk_available()) {
#'   cells <- data.frame(nace = rep(c("A", "B", "C"), c(4, 1, 6)), x = 1:11)
#'   result <- dk_suppress(dk_mark(dk_tabulate(x ~ nace, cells), dk_min_count(3)))
#'   file <- dk_publish(result, tempfile(fileext = ".csv"))
#'   readLines(file)
#' }
#' @export
dk_publish <- function(result, path, ...) {
  if (inherits(result, "dk_pool")) refuse("linked tables are not one file", "publish each of dk_split(result).")
  given <- if (inherits(result, "dk_several")) {
    tables <- lapply(unclass(result), dk_python_object)
    reticulate::py_dict(as.list(names(result)), unname(tables), convert = FALSE)
  } else {
    dk_python_object(result)
  }
  ask(dk()$publish, given, path.expand(path), named = list(...))
  invisible(path)
}
