test_that("a table holds the sums that base R finds", {
  skip_without_python()
  data <- firms()
  data$nace2 <- substr(data$nace, 1, 1)
  table <- dk_tabulate(
    turnover ~ nace * region, data, hierarchies = list(nace = dk_hierarchy(prefixes = 1), region = regions())
  )
  all <- as.data.frame(table, internal = TRUE)
  value <- function(nace, region) all$turnover[all$nace == nace & all$region == region]
  expect_equal(value("101", "N1"), sum(data$turnover[data$nace == "101" & data$region == "N1"]))
  expect_equal(value("2", "N"), sum(data$turnover[data$nace2 == "2" & data$region %in% c("N1", "N2")]))
  expect_equal(value("Total", "Total"), sum(data$turnover))
  expect_equal(all$count[all$nace == "1" & all$region == "S1"], sum(data$nace2 == "1" & data$region == "S1"))
})

test_that("counting needs no value, and several values make several tables", {
  skip_without_python()
  counted <- as.data.frame(dk_tabulate(~ region, firms()), internal = TRUE)
  expect_equal(counted$count[match(c("N1", "N2", "S1"), counted$region)], as.vector(table(firms()$region)))
  both <- dk_tabulate(cbind(turnover, wages) ~ region, firms())
  expect_named(both, c("turnover", "wages"))
  expect_equal(utils::tail(as.data.frame(both$wages, internal = TRUE)$wages, 1), sum(firms()$wages))
})

test_that("what is missing in R is missing in Python", {
  skip_without_python()
  data <- data.frame(code = c("a", NA, "NA", "b"), x = c(1L, 2L, 3L, 4L))
  table <- expect_warning(dk_tabulate(x ~ code, data), NA)
  all <- as.data.frame(table, internal = TRUE)
  expect_setequal(all$code, c("a", "b", "NA", "(missing)", "Total"))
  expect_equal(all$x[all$code == "(missing)"], 2)
  data$x[2] <- NA
  expect_match(refused(dk_tabulate(x ~ code, data), "T3")$what, "1 missing")
  expect_warning(dk_tabulate(x ~ code, data, without_value = "zero"), "count as zero", class = "diskret_care")
})

test_that("factors, dates and umlauts arrive as what they say", {
  skip_without_python()
  data <- data.frame(
    town = factor(c("K\u00f6ln", "Hof", NA), levels = c("Hof", "K\u00f6ln")), day = as.Date("2026-03-01") + c(0, 0, 31),
    whole = c(TRUE, FALSE, TRUE)
  )
  all <- as.data.frame(dk_tabulate(~ town * day, data), internal = TRUE)
  expect_true(all(c("K\u00f6ln", "Hof", "(missing)") %in% all$town))
  expect_true(all(c("2026-03-01", "2026-04-01") %in% all$day))
  expect_equal(levels(as.data.frame(dk_tabulate(~ town, data), internal = TRUE, stringsAsFactors = TRUE)$town)[1], "Hof")
})

test_that("what cannot be a column is refused with its name", {
  skip_without_python()
  data <- data.frame(a = "x")
  data$b <- list(1)
  expect_match(refused(dk_tabulate(~ a * b, data))$what, "'b' holds no plain values")
  expect_match(refused(dk_tabulate(~ a, data.frame(a = character())))$what, "no rows")
  expect_match(refused(dk_tabulate(~ a, 1:3))$what, "neither a data frame")
  expect_match(refused(dk_tabulate(~ a * wrong, data), "T1")$what, "no column 'wrong'")
})

test_that("a table tells counts, and no value, unless all values are meant", {
  skip_without_python()
  table <- marked()
  expect_output(print(table), "primary")
  expect_warning(shown <- as.data.frame(table), "not protected yet", class = "diskret_care")
  expect_true(all(is.na(shown$turnover)))
  expect_equal(summary(table)$cells, 5 * 5)
  expect_output(print(summary(table)), "minimum count")
})
