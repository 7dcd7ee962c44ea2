#' A job, without Python
#'
#' Says what [dk_tabulate()], [dk_mark()] and [dk_suppress()] would do as one job, to be done by a server on this machine
#' ([dk_run()]) or by `diskret run` ([dk_write_job()]).
#'
#' @param formula,data,hierarchies As for [dk_tabulate()].
#' @param rules Rules joined by `|`, see [rules]; none for a table that is not protected.
#' @param promise What is promised, see [dk_promise()].
#' @param suppress Keys of the section `[suppression]` of a job, such as `list(effort = "quick")`; `NULL` hides nothing more
#'   than primary cells.
#' @param publish Files for everybody that are made besides, such as `c("table.xlsx", "table.dta")`.
#' @param ... Further sections of a job as lists, such as `perturbation = list(...)`, `output = list(title = "Trade")`.
#' @param x A job.
#' @return A job (`dk_job`).
#' @examples
#' firms <- data.frame(nace = c("A", "A", "A", "B"), turnover = c(5, 3, 9, 20))
#' dk_job(turnover ~ nace, firms, rules = dk_min_count(3))
#' @export
dk_job <- function(formula, data, hierarchies = list(), rules = NULL, promise = dk_promise(), suppress = list(),
                   publish = character(), ...) {
  asked <- classified(formula)
  by <- unique(unlist(asked$tables))
  refuse_missing(data, c(asked$values, by))
  files <- list(data_file(data, unique(c(by, asked$values))))
  job <- list(data = list(microdata = files[[1]]$name))
  for (name in by) {
    if (is.null(hierarchies[[name]])) next
    made <- classification_of(name, dk_hierarchy(hierarchies[[name]]))
    job$classifications[[name]] <- made$said
    files <- c(files, made$files)
  }
  tables <- lapply(asked$tables, function(each) {
    c(list(by = as.list(each)), if (length(asked$values)) list(value = as.list(asked$values)))
  })
  job$rules <- rules_of_job(rules)
  job$promise <- unclass(promise)
  if (!is.null(suppress)) job$suppression <- as_object(suppress)
  if (length(tables) == 1) {
    job$table <- tables[[1]]
    job$output <- list(publish = as.list(c("table.csv", publish)))
  } else {
    names(tables) <- paste0("table", seq_along(tables))
    job$tables <- Map(function(each, name) {
      c(each, list(output = list(publish = list(paste0(name, ".csv")))))
    }, tables, names(tables))
  }
  more <- list(...)
  for (key in names(more)) job[[key]] <- utils::modifyList(as.list(job[[key]]), as.list(more[[key]]))
  structure(list(job = job, files = files, by = asked$tables), class = "dk_job")
}

as_object <- function(x) if (length(x)) x else structure(list(), names = character())

# A file that goes with a job: its name there, and its bytes when they are needed.
data_file <- function(data, columns) {
  if (is.data.frame(data)) {
    return(list(name = "data.csv", content = function() csv_bytes(data[columns])))
  }
  path <- path_of(data)
  if (!file.exists(path)) refuse(sprintf("there is no file '%s'", path), "name the file with the data.", code = "T12")
  list(name = paste0("data.", sub("^.*?\\.", "", basename(path))), content = function() file_bytes(path))
}

file_bytes <- function(path) readBin(path, "raw", file.size(path))

csv_bytes <- function(data) {
  columns <- lapply(data, text_of)
  head <- paste(quoted(names(data)), collapse = ",")
  rows <- do.call(paste, c(unname(columns), sep = ","))
  charToRaw(paste0(paste(c(head, rows), collapse = "\n"), "\n"))
}

# A column as CSV holds it: numbers with as many digits as they need, what is missing as nothing.
text_of <- function(x) {
  if (is.list(x) || !is.null(dim(x))) refuse("a column holds no plain values", "give one value per row.")
  if (is.numeric(x) && !inherits(x, c("integer64", "Date", "POSIXt", "factor"))) {
    made <- formatC(x, digits = 15, format = "g")
    longer <- !is.na(x) & suppressWarnings(as.numeric(made)) != x
    made[longer] <- formatC(x[longer], digits = 17, format = "g")
    return(ifelse(is.na(x), "", trimws(made)))
  }
  ifelse(is.na(x), "", quoted(enc2utf8(as.character(x))))
}

quoted <- function(x) paste0("\"", gsub("\"", "\"\"", x, fixed = TRUE), "\"")

classification_of <- function(name, h) {
  if (h$kind == "prefixes") {
    return(list(said = said(prefixes = as.list(h$lengths), total = h$total), files = list()))
  }
  if (h$kind == "file") {
    ending <- tolower(ending_of(h$file))
    file <- list(name = paste0("codes-", plain_name(name), ".", ending), content = function() file_bytes(h$file))
    return(list(said = said(hierarchy = file$name, total = h$total), files = list(file)))
  }
  pairs <- h$pairs
  if (length(h$labels)) pairs$label <- unname(h$labels[pairs$code])
  file <- list(name = paste0("codes-", plain_name(name), ".csv"), content = function() csv_bytes(pairs))
  several <- length(setdiff(h$pairs$parent, h$pairs$code)) > 1
  total <- if (several && is.null(h$total)) "Total" else h$total
  list(said = said(hierarchy = file$name, total = total), files = list(file))
}

plain_name <- function(name) gsub("[^A-Za-z0-9]+", "-", iconv(name, "UTF-8", "ASCII", sub = "-"))

ending_of <- function(path) sub("^.*\\.", "", basename(path))

rules_of_job <- function(rules) {
  if (is.null(rules)) {
    return(NULL)
  }
  if (!inherits(rules, "dk_rules")) refuse("these are no rules", "give rules such as dk_min_count(3).")
  rules <- unclass(rules)
  counted <- unique(unlist(lapply(rules, function(each) each$counted_by)))
  if (length(counted) > 1) {
    refuse("a job counts all rules by one", "give all rules one counted_by, or use the functions for tables.")
  }
  found <- list()
  for (each in rules) {
    given <- each$given
    one <- switch(each$key,
      dominance = list(list(given$n, given$k)),
      small_cells = given$n,
      min_count = given,
      list(given)
    )
    found[[each$key]] <- if (each$key %in% c("dominance", "p_percent", "pq")) c(found[[each$key]], one) else one
  }
  if (identical(counted, "holding")) found$counted_by <- "holding"
  found
}

job_json <- function(job) {
  need("jsonlite", "a job as a file")
  jsonlite::toJSON(job, auto_unbox = TRUE, digits = NA, null = "null", pretty = TRUE)
}

#' @rdname dk_job
#' @export
print.dk_job <- function(x, ...) {
  tables <- vapply(x$by, paste, "", collapse = " * ")
  cat("<job: ", paste(tables, collapse = " + "), "; sections ", paste(names(x$job), collapse = ", "), ">\n", sep = "")
  invisible(x)
}

#' Write a job as files
#'
#' For `diskret run FOLDER/job.json`, where neither Python inside R nor a server is wanted.
#'
#' @param job What [dk_job()] made.
#' @param folder Where its files are written; made if it is missing, for you alone.
#' @return The path of the job file, invisibly.
#' @examples
#' if (requireNamespace("jsonlite", quietly = TRUE)) {
#'   firms <- data.frame(nace = c("A", "A", "A", "B"), turnover = c(5, 3, 9, 20))
#'   file <- dk_write_job(dk_job(turnover ~ nace, firms, rules = dk_min_count(3)), tempfile())
#'   basename(file)
#' }
#' @export
dk_write_job <- function(job, folder) {
  if (!inherits(job, "dk_job")) refuse("this is no job", "make one by dk_job().")
  text <- job_json(job$job)
  dir.create(folder, showWarnings = FALSE, recursive = TRUE, mode = "0700")
  before <- Sys.umask("0077")
  on.exit(Sys.umask(before))
  for (each in job$files) writeBin(each$content(), file.path(folder, each$name))
  path <- file.path(folder, "job.json")
  writeBin(charToRaw(enc2utf8(as.character(text))), path)
  invisible(path)
}
