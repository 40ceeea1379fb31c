"""Elementwise functions: every rank computes its own part, nothing is sent.

Here: NumPy's ufuncs (`pointwise`, `transcendental`), powers (`powers`), elementwise
functions that are not ufuncs (`functions`), and choosing between values (`piecewise`).
May use: `_make`.
Begin with `pointwise`: a row for each ufunc.
"""
