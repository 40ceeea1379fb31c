"""Sorting, searching and counting.

Here: `sort` and searching in what is sorted, `sets` of unique elements, counts of
values (`count`).
May use: `_make`, `elementwise`, `index`, `shape`, `reduce`.
Begin with `sort`.
"""
