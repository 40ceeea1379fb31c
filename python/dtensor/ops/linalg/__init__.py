"""Products, decompositions and transforms. Stacks of matrices may be cut.

Here: `matmul`, `vectors`, `einsum`, `triangle`; numpy.linalg (`decompositions`,
`factors`, `norms`, `products`); `relate` (covariances, convolutions); `fft`.
May use: `_make`, `elementwise`, `index`, `shape`, `reduce`, `order`.
Begin with `matmul`, and with `adjoint` for how gradients of products are written.
"""
