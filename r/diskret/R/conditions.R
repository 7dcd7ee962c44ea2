#' Errors and warnings
#'
#' What is refused is an error of class `diskret_error` with the fields `code`, `what`, `where`, `hint` and `cures`, and
#' of a class that names its code, such as `diskret_error_T1`. The codes are explained on the page of errors of the
#' Python package. What deserves care is a warning of class `diskret_care`.
#'
#' No message holds a value of the data.
#'
#' @param error An error that was caught.
#' @return What the Python package proposes to cure it: a text for each way, none if there is none.
#' @examples
#' caught <- tryCatch(dk_min_count("three"), diskret_error = function(e) e)
#' caught$what
#' dk_cures(caught)
#' @export
dk_cures <- function(error) as.character(error$cures)

refuse <- function(what, hint = "", code = "R1", where = "", cures = character()) {
  lines <- c(
    sprintf("[%s] %s", code, what),
    if (nzchar(where)) paste("  where:", where),
    if (nzchar(hint)) paste("  what to do:", hint)
  )
  stop(structure(
    class = c(paste0("diskret_error_", code), "diskret_error", "error", "condition"),
    list(
      message = paste(lines, collapse = "\n"), call = NULL, code = code, what = what, where = where, hint = hint,
      cures = as.character(cures)
    )
  ))
}

warn_of_care <- function(words) {
  warning(structure(class = c("diskret_care", "warning", "condition"), list(message = words, call = NULL)))
}

number <- function(x, name, whole = FALSE) {
  if (!is.numeric(x) || length(x) != 1 || !is.finite(x) || (whole && x != round(x))) {
    refuse(sprintf("%s is not one %snumber", name, if (whole) "whole " else ""), sprintf("give one, such as %s = 3.", name))
  }
  if (whole) as.integer(x) else as.numeric(x)
}
