"""The same elements in another shape, order or company.

Here: reshapes and dims in another order (`view`, `permute`), elements in other places
(`rearrange`), arrays joined and split, elements put around, in or out (`pad`, `edit`).
May use: `_make`, `elementwise`, `index`.
Begin with `permute`, then `view`; `joined` is how a cut dim is joined.
"""
