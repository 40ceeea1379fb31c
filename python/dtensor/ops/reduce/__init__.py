"""Many elements made one, or running totals.

Here: `reductions` and their `gradient`, `statistics`, `quantile`, `arg`, `nan` (what
leaves out NaN), scans (`scan`, `cumulative`, `differences`), comparisons of arrays.
May use: `_make`, `elementwise`, `index`, `shape`.
Begin with `reductions`; how the parts of a reduction go together: `_make/reduction`.
"""
