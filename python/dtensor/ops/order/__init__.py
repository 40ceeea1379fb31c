"""Sorting, searching and counting.

Here: `sort`, `search` in sorted arrays, `sets` of unique elements, counting values
(`count`); large arrays in parts (`sort_parts`, `exchange`).
May use: `_make`, `elementwise`, `index`, `shape`, `reduce`. Begin with `sort`.
"""
