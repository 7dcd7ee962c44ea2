#' How the codes of a classification add up
#'
#' @param x What the codes add up to: a data frame with the columns `code` and `parent` (and `label`); a character vector
#'   of parents named by their codes; nested lists whose outermost name is the total; or the path of a file (`.hrc`, `.csv`,
#'   `.json`). Left out with `prefixes`.
#' @param prefixes Lengths of the first characters that are sums, such as `c(2, 3)` for the NACE.
#' @param total Code of the total, where `x` does not name one; "Total" if left out.
#' @return A hierarchy, to be named in `hierarchies`.
#' @examples
#' region <- dk_hierarchy(c("05111" = "05", "05112" = "05", "05" = "DE", "11" = "DE"))
#' region
#' as.data.frame(region)
#' dk_hierarchy(prefixes = c(2, 3))
#' @export
dk_hierarchy <- function(x = NULL, prefixes = NULL, total = NULL) {
  if (inherits(x, "dk_hierarchy")) {
    return(x)
  }
  if (!is.null(prefixes)) {
    lengths <- vapply(prefixes, number, 1L, name = "prefixes", whole = TRUE)
    return(structure(list(kind = "prefixes", lengths = lengths, total = total), class = "dk_hierarchy"))
  }
  if (is.character(x) && length(x) == 1 && is.null(names(x))) {
    if (!file.exists(x)) refuse(sprintf("there is no file '%s'", x), "name a file .hrc, .csv or .json.")
    return(structure(list(kind = "file", file = normalizePath(x), total = total), class = "dk_hierarchy"))
  }
  if (is.list(x) && !is.data.frame(x)) x <- nested_pairs(x)
  if (is.character(x) && !is.null(names(x))) {
    x <- data.frame(code = names(x), parent = unname(x), stringsAsFactors = FALSE)
  }
  if (!is.data.frame(x) || !all(c("code", "parent") %in% names(x))) {
    refuse("from this no hierarchy can be made", "give a data frame with the columns code and parent.")
  }
  pairs <- data.frame(code = as.character(x$code), parent = as.character(x$parent), stringsAsFactors = FALSE)
  labels <- if ("label" %in% names(x)) stats::setNames(as.character(x$label), pairs$code) else character()
  pairs <- pairs[!is.na(pairs$parent) & nzchar(pairs$parent), ]
  structure(list(kind = "parents", pairs = pairs, labels = labels[!is.na(labels)], total = total), class = "dk_hierarchy")
}

nested_pairs <- function(x, above = NULL) {
  found <- character()
  for (i in seq_along(x)) {
    name <- if (is.null(names(x)) || !nzchar(names(x)[i])) NULL else names(x)[i]
    below <- x[[i]]
    if (is.null(name)) { # plain codes
      found <- c(found, stats::setNames(rep(above, length(below)), as.character(unlist(below))))
      next
    }
    if (!is.null(above)) found <- c(found, stats::setNames(above, name))
    if (length(below)) found <- c(found, nested_pairs(if (is.list(below)) below else list(below), name))
  }
  found
}

#' @rdname dk_hierarchy
#' @param row.names,optional,... As everywhere.
#' @export
as.data.frame.dk_hierarchy <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (x$kind == "prefixes") {
    refuse("prefixes have codes only together with data", "look at the table that was made with them.")
  }
  as.data.frame(r(bridge()$codes(hierarchy_to_python(x))), stringsAsFactors = FALSE)
}

#' @export
print.dk_hierarchy <- function(x, ...) {
  if (x$kind == "prefixes") {
    cat("<hierarchy by the first", paste(x$lengths, collapse = ", "), "characters of the codes>\n")
  } else if (x$kind == "file") {
    cat("<hierarchy in the file ", x$file, ">\n", sep = "")
  } else {
    tops <- setdiff(x$pairs$parent, x$pairs$code)
    shown <- unlist(lapply(tops, branch, pairs = x$pairs, labels = x$labels))
    cat("<hierarchy of ", length(union(x$pairs$code, x$pairs$parent)), " codes>\n", sep = "")
    cat(utils::head(shown, 40), sep = "\n")
    if (length(shown) > 40) cat("... and", length(shown) - 40, "more\n")
  }
  invisible(x)
}

branch <- function(code, pairs, labels, depth = 0) {
  if (depth > 50) refuse(sprintf("code '%s' is part of itself", code), "correct the parents.")
  label <- if (code %in% names(labels)) paste0("  ", labels[[code]]) else ""
  below <- pairs$code[pairs$parent == code]
  c(paste0(strrep("  ", depth), code, label), unlist(lapply(below, branch, pairs, labels, depth + 1)))
}

hierarchy_to_python <- function(h, codes = NULL) {
  made <- dk()$Hierarchy
  if (h$kind == "prefixes") {
    return(ask(made$from_prefixes, as.list(codes), as.list(h$lengths), named = said(total = h$total)))
  }
  if (h$kind == "file") {
    return(ask(dk()$read_hierarchy, h$file, named = said(total = h$total)))
  }
  pairs <- unname(Map(function(a, b) reticulate::tuple(a, b), enc2utf8(h$pairs$code), enc2utf8(h$pairs$parent)))
  more <- if (length(h$labels)) list(labels = as.list(h$labels)) else list()
  if (length(setdiff(h$pairs$parent, h$pairs$code)) > 1) more$total <- if (is.null(h$total)) "Total" else h$total
  ask(made$from_parents, reticulate::r_to_py(pairs), named = more)
}

# What stands for each classification of a table: a hierarchy, or None, where all codes add up to one total.
classifications_to_python <- function(by, hierarchies, data) {
  unknown <- setdiff(names(hierarchies), by)
  if (length(hierarchies) && (is.null(names(hierarchies)) || length(unknown))) {
    refuse(
      sprintf("the hierarchies %s are of no classification of the formula", paste0("'", unknown, "'", collapse = ", ")),
      "name each hierarchy as the column it is about: hierarchies = list(region = ...)."
    )
  }
  made <- lapply(by, function(name) {
    given <- hierarchies[[name]]
    if (is.null(given)) {
      return(NULL)
    }
    codes <- if (is.data.frame(data)) sort(unique(stats::na.omit(as.character(data[[name]]))))
    given <- dk_hierarchy(given)
    if (given$kind == "prefixes" && is.null(codes)) {
      refuse("prefixes of codes in a file", "read the file into a data frame first, or write a job: dk_job().")
    }
    hierarchy_to_python(given, codes)
  })
  reticulate::py_dict(as.list(enc2utf8(by)), made, convert = FALSE)
}
