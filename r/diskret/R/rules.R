#' Primary rules
#'
#' Which cells are sensitive. Several rules are joined by `|`: a cell is sensitive if one of them says so.
#'
#' @param n Fewest contributors of an open cell (`dk_min_count`); how many of the largest are looked at (`dk_dominance`), or
#'   work together (`dk_p_percent`, `dk_pq`); the smallest count that may be shown (`dk_small_cells`).
#' @param p,q Percentages, such as 10 for the p\% rule.
#' @param k Percentage that the n largest may have together.
#' @param counted_by `"respondent"` or `"holding"`.
#' @param margin How far the interval of such a cell reaches, in percent of its value; secret.
#' @param zeros Whether cells with value zero count, too.
#' @param margins Whether sums are judged too.
#' @param x,... Rules.
#' @return A rule, for [dk_mark()] and [dk_job()].
#' @examples
#' dk_min_count(3) | dk_p_percent(10)
#' dk_dominance(2, 85)
#' @name rules
NULL

#' @rdname rules
#' @export
dk_min_count <- function(n = 3, counted_by = "respondent", margin = NULL, zeros = FALSE) {
  rule("MinCount", "min_count", said(n = number(n, "n", TRUE), margin = margin, zeros = zeros), counted_by)
}

#' @rdname rules
#' @export
dk_p_percent <- function(p, n = 1, counted_by = "respondent") {
  rule("PPercent", "p_percent", list(p = number(p, "p"), n = number(n, "n", TRUE)), counted_by)
}

#' @rdname rules
#' @export
dk_pq <- function(p, q, n = 1, counted_by = "respondent") {
  rule("PQ", "pq", list(p = number(p, "p"), q = number(q, "q"), n = number(n, "n", TRUE)), counted_by)
}

#' @rdname rules
#' @export
dk_dominance <- function(n, k, counted_by = "respondent") {
  rule("Dominance", "dominance", list(n = number(n, "n", TRUE), k = number(k, "k")), counted_by)
}

#' @rdname rules
#' @export
dk_small_cells <- function(n = 3, margins = FALSE) {
  rule("SmallCells", "small_cells", list(n = number(n, "n", TRUE), margins = margins))
}

rule <- function(name, key, given, counted_by = NULL) {
  if (!is.null(counted_by) && !identical(counted_by, "respondent") && !identical(counted_by, "holding")) {
    refuse("counted_by says who counts as one", "give \"respondent\" or \"holding\".")
  }
  one <- list(name = name, key = key, given = given, counted_by = counted_by)
  structure(list(one), class = "dk_rules")
}

#' @rdname rules
#' @export
c.dk_rules <- function(...) structure(unlist(lapply(list(...), unclass), recursive = FALSE), class = "dk_rules")

#' @export
Ops.dk_rules <- function(e1, e2) {
  if (.Generic != "|" || missing(e2) || !inherits(e1, "dk_rules") || !inherits(e2, "dk_rules")) {
    refuse(sprintf("rules are not joined by %s", .Generic), "write dk_min_count(3) | dk_p_percent(10).")
  }
  c(e1, e2)
}

#' @rdname rules
#' @export
print.dk_rules <- function(x, ...) {
  for (each in unclass(x)) {
    words <- vapply(each$given, format, "")
    by <- if (identical(each$counted_by, "holding")) ", counted by holding"
    cat("<rule ", each$key, ": ", paste(names(words), "=", words, collapse = ", "), by, ">\n", sep = "")
  }
  invisible(x)
}

rules_to_python <- function(rules) {
  made <- lapply(unclass(rules), function(each) {
    more <- if (is.null(each$counted_by)) list() else list(counted_by = each$counted_by)
    ask(dk()$rules[[each$name]], named = c(each$given, more))
  })
  bridge()$any_of(reticulate::r_to_py(made))
}
