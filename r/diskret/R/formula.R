# A formula for classifications: values ~ nace * region. A star crosses, so that all margins are in the table; a plus
# begins another table, as linked tables are written.

classified <- function(formula, data_names = NULL) {
  if (!inherits(formula, "formula")) {
    refuse("the first argument is no formula", "write turnover ~ nace * region, or ~ nace * region to count.")
  }
  right <- formula[[length(formula)]]
  tables <- lapply(summands(right), crossed)
  if (anyDuplicated(lapply(tables, sort))) {
    refuse("two tables of the formula have the same classifications", "leave one of them out.")
  }
  list(values = if (length(formula) == 3) values_of(formula[[2]]) else character(), tables = tables)
}

values_of <- function(left) {
  if (is.call(left) && identical(left[[1]], as.name("cbind"))) {
    return(vapply(as.list(left)[-1], one_name, ""))
  }
  if (is.call(left) && identical(left[[1]], as.name("+"))) {
    return(unlist(lapply(as.list(left)[-1], values_of)))
  }
  one_name(left)
}

summands <- function(right) {
  if (is.call(right) && identical(right[[1]], as.name("+")) && length(right) == 3) {
    return(c(summands(right[[2]]), summands(right[[3]])))
  }
  if (is.call(right) && identical(right[[1]], as.name("("))) {
    return(summands(right[[2]]))
  }
  list(right)
}

crossed <- function(term) {
  if (is.call(term) && identical(term[[1]], as.name("(")) && length(summands(term)) == 1) {
    return(crossed(term[[2]]))
  }
  if (is.call(term) && identical(term[[1]], as.name("*"))) {
    found <- c(crossed(term[[2]]), crossed(term[[3]]))
    if (anyDuplicated(found)) refuse("a classification stands twice in a table of the formula", "name it once.")
    return(found)
  }
  if (is.call(term) && identical(term[[1]], as.name(":"))) {
    refuse("a colon in the formula", "write a star: a table always has its margins.")
  }
  one_name(term)
}

one_name <- function(term) {
  if (!is.name(term)) {
    refuse(
      sprintf("'%s' in the formula is not the name of a column", paste(deparse(term), collapse = " ")),
      "make a column of it first; unusual names stand in backticks."
    )
  }
  as.character(term)
}

# Attributes without an order of crossing: ~ region + age + sex.
listed <- function(formula) {
  if (!inherits(formula, "formula") || length(formula) != 2) {
    refuse("the columns are no one-sided formula", "write ~ region + age + sex.")
  }
  unique(unlist(lapply(summands(formula[[2]]), crossed)))
}
