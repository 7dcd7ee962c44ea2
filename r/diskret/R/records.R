#' Anonymous records that keep their tables
#'
#' Every combination of the attributes that occurs, occurs at least `k` times, and the tables of the attributes change as
#' little as possible (SAFE).
#'
#' @param formula The attributes, the most important first: `~ region + age + sex`.
#' @param data A data frame with one row per person or firm, or the path of a file.
#' @param k How often a combination must occur at least.
#' @param hierarchies As for [dk_tabulate()].
#' @param seed A long whole number; equal seeds give equal records. It is secret; left out, one is drawn.
#' @return A result (`dk_anonymous`); `as.data.frame()` gives the records.
#' @examples
#' if (dk_available()) {
#'   people <- data.frame(age = rep(c("young", "old"), 10), sex = rep(c("m", "w"), c(9, 11)))
#'   table(as.data.frame(dk_anonymise(~ age + sex, people)))
#' }
#' @export
dk_anonymise <- function(formula, data, k = 3, hierarchies = list(), seed = NULL) {
  by <- listed(formula)
  refuse_missing(data, by)
  given <- if (is.data.frame(data)) to_python(data[by]) else path_of(data)
  attributes <- classifications_to_python(by, hierarchies, data)
  named <- said(k = number(k, "k", TRUE), seed = seed_of(seed))
  held(ask(dk()$anonymise, given, attributes, named = named), class = "dk_anonymous")
}

#' @export
summary.dk_anonymous <- function(object, ...) {
  structure(r(bridge()$plain(ask(dk_python_object(object)$summary))), class = "summary.dk_anonymous")
}

#' @export
print.summary.dk_anonymous <- function(x, ...) {
  cat(x$objects, "objects in", x$rows, "combinations, each at least", x$k, "times\n")
  bounds <- x[["largest deviation, at most"]]
  for (name in names(bounds)) {
    cat(sprintf("  %s-dimensional: largest deviation at most %s\n", name, format(bounds[[name]])))
  }
  invisible(x)
}

#' How anonymous records are
#'
#' @param formula The columns that an attacker may know: `~ region + age + sex`.
#' @param data A data frame, or the path of a file.
#' @param sensitive Columns whose values must not be told by belonging to a group.
#' @return What was measured; `k` is how many records look alike at least, `alone` how many are alone.
#' @examples
#' if (dk_available()) {
#'   dk_anonymity(~ age + sex, data.frame(age = c("young", "old", "old"), sex = c("m", "w", "w")))
#' }
#' @export
dk_anonymity <- function(formula, data, sensitive = character()) {
  keys <- listed(formula)
  refuse_missing(data, c(keys, sensitive))
  given <- if (is.data.frame(data)) to_python(data[unique(c(keys, sensitive))]) else path_of(data)
  found <- ask(dk()$measure_anonymity, given, named = list(keys = as.list(keys), sensitive = as.list(sensitive)))
  said <- r(bridge()$plain(reticulate::dict(k = found$k, alone = found$alone, convert = FALSE)))
  held(found, k = said$k, alone = said$alone, class = "dk_anonymity")
}
