# A server in a process of its own, as an office starts it; R speaks with it by HTTP only.
serving <- function(code) {
  skip_if_not_installed("curl")
  skip_if_not_installed("jsonlite")
  python <- Sys.getenv("RETICULATE_PYTHON")
  if (!nzchar(python)) skip("no Python: set RETICULATE_PYTHON")
  folder <- tempfile("workspace")
  call <- shQuote("from diskret.cli import main; main()")
  # the libraries of R are not those of Python
  words <- paste("env -u LD_LIBRARY_PATH", shQuote(python), "-c", call, "serve --api --workspace", shQuote(folder))
  started <- paste(words, ">/dev/null 2>&1 & echo $!")
  pid <- as.integer(system(started, intern = TRUE))
  on.exit({
    tools::pskill(pid)
    unlink(folder, recursive = TRUE)
  })
  for (i in 1:300) {
    if (file.exists(file.path(folder, ".diskret-api.json"))) break
    Sys.sleep(0.1)
  }
  Sys.sleep(0.2)
  code(folder, dk_server(folder))
}

test_that("a job by HTTP gives the table that Python inside R gives, and leaves no data behind", {
  serving(function(folder, server) {
    expect_output(print(server), "<diskret [0-9.]+ at http://127.0.0.1:[0-9]+>")
    expect_false(any(grepl(server$token(), utils::capture.output(print(server), utils::str(unclass(server))))))
    job <- dk_job(
      turnover ~ nace * region, firms(), hierarchies = list(region = regions(), nace = dk_hierarchy(prefixes = 1)),
      rules = dk_min_count(6) | dk_p_percent(10), publish = "table.dta"
    )
    run <- dk_run(job, server)
    shown <- as.data.frame(run)
    expect_gt(sum(is.na(shown$turnover)), 0)
    expect_output(print(summary(run)), "primary.*nothing is exposed")
    file <- dk_fetch(run, "table.dta", tempfile(fileext = ".dta"))
    expect_gt(file.size(file), 500)
    expect_equal(list.files(folder, pattern = "^r-"), character())
    if (dk_available()) {
      table <- dk_tabulate(
        turnover ~ nace * region, firms(), hierarchies = list(region = regions(), nace = dk_hierarchy(prefixes = 1))
      )
      inside <- as.data.frame(dk_suppress(dk_mark(table, dk_min_count(6) | dk_p_percent(10))))
      expect_equal(shown, inside)
    }

    linked <- dk_run(dk_job(~ nace * region + nace, firms(), rules = dk_small_cells(6)), server)
    expect_equal(names(as.data.frame(linked, table = 2))[1], "nace")

    wrong <- refused(dk_run(dk_job(region ~ nace, firms(), rules = dk_min_count(3)), server), "T2")
    expect_match(wrong$where, "row")
    expect_match(refused(dk_run(dk_job(~ nace, firms(), rules = dk_min_count(-3)), server), "J1")$what, "min_count")
    expect_match(refused(dk_fetch(run, "working.parquet"))$hint, "table.csv")
    expect_equal(list.files(folder, pattern = "^r-"), character())
  })
})

test_that("a folder that nobody serves is told with what to do", {
  skip_if_not_installed("curl")
  skip_if_not_installed("jsonlite")
  expect_match(refused(dk_server(tempfile()))$hint, "diskret serve --api")
})

test_that("a job is written with its data, for its owner alone, and says what the formula says", {
  skip_if_not_installed("jsonlite")
  job <- dk_job(
    turnover ~ nace, firms(), hierarchies = list(nace = c("101" = "1", "102" = "1", "201" = "2", "202" = "2")),
    rules = dk_dominance(2, 85) | dk_dominance(1, 75) | dk_min_count(4), output = list(title = "Firms")
  )
  expect_output(print(job), "<job: nace; sections data")
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  said <- jsonlite::fromJSON(dk_write_job(job, folder), simplifyVector = FALSE)
  expect_equal(said$rules$dominance, list(list(2L, 85L), list(1L, 75L)))
  expect_equal(said$output$title, "Firms")
  expect_equal(said$output$publish, list("table.csv"))
  expect_setequal(list.files(folder), c("data.csv", "codes-nace.csv", "job.json"))
  expect_equal(unique(format(file.mode(list.files(folder, full.names = TRUE)))), "600")
  read <- utils::read.csv(file.path(folder, "data.csv"), colClasses = c(nace = "character"))
  expect_equal(read$turnover, firms()$turnover)
  expect_equal(read$nace, firms()$nace)
  python <- Sys.getenv("RETICULATE_PYTHON")
  if (nzchar(python)) {
    call <- c("-c", shQuote("from diskret.cli import main; main()"), "run", shQuote(file.path(folder, "job.json")), "-q")
    expect_equal(system2(python, call), 0)
    expect_true(file.exists(file.path(folder, "table.csv")))
  }
})

test_that("numbers keep every digit, and what is missing stays missing", {
  text <- rawToChar(csv_bytes(data.frame(x = c(0.1, 1 / 3, NA, 1e5, -2.5e-8), y = c("a\"b", NA, "NA", "", "\u00e4"))))
  read <- utils::read.csv(text = text, na.strings = "")
  expect_equal(read$x, c(0.1, 1 / 3, NA, 1e5, -2.5e-8), tolerance = 0)
  expect_match(text, "^\"x\",\"y\"\n0.1,\"a\"\"b\"\n")
})
