"""Reshaping, permuting, rearranging, joining, splitting and padding.

Here: reshapes and permuted dims (`view`, `permute`), flips, rolls and repeats
(`rearrange`), joining and splitting, padding, inserting and deleting (`pad`, `edit`).
May use: `_make`, `elementwise`, `index`.
Begin with `permute`, then `view`; `joined` joins along a cut dim.
"""
