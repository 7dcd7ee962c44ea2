library(testthat)
library(diskret)

test_check("diskret")
