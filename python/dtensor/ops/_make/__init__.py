"""What operators are made with, and what becomes of functions that are none.

Here: `operator` and how rules are written, kernels, parts of a rank, composites, strict
mode and the fallback. May use: no other room of `ops`. Begin with `operator`, then
`words`, `elementwise` and `reduction` (rules), `parts` (who holds which elements),
`composite` (functions made of operators).
"""
