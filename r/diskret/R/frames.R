# Data frames to columns of Python, and back. A missing text would arrive as the text "NA", a missing whole number as
# the smallest there is: both are made plain here.

to_python <- function(data) {
  if (!is.data.frame(data)) {
    refuse("the data are no data frame", "give a data frame, or the path of a file.")
  }
  if (!nrow(data)) {
    refuse("there are no rows", "give at least one row.")
  }
  if (anyDuplicated(names(data))) {
    refuse("two columns of the data have the same name", "rename one of them.")
  }
  columns <- Map(column_to_python, data, names(data))
  reticulate::py_dict(as.list(enc2utf8(names(data))), unname(columns), convert = FALSE)
}

column_to_python <- function(x, name) {
  if (is.list(x) || !is.null(dim(x))) {
    refuse(sprintf("the column '%s' holds no plain values", name), "give one value per row: texts, numbers, dates.")
  }
  if (inherits(x, "integer64") || inherits(x, "Date") || inherits(x, "POSIXt")) {
    x <- as.character(x)
  }
  if (is.factor(x)) {
    return(bridge()$texts(bytes(replace(as.integer(x), is.na(x), 0L) - 1L), as.list(enc2utf8(levels(x)))))
  }
  if (is.character(x)) {
    different <- unique(x[!is.na(x)])
    at <- match(x, different) - 1L
    at[is.na(at)] <- -1L
    return(bridge()$texts(bytes(at), as.list(enc2utf8(different))))
  }
  if (is.logical(x)) {
    return(bridge()$flags(bytes(ifelse(is.na(x), -1L, as.integer(x)))))
  }
  if (!is.numeric(x)) {
    refuse(sprintf("the column '%s' is of class '%s'", name, class(x)[1]), "give texts, numbers, dates or factors.")
  }
  if (is.integer(x) && !anyNA(x)) {
    return(bridge()$integers(bytes(as.vector(unclass(x)))))
  }
  x <- as.numeric(x)
  x[is.na(x)] <- NaN
  bridge()$floats(bytes(x))
}

# Numbers travel as bytes: the reticulate of Debian knows only the arrays of another NumPy.
bytes <- function(x) reticulate::r_to_py(writeBin(x, raw()))

from_python <- function(columns, strings_as_factors = FALSE) {
  made <- lapply(columns, function(each) {
    if (each$kind != "text") {
      values <- readBin(each$values, "double", length(each$values) / 8)
      return(if (each$kind == "flag") values == 1 else replace(values, is.nan(values), NA))
    }
    values <- readBin(each$values, "integer", length(each$values) / 4)
    texts <- enc2utf8(as.character(unlist(each$texts)))
    if (strings_as_factors) factor(values + 1L, seq_along(texts), texts) else texts[values + 1L]
  })
  names(made) <- vapply(columns, function(each) each$name, "")
  as.data.frame(made, optional = TRUE, stringsAsFactors = FALSE)
}

#' Results as data frames
#'
#' What a result shows as a data frame is what may be published: values are missing (`NA`) where they are hidden, and
#' everywhere in a table that nothing protects yet. `internal = TRUE` gives all values, which are confidential, with
#' counts, statuses and largest contributions.
#'
#' @param x A table or a result.
#' @param row.names,optional,... As everywhere.
#' @param internal Whether all values are meant.
#' @param stringsAsFactors Whether codes become factors, in the order of the table.
#' @return A data frame with one row per cell, or per record; of an audit with intervals one per cell attacked.
#' @examples
#' if (dk_available()) {
#'   firms <- data.frame(nace = c("A", "A", "A", "B", "C", "C", "C"), turnover = c(5, 3, 9, 20, 4, 6, 5))
#'   table <- dk_mark(dk_tabulate(turnover ~ nace, firms), dk_min_count(3))
#'   as.data.frame(dk_suppress(table))
#' }
#' @export
as.data.frame.dk_held <- function(x, row.names = NULL, optional = FALSE, ..., internal = FALSE,
                                  stringsAsFactors = FALSE) {
  py <- dk_python_object(x)
  if (!reticulate::py_has_attr(py, "shown")) {
    refuse("this result has no rows", "print it, or ask for its summary().")
  }
  shown <- ask(py$shown, named = list(internal = isTRUE(internal)))
  made <- from_python(r(bridge()$columns(shown)), stringsAsFactors)
  if (!is.null(row.names)) row.names(made) <- row.names
  made
}

#' @export
as.data.frame.dk_several <- function(x, row.names = NULL, optional = FALSE, ...) {
  refuse("these are several tables", "take one of them: x[[\"name\"]], or lapply(x, as.data.frame).")
}
