"""The tools for writing operators, and the fallback for functions without one.

Here: `operator` and helpers for rules, kernels, parts of a rank, composites, strict
mode and the fallback. May use: no other room of `ops`. Begin with `operator`, then
`words`, `elementwise` and `reduction` (rules), `parts` (who holds which elements),
`composite` (functions composed of operators).
"""
