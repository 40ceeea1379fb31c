"""Reshaping, permuting, rearranging, joining, splitting and padding.

Here: reshapes and permuted dims (`view`, `permute`), flips and rolls (`turn`), repeats
(`rearrange`), borders of parts, joining and splitting, padding, inserting and deleting.
May use: `_make`, `elementwise`, `index`.
Begin with `permute`, then `view`; `joined` joins along a cut dim.
"""
