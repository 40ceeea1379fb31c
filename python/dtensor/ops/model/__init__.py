"""Functions for models, with the names and arguments of torch.nn.functional.

Here: layers (`linear`, `conv`, `pool`, `norm`, `attention`, `embedding`, ...), losses,
optimizer steps. The files `*_numpy` have kernels for dtypes without a C kernel.
May use: all rooms from `_make` to `random`.
Begin with `softmax`, then `norm`: a rule, a kernel, a gradient.
"""
