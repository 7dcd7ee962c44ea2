test_that("a hierarchy is the same from parents, lists and files", {
  skip_without_python()
  parents <- dk_hierarchy(c("05111" = "05", "05112" = "05", "05" = "DE", "11" = "DE"))
  nested <- dk_hierarchy(list(DE = list("05" = list("05111", "05112"), "11" = NULL)))
  frame <- as.data.frame(parents)
  expect_equal(frame$code, c("05111", "05112", "05", "11", "DE"))
  expect_equal(frame$level, c(1, 1, 2, 2, 3))
  expect_equal(as.data.frame(nested), frame)
  file <- tempfile(fileext = ".csv")
  on.exit(unlink(file))
  writeLines(c("code,parent", "05111,05", "05112,05", "05,DE", "11,DE"), file)
  expect_equal(as.data.frame(dk_hierarchy(file))$code, frame$code)
})

test_that("a hierarchy is printed as a tree", {
  expect_output(print(dk_hierarchy(c(a = "A", b = "A", A = "All"))), "All\n  A\n    a\n    b")
  expect_output(print(dk_hierarchy(prefixes = c(2, 3))), "first 2, 3 characters")
})

test_that("mistakes in hierarchies are told with their code", {
  skip_without_python()
  expect_match(refused(as.data.frame(dk_hierarchy(c(a = "b", b = "a"))), "H4")$message, "what to do")
  refused(dk_hierarchy(12))
  expect_match(refused(dk_tabulate(~ region, firms(), hierarchies = list(land = regions())))$what, "'land'")
  lost <- refused(dk_tabulate(~ region, firms(), hierarchies = list(region = c(N1 = "N", N2 = "N"))), "H1")
  expect_match(lost$what, "S1")
})
