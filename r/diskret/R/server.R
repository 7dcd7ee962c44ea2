#' A server on this machine
#'
#' Where Python may not run inside R. `diskret serve --api --workspace FOLDER`, started outside R, does the work; its address
#' and token stand in a file of the folder that only you can read.
#'
#' @param workspace The folder that is served.
#' @param x,... A server.
#' @return A server (`dk_server`), for [dk_run()].
#' @examples
#' \dontrun{
#' server <- dk_server("protected")
#' dk_run(dk_job(turnover ~ nace, firms, rules = dk_min_count(3)), server)
#' }
#' @export
dk_server <- function(workspace) {
  need("curl", "speaking with a server")
  need("jsonlite", "speaking with a server")
  file <- file.path(path.expand(workspace), ".diskret-api.json")
  if (!file.exists(file)) {
    refuse(
      "nobody serves this folder", sprintf("start it outside R: diskret serve --api --workspace %s", workspace),
      code = "R3", where = workspace
    )
  }
  found <- jsonlite::fromJSON(file)
  server <- structure(list(address = found$address, token = function() found$token), class = "dk_server")
  server$version <- asked_of(server, "GET", "/v1/about")$version
  server
}

#' @rdname dk_server
#' @export
print.dk_server <- function(x, ...) {
  cat("<diskret ", x$version, " at ", x$address, ">\n", sep = "")
  invisible(x)
}

# One request; what is refused there is an error of R.
asked_of <- function(server, method, path, body = NULL, as_json = TRUE) {
  handle <- curl::new_handle()
  # a proxy of the office has no business between two programs of one machine
  curl::handle_setopt(handle, customrequest = method, proxy = "", followlocation = FALSE)
  headers <- list(Authorization = paste("Bearer", server$token()), Expect = "")
  if (!is.null(body)) {
    curl::handle_setopt(handle, post = TRUE, postfieldsize_large = length(body), copypostfields = body)
    headers[["Content-Type"]] <- "application/octet-stream"
  }
  do.call(curl::handle_setheaders, c(list(handle), headers))
  answer <- tryCatch(curl::curl_fetch_memory(paste0(server$address, path), handle), error = function(e) {
    refuse("the server does not answer", "is it still running? start it, and connect again by dk_server().", code = "R3")
  })
  if (answer$status_code >= 400) {
    error <- tryCatch(
      jsonlite::fromJSON(rawToChar(answer$content), simplifyVector = FALSE)$error,
      error = function(e) list(what = sprintf("the server answered with code %d", answer$status_code))
    )
    refuse_as_told(error)
  }
  if (!as_json) {
    return(answer$content)
  }
  text <- rawToChar(answer$content)
  Encoding(text) <- "UTF-8"
  jsonlite::fromJSON(text, simplifyVector = FALSE)
}

refuse_as_told <- function(error) {
  text <- function(x) if (is.null(x)) "" else x
  cures <- vapply(error$cures, function(each) {
    sprintf("%s: %s = %s", each$label, each$key, jsonlite::toJSON(each$value, auto_unbox = TRUE))
  }, "")
  code <- if (nzchar(text(error$code))) error$code else "D0"
  refuse(text(error$what), text(error$hint), code = code, where = text(error$where), cures = cures)
}

#' Have a job done
#'
#' Hands in the data, waits for the end, and removes the data again. Warnings say what deserves care.
#'
#' @param job What [dk_job()] made.
#' @param server What [dk_server()] found.
#' @param name What the run is called.
#' @param check Whether everything is done but writing.
#' @param x,object A run.
#' @param row.names,optional,... As everywhere.
#' @param table For linked tables, which of them.
#' @return A run (`dk_run`): `as.data.frame()` gives the table as it may be published, hidden values missing; `summary()` the
#'   counts; [dk_fetch()] its files.
#' @examples
#' \dontrun{
#' run <- dk_run(dk_job(turnover ~ nace, firms, rules = dk_min_count(3)), dk_server("protected"))
#' as.data.frame(run)
#' }
#' @export
dk_run <- function(job, server, name = "R", check = FALSE) {
  if (!inherits(job, "dk_job")) refuse("this is no job", "make one by dk_job().")
  if (!inherits(server, "dk_server")) refuse("this is no server", "connect to one by dk_server().")
  mark <- paste0("r-", paste(sample(c(letters, 0:9), 12, TRUE), collapse = ""), "-")
  sent <- character()
  on.exit(for (each in sent) try(asked_of(server, "DELETE", paste0("/v1/files/", each)), silent = TRUE))
  for (each in job$files) {
    place <- paste0(mark, each$name)
    sent <- c(sent, place)
    asked_of(server, "PUT", paste0("/v1/files/", place), each$content())
  }
  asked <- list(job = renamed(job$job, mark), name = substr(name, 1, 80), check = isTRUE(check))
  run <- asked_of(server, "POST", "/v1/runs", charToRaw(enc2utf8(as.character(job_json(asked)))))
  finished <- FALSE
  on.exit(if (!finished) try(asked_of(server, "POST", paste0("/v1/runs/", run$id, "/cancel")), silent = TRUE), add = TRUE)
  while (run$state == "running") run <- asked_of(server, "GET", paste0("/v1/runs/", run$id, "?wait=30"))
  finished <- TRUE
  if (!is.null(run$error)) refuse_as_told(run$error)
  if (run$state != "finished") refuse(sprintf("the run was %s", run$state), "start it again.", code = "R3")
  for (each in run$warnings) warn_of_care(each)
  structure(list(run = run, server = server, by = job$by), class = "dk_run")
}

renamed <- function(job, mark) {
  job$data$microdata <- paste0(mark, job$data$microdata)
  job$classifications <- lapply(job$classifications, function(each) {
    if (!is.null(each$hierarchy)) each$hierarchy <- paste0(mark, each$hierarchy)
    each
  })
  if (!length(job$classifications)) job$classifications <- NULL
  job
}

#' @rdname dk_run
#' @export
print.dk_run <- function(x, ...) {
  cat("<run ", x$run$id, ": ", x$run$state, if (isTRUE(x$run$exposed)) ", NOT safe", ">\n", sep = "")
  names <- vapply(x$run$files, function(each) each$name, "")
  if (length(names)) cat("files:", paste(names, collapse = ", "), "\n")
  invisible(x)
}

#' @rdname dk_run
#' @export
summary.dk_run <- function(object, ...) {
  structure(list(tables = object$run$summary$tables, exposed = isTRUE(object$run$exposed)), class = "summary.dk_run")
}

#' @export
print.summary.dk_run <- function(x, ...) {
  for (name in names(x$tables)) {
    each <- x$tables[[name]]
    cat(name, ": ", format(each$cells, big.mark = ","), " cells\n", sep = "")
    print_counts("status", each$status)
    print_counts("rule", each$rules)
  }
  cat(if (x$exposed) "something is exposed: not fit to be published\n" else "nothing is exposed\n")
  invisible(x)
}

#' Files of a run
#'
#' @param run What [dk_run()] gave.
#' @param name Name of the file, such as `"table.xlsx"`.
#' @param path Where it is written; left out: the bytes are given.
#' @return The path, invisibly, or the bytes.
#' @examples
#' \dontrun{
#' dk_fetch(run, "table.xlsx", "turnover.xlsx")
#' }
#' @export
dk_fetch <- function(run, name, path = NULL) {
  if (!inherits(run, "dk_run")) refuse("this is no run", "give what dk_run() gave.")
  href <- Filter(function(each) each$name == name, run$run$files)
  if (!length(href)) {
    names <- vapply(run$run$files, function(each) each$name, "")
    refuse(sprintf("the run has no file '%s'", name), sprintf("it has %s.", paste(names, collapse = ", ")), code = "R3")
  }
  content <- asked_of(run$server, "GET", href[[1]]$href, as_json = FALSE)
  if (is.null(path)) {
    return(content)
  }
  writeBin(content, path.expand(path))
  invisible(path)
}

#' @rdname dk_run
#' @export
as.data.frame.dk_run <- function(x, row.names = NULL, optional = FALSE, ..., table = 1) {
  text <- rawToChar(dk_fetch(x, if (length(x$by) == 1) "table.csv" else paste0("table", table, ".csv")))
  Encoding(text) <- "UTF-8"
  read <- utils::read.csv(
    text = text, colClasses = "character", check.names = FALSE, na.strings = character(), encoding = "UTF-8"
  )
  keys <- x$by[[table]]
  for (name in setdiff(names(read), c(keys, paste0(keys, "_label")))) {
    value <- suppressWarnings(as.numeric(read[[name]])) # marks are no numbers
    if (!all(is.na(value))) read[[name]] <- value
  }
  if (!is.null(row.names)) row.names(read) <- row.names
  read
}
