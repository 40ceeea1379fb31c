"""What models are made of: names and arguments as in torch.nn.functional.

Here: layers (`linear`, `conv`, `pool`, `norm`, `attention`, `embedding`, ...), losses,
steps of optimizers. A file `*_numpy` has the kernels for dtypes that C lacks.
May use: all rooms from `_make` to `random`.
Begin with `softmax`, then `norm`: a rule, a kernel, a gradient.
"""
