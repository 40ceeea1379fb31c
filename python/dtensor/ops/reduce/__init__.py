"""Reductions and scans.

Here: `reductions`, their `gradient`, `statistics` and `rows`, `quantile`, `arg`, `nan`
(ignoring NaN), scans (`scan`, `cumulative`, `differences`), comparisons of arrays.
May use: `_make`, `elementwise`, `index`, `shape`.
Begin with `reductions`; `_make/reduction` combines the ranks' partial results.
"""
