#' Which Python does the work
#'
#' The Python package 'diskret' does the work, inside R through 'reticulate'. Say which Python has it before the first
#' call, or set the environment variable `RETICULATE_PYTHON`. Where Python may not run inside R, see [dk_server()].
#'
#' @param python Path of a Python, such as that of a virtual environment. Left out: the one that 'reticulate' finds.
#' @return `dk_python()` the version of the Python package, invisibly; `dk_available()` whether it can be used.
#' @examples
#' if (dk_available()) dk_python()
#' @export
dk_python <- function(python = NULL) {
  need("reticulate", "diskret inside R")
  if (!is.null(python)) {
    reticulate::use_python(python, required = TRUE)
  }
  said <- reticulate::import("diskret")[["__version__"]]
  if (is.null(python)) said else invisible(said)
}

#' @rdname dk_python
#' @export
dk_available <- function() {
  requireNamespace("reticulate", quietly = TRUE) &&
    isTRUE(tryCatch(reticulate::py_module_available("diskret"), error = function(e) FALSE))
}

#' The Python object behind a result
#'
#' For everything this package has no function of its own for: the object can be used with 'reticulate'.
#'
#' @param x A table or a result.
#' @return A Python object, not converted.
#' @examples
#' if (dk_available()) {
#'   table <- dk_tabulate(~ sex, data.frame(sex = c("m", "w", "w")))
#'   dk_python_object(table)$response
#' }
#' @export
dk_python_object <- function(x) {
  found <- if (inherits(x, "dk_held")) x$py else NULL
  if (is.null(found)) {
    refuse("this is no table and no result", "give what dk_tabulate(), dk_suppress() and others gave you.")
  }
  if (reticulate::py_is_null_xptr(found)) {
    refuse("the object is of an earlier session of R", "make it again; working files are kept by dk_publish() and jobs.")
  }
  found
}

# A value of R that holds an object of Python.
held <- function(py, ..., class) structure(list(py = py, ...), class = c(class, "dk_held"))

need <- function(package, what) {
  if (!requireNamespace(package, quietly = TRUE)) {
    refuse(
      sprintf("%s needs the package '%s', which is not installed", what, package),
      sprintf("install it, on Debian with apt-get install r-cran-%s.", tolower(package)),
      code = "R2"
    )
  }
}

kept <- new.env(parent = emptyenv())

bridge <- function() {
  if (is.null(kept$bridge)) {
    need("reticulate", "diskret inside R")
    if (!dk_available()) {
      refuse(
        "there is no Python with the package diskret",
        "name one by dk_python(\"path/to/python\") in a new session, or use a server: dk_server().",
        code = "R2"
      )
    }
    folder <- system.file("python", package = "diskret", mustWork = TRUE)
    kept$bridge <- reticulate::import_from_path("diskret_for_r", path = folder, convert = FALSE)
    kept$dk <- reticulate::import("diskret", convert = FALSE)
  }
  kept$bridge
}

dk <- function() {
  bridge()
  kept$dk
}

# Calls a function of Python: what is refused there is an error of R, what deserves care a warning.
ask <- function(f, ..., named = list()) {
  answer <- bridge()$call(f, reticulate::tuple(...), as_dict(named))
  care <- unlist(reticulate::py_to_r(reticulate::py_get_item(answer, 2L)))
  error <- reticulate::py_to_r(reticulate::py_get_item(answer, 1L))
  if (!is.null(error)) {
    refuse(error$what, error$hint, code = error$code, where = error$where, cures = unlist(error$cures))
  }
  for (each in care) warn_of_care(each)
  reticulate::py_get_item(answer, 0L)
}

# Even an empty list by names is one by names there.
as_dict <- function(x) reticulate::py_dict(as.list(names(x)), unname(x), convert = FALSE)

r <- function(x) reticulate::py_to_r(x)

said <- function(...) Filter(Negate(is.null), list(...))
