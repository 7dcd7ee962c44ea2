# Made-up firms: nobody's numbers.
firms <- function() {
  set.seed(7)
  n <- 120
  data.frame(
    nace = sample(c("101", "102", "201", "202"), n, TRUE), region = sample(c("N1", "N2", "S1"), n, TRUE),
    turnover = round(exp(rnorm(n, 6, 1.5))) / 4, wages = sample(1:50, n, TRUE), stringsAsFactors = FALSE
  )
}

regions <- function() dk_hierarchy(c(N1 = "N", N2 = "N", N = "Total", S1 = "Total"))

marked <- function() {
  table <- dk_tabulate(turnover ~ nace * region, firms(), hierarchies = list(region = regions()))
  dk_mark(table, dk_min_count(6) | dk_p_percent(10))
}

skip_without_python <- function() {
  if (!dk_available()) skip("no Python with the package diskret: set RETICULATE_PYTHON")
}

refused <- function(expression, code = NULL) {
  found <- tryCatch({ force(expression); NULL }, diskret_error = function(e) e)
  expect_s3_class(found, paste(c("diskret_error", code), collapse = "_"))
  found
}
