"""What works element by element: every rank on its own part, nothing is sent.

Here: NumPy's ufuncs (`pointwise`, `transcendental`), the functions like them
(`functions`), and what chooses between values (`piecewise`).
May use: `_make`.
Begin with `pointwise`: a row for each ufunc.
"""
