#' Tables of records
#'
#' Adds records up to a table with all its sums. The formula says of what over which classifications: `turnover ~ nace *
#' region` adds turnover up, `~ nace * region` counts, `cbind(turnover, wages) ~ nace` makes two tables at once, and
#' `turnover ~ nace * region + nace * size` two linked ones, which are protected together.
#'
#' @param formula Values on the left, classifications on the right.
#' @param data A data frame with one row per record, or the path of a file.
#' @param hierarchies How codes add up, by the name of the column: what [dk_hierarchy()] makes or takes. All others have
#'   one total.
#' @param weight,holding,cost,shadow Columns by name: sampling weights, owners of several records, prices of hiding,
#'   contributions to judge instead of the value.
#' @param missing Codes under which records without one are counted, by the name of the column.
#' @param totals Codes in the data that are totals, by the name of the column.
#' @param without_value What becomes of records without a number: `"refuse"`, `"zero"` or `"leave out"`.
#' @param positive Whether negative values are refused.
#' @param largest How many of the largest contributions are kept, for rules to come.
#' @param x,object A table.
#' @param ... Not used.
#' @return A table (`dk_table`), a list of them by value (`dk_several`), or linked tables (`dk_pool`).
#' @seealso [dk_mark()], [dk_suppress()], [as.data.frame.dk_held()], [plot.dk_table()]
#' @examples
#' if (dk_available()) {
#'   firms <- data.frame(
#'     nace = rep(c("101", "102", "201"), c(4, 2, 6)), region = rep(c("N", "S"), 6), turnover = c(5, 8, 2, 7, 30, 4, 1:6)
#'   )
#'   dk_tabulate(turnover ~ nace * region, firms, hierarchies = list(nace = dk_hierarchy(prefixes = 1)))
#' }
#' @export
dk_tabulate <- function(formula, data, hierarchies = list(), weight = NULL, holding = NULL, cost = NULL, shadow = NULL,
                        missing = NULL, totals = NULL, without_value = "refuse", positive = FALSE, largest = 2) {
  asked <- classified(formula)
  unknown <- setdiff(names(hierarchies), unlist(asked$tables))
  if (length(unknown)) {
    refuse(
      sprintf("the hierarchies %s are of no classification of the formula", paste0("'", unknown, "'", collapse = ", ")),
      "name each hierarchy as the column it is about: hierarchies = list(region = ...)."
    )
  }
  refuse_missing(data, c(asked$values, unlist(asked$tables), weight, holding, cost, shadow))
  given <- if (is.data.frame(data)) {
    to_python(data[unique(c(asked$values, unlist(asked$tables), weight, holding, cost, shadow))])
  } else {
    path_of(data)
  }
  roles <- ask(dk()$Roles, named = said(weight = weight, holding = holding, cost = cost, shadow = shadow))
  made <- lapply(asked$tables, function(by) {
    inside <- function(x) if (length(x <- as.list(x)[intersect(names(x), by)])) lapply(x, as_list_of_texts)
    options <- said(
      missing = inside(missing), totals = inside(totals), without_value = without_value, positive = isTRUE(positive)
    )
    named <- list(
      by = classifications_to_python(by, hierarchies[intersect(names(hierarchies), by)], data),
      largest = number(largest, "largest", TRUE), roles = roles, options = ask(dk()$TabulationOptions, named = options)
    )
    if (length(asked$values)) {
      named$value <- if (length(asked$values) == 1) asked$values else as.list(asked$values)
    }
    ask(dk()$tabulate, given, named = named)
  })
  if (length(made) > 1) {
    if (length(asked$values) > 1) {
      refuse("several values over several tables", "make the linked tables of one value at a time.")
    }
    names(made) <- vapply(asked$tables, paste, "", collapse = " * ")
    return(structure(lapply(made, held, class = "dk_table"), class = c("dk_pool", "dk_several")))
  }
  if (length(asked$values) > 1) {
    tables <- lapply(asked$values, function(name) held(reticulate::py_get_item(made[[1]], name), class = "dk_table"))
    return(structure(stats::setNames(tables, asked$values), class = "dk_several"))
  }
  held(made[[1]], class = "dk_table")
}

as_list_of_texts <- function(x) if (length(x) == 1) as.character(x) else as.list(as.character(x))

refuse_missing <- function(data, columns) {
  if (!is.data.frame(data)) {
    return(invisible())
  }
  unknown <- setdiff(columns, names(data))
  if (length(unknown)) {
    refuse(
      sprintf("no column %s", paste0("'", unknown, "'", collapse = ", ")),
      sprintf("the columns are %s.", paste0("'", utils::head(names(data), 20), "'", collapse = ", ")),
      code = "T1", where = "the data frame"
    )
  }
}

path_of <- function(data) {
  if (!is.character(data) || length(data) != 1) {
    refuse("the data are neither a data frame nor the path of a file", "give one of them.")
  }
  path.expand(data)
}

#' Mark sensitive cells
#'
#' @param table What [dk_tabulate()] made.
#' @param ... Rules, see [rules].
#' @return The table with its primary cells marked.
#' @examples
#' if (dk_available()) {
#'   table <- dk_tabulate(~ sex, data.frame(sex = c("m", "m", "w", "w", "w")))
#'   dk_mark(table, dk_small_cells(3))
#' }
#' @export
dk_mark <- function(table, ...) {
  rules <- list(...)
  if (!length(rules) || !all(vapply(rules, inherits, NA, "dk_rules"))) {
    refuse("there is no rule to mark by", "give at least one, such as dk_min_count(3).")
  }
  rules <- do.call(c, rules)
  each_table(table, function(one) held(ask(dk()$mark, dk_python_object(one), rules_to_python(rules)), class = "dk_table"))
}

# One table, or each of several.
each_table <- function(x, f) {
  if (inherits(x, "dk_several")) structure(lapply(unclass(x), f), class = class(x)) else f(x)
}

#' @rdname dk_tabulate
#' @export
print.dk_held <- function(x, ...) {
  cat("<", reticulate::py_str(dk_python_object(x)), ">\n", sep = "")
  invisible(x)
}

#' @export
print.dk_several <- function(x, ...) {
  cat(if (inherits(x, "dk_pool")) "<linked tables>\n" else "<tables>\n")
  for (name in names(x)) {
    cat(name, ": ", sep = "")
    print(x[[name]])
  }
  invisible(x)
}

#' @rdname dk_tabulate
#' @export
summary.dk_table <- function(object, ...) {
  found <- r(bridge()$summary(dk_python_object(object)))
  structure(found, class = "summary.dk_table")
}

#' @export
print.summary.dk_table <- function(x, ...) {
  cat(format(x$cells, big.mark = ","), "cells,", format(x$occupied, big.mark = ","), "occupied\n")
  print_counts("status", x$status)
  print_counts("rule", x$rules)
  invisible(x)
}

print_counts <- function(title, counts) {
  if (length(counts)) {
    cat(sprintf("%s:\n", title), sprintf("  %-18s %s\n", names(counts), format(unlist(counts), big.mark = ",")), sep = "")
  }
}
