"""Sorting, searching and counting.

Here: `sort` and searching sorted arrays, `sets` of unique elements, counting values
(`count`).
May use: `_make`, `elementwise`, `index`, `shape`, `reduce`.
Begin with `sort`.
"""
