#' Draw which cells are hidden
#'
#' One square per cell, the last classification across: open, primary, secondary, zero. No value is shown. For the house:
#' which cells are primary is told to nobody else.
#'
#' @param x A table, or what [dk_suppress()] gave.
#' @param most How many rows and columns are drawn at most.
#' @param main Title.
#' @param ... Not used.
#' @return The colours by status, invisibly.
#' @examples
#' if (dk_available()) {
#'   firms <- data.frame(
#'     nace = rep(c("A", "B", "C"), c(5, 2, 6)), region = rep_len(c("N", "S"), 13), turnover = c(5, 8, 2, 7, 30, 4, 1:7)
#'   )
#'   plot(dk_suppress(dk_mark(dk_tabulate(turnover ~ nace * region, firms), dk_min_count(3))))
#' }
#' @export
plot.dk_table <- function(x, most = c(40, 25), main = NULL, ...) {
  found <- r(bridge()$statuses(dk_python_object(x)))
  draw_statuses(found, most, if (is.null(main)) reticulate::py_str(dk_python_object(x)$response) else main)
}

#' @rdname plot.dk_table
#' @export
plot.dk_suppression <- function(x, most = c(40, 25), main = NULL, ...) {
  table <- dk_python_object(x)$table
  plot(held(table, class = "dk_table"), most = most, main = main)
}

STATUS_COLOURS <- c(
  open = "#e8eef4", primary = "#c83c28", secondary = "#dca01e", never = "#9ec5a0", published = "#cfe3f5",
  `structural zero` = "#ffffff", zero = "#ffffff"
)

draw_statuses <- function(found, most, main) {
  if (!length(found$codes)) refuse("linked tables have no rows and columns", "plot each of dk_split(result).")
  across <- as.character(unlist(found$codes[[length(found$codes)]]))
  others <- lapply(found$codes[-length(found$codes)], function(each) as.character(unlist(each)))
  words <- stats::setNames(as.character(unlist(found$words)), as.character(unlist(found$numbers)))
  status <- matrix(words[as.character(as.vector(found$status))], nrow = length(across))
  down <- if (length(others)) {
    grid <- expand.grid(rev(others), stringsAsFactors = FALSE)
    apply(grid[rev(seq_along(grid))], 1, paste, collapse = " / ")
  } else {
    ""
  }
  rows <- seq_len(min(length(down), most[1]))
  columns <- seq_len(min(length(across), most[2]))
  wide <- function(x) min(0.6 * max(nchar(x)), 12) + 1
  before <- graphics::par(mar = c(3, wide(down[rows]), wide(across[columns]) + 1, 1))
  on.exit(graphics::par(before))
  graphics::plot.new()
  graphics::plot.window(c(0, length(columns)), c(length(rows), 0), xaxs = "i", yaxs = "i")
  for (i in rows) {
    graphics::rect(columns - 1, i - 1, columns, i, col = STATUS_COLOURS[status[columns, i]], border = "grey70")
  }
  graphics::axis(2, rows - 0.5, down[rows], las = 1, tick = FALSE, cex.axis = 0.8)
  graphics::axis(3, columns - 0.5, across[columns], las = 2, tick = FALSE, cex.axis = 0.8)
  graphics::title(main, line = wide(across[columns]) - 0.5)
  there <- intersect(names(STATUS_COLOURS), unique(as.vector(status[columns, rows])))
  left <- length(down) * length(across) - length(rows) * length(columns)
  if (left > 0) graphics::mtext(sprintf("%s more cells", format(left, big.mark = ",")), 1, 1.8, cex = 0.7, adj = 1)
  graphics::legend(
    "bottom", there, fill = STATUS_COLOURS[there], horiz = TRUE, bty = "n", xpd = NA, inset = c(0, -0.12), cex = 0.8
  )
  invisible(STATUS_COLOURS[there])
}
