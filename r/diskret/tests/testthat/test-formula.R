test_that("stars cross and plusses begin another table", {
  asked <- classified(turnover ~ nace * region + nace * size)
  expect_equal(asked$values, "turnover")
  expect_equal(asked$tables, list(c("nace", "region"), c("nace", "size")))
  expect_equal(classified(~ (a * b) * c)$tables, list(c("a", "b", "c")))
  expect_equal(classified(x ~ `size class`)$tables, list("size class"))
  expect_equal(classified(cbind(x, y) ~ a)$values, c("x", "y"))
})

test_that("what a formula cannot mean is refused", {
  for (wrong in list(x ~ a:b, ~ a * a, ~ log(a), log(x) ~ a, ~ a * b + b * a, ~ 1)) {
    refused(classified(wrong))
  }
  refused(classified("turnover"))
})
