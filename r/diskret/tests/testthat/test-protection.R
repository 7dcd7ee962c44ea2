test_that("what is hidden is missing, and what is shown is true", {
  skip_without_python()
  result <- dk_suppress(marked())
  all <- as.data.frame(result, internal = TRUE)
  shown <- as.data.frame(result)
  hidden <- all$status %in% c("primary", "secondary")
  expect_gt(sum(hidden), 0)
  expect_identical(is.na(shown$turnover), hidden)
  expect_equal(shown$turnover[!hidden], all$turnover[!hidden])
  expect_false("count" %in% names(shown))
  expect_true(all(all$status[all$count > 0 & all$count < 6] == "primary"))
  expect_output(print(result), "Suppression\\([0-9]+ primary, [0-9]+ secondary, 0 unprotected")
  expect_output(print(summary(result)), "nothing is exposed")
})

test_that("no hidden value can be computed from the sums of a line", {
  skip_without_python()
  shown <- as.data.frame(dk_suppress(marked()))
  lines <- c(split(is.na(shown$turnover), shown$nace))
  leaves <- !shown$region %in% "N"
  for (nace in unique(shown$nace)) {
    row <- shown[shown$nace == nace, ]
    expect_false(sum(is.na(row$turnover[row$region %in% c("N", "S1", "Total")])) == 1)
    expect_false(sum(is.na(row$turnover[row$region %in% c("N1", "N2", "N")])) == 1)
  }
})

test_that("an attack is made by the promise of the result", {
  skip_without_python()
  result <- dk_suppress(marked())
  attack <- dk_audit(result, intervals = "primary")
  expect_true(attack$safe)
  all <- as.data.frame(result, internal = TRUE)
  expect_equal(nrow(attack$intervals), sum(all$status == "primary"))
  expect_true(all(attack$intervals$lower <= attack$intervals$upper))
  expect_output(print(attack), "nothing is exposed")
  alone <- dk_audit(marked()) # primary cells hidden, and nothing else
  expect_false(alone$safe)
  expect_output(print(alone), "NOT safe")
})

test_that("publishing what nothing protects is refused, and every format that is written can be read", {
  skip_without_python()
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "t.csv")
  expect_match(refused(dk_publish(marked(), file))$hint, ".")
  expect_false(file.exists(file))
  result <- dk_suppress(marked())
  expect_equal(dk_publish(result, file, mark = "."), file)
  read <- utils::read.csv(file, colClasses = "character")
  shown <- as.data.frame(result)
  expect_equal(read$turnover == ".", is.na(shown$turnover))
})

test_that("rules are joined, printed and refused", {
  expect_output(print(dk_min_count(3) | dk_dominance(2, 85)), "min_count: n = 3.*dominance: n = 2, k = 85")
  refused(dk_min_count("three"))
  refused(dk_min_count(3) & dk_p_percent(10))
  skip_without_python()
  refused(dk_mark(dk_tabulate(~ region, firms())))
  expect_match(refused(dk_mark(dk_tabulate(~ region, firms()), dk_p_percent(-1)))$what, "p")
})

test_that("an argument that does not exist is refused by its name, not called a mistake", {
  skip_without_python()
  expect_match(refused(dk_suppress(marked(), speed = "fast"), "D0")$what, "speed")
})

test_that("linked tables are protected as one", {
  skip_without_python()
  data <- firms()
  data$size <- ifelse(data$wages > 25, "large", "small")
  linked <- dk_mark(dk_tabulate(turnover ~ nace * region + nace * size, data), dk_min_count(6))
  expect_s3_class(linked, "dk_pool")
  result <- dk_suppress(linked)
  parts <- dk_split(result)
  expect_length(parts, 2)
  frames <- lapply(parts, as.data.frame)
  one <- frames[[1]][frames[[1]]$region == "Total", c("nace", "turnover")]
  two <- frames[[2]][frames[[2]]$size == "Total", c("nace", "turnover")]
  expect_equal(one$turnover[order(one$nace)], two$turnover[order(two$nace)]) # what they share is hidden in both
})

test_that("a cell says why it is hidden", {
  skip_without_python()
  result <- dk_suppress(marked())
  all <- as.data.frame(result, internal = TRUE)
  cell <- all[all$status == "primary", ][1, ]
  expect_match(dk_explain(result, cell$nace, cell$region), "primary")
  expect_match(refused(dk_explain(result, "999", "N"))$what, "999")
})

test_that("rounding keeps to its base and its seed", {
  skip_without_python()
  table <- dk_mark(dk_tabulate(~ nace * region, firms()), dk_small_cells(4))
  one <- as.data.frame(dk_round(table, 3, seed = 1))
  two <- as.data.frame(dk_round(table, 3, seed = 1))
  expect_identical(one, two)
  value <- one[[setdiff(names(one), c("nace", "region"))[1]]]
  expect_true(all(value %% 3 == 0))
})

test_that("anonymous records occur often enough, and keep their number", {
  skip_without_python()
  anonymous <- dk_anonymise(~ nace + region, firms(), k = 3)
  records <- as.data.frame(anonymous)
  expect_equal(nrow(records), nrow(firms()))
  expect_gte(min(table(paste(records$nace, records$region))), 3)
  expect_output(print(summary(anonymous)), "largest deviation")
  expect_gte(dk_anonymity(~ nace + region, records)$k, 3)
})

test_that("a plot shows every status and no value", {
  skip_without_python()
  file <- tempfile(fileext = ".svg")
  on.exit(unlink(file))
  grDevices::pdf(NULL)
  colours <- plot(dk_suppress(marked()))
  grDevices::dev.off()
  expect_true(all(c("open", "primary", "secondary") %in% names(colours)))
})

test_that("an object of an earlier session is told from a broken one", {
  skip_without_python()
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(marked(), file)
  expect_match(refused(print(readRDS(file)))$what, "earlier session")
  refused(dk_python_object(3))
})
