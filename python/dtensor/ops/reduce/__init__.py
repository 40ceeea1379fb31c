"""Reductions and scans.

Here: `reductions` and their `gradient`, `statistics` and their `rows`, `quantile`,
`arg`, `nan` (ignoring NaN), scans (`scan`, `cumulative`, `differences`), comparisons of
arrays.
May use: `_make`, `elementwise`, `index`, `shape`.
Begin with `reductions`; `_make/reduction` combines the ranks' partial results.
"""
