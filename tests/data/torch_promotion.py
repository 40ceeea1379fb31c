"""Prints the dtypes that PyTorch promotes to: run by Python with PyTorch.

One line for each operation: a letter for each pair of operands, ``!`` where it refuses.
``c`` is complex32, which NumPy lacks. The same program, with `dtensor.torch` in the
place of `torch`, is what the test runs.
"""

import itertools
import sys

DTYPES = """
bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128 bfloat16
""".split()
LETTERS = dict(zip([*DTYPES, "complex32"], "?BbhilefdFDgc", strict=True))
NUMBERS = [True, 2, 2.5, 2j]
OPERATIONS = {
    "add": lambda t, x, y: x + y,
    "sub": lambda t, x, y: x - y,
    "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / y,
    "floordiv": lambda t, x, y: x // y,
    "mod": lambda t, x, y: x % y,
    "pow": lambda t, x, y: x**y,
    "lt": lambda t, x, y: x < y,
    "eq": lambda t, x, y: x == y,
    "and": lambda t, x, y: x & y,
    "shift": lambda t, x, y: x << y,
    "torch.add": lambda t, x, y: t.add(x, y),
    "method mul": lambda t, x, y: x.mul(y),
    "method true_divide": lambda t, x, y: x.true_divide(y),
    "atan2": lambda t, x, y: t.atan2(x, y),
    "maximum": lambda t, x, y: t.maximum(x, y),
    "fmod": lambda t, x, y: t.fmod(x, y),
    "where": lambda t, x, y: t.where(x == x, x, y),
    "clamp": lambda t, x, y: t.clamp(x, y),
    "logical_and": lambda t, x, y: t.logical_and(x, y),
    "cat": lambda t, x, y: t.cat([x, y]),
    "result_type": lambda t, x, y: t.empty(0, dtype=t.result_type(x, y)),
    "in place add": lambda t, x, y: x.add_(y),
    "in place div": lambda t, x, y: x.div_(y),
    "reversed sub": lambda t, x, y: y - x,
    "reversed div": lambda t, x, y: y / x,
}


def operands(torch, dtypes):
    """Tensors of each dtype, with a dim and without."""
    for name, shape in itertools.product(dtypes, [(), (2,)]):
        yield torch.ones(shape, dtype=getattr(torch, name))


def letters(torch, operation, dtypes=DTYPES):
    """The answers for all pairs."""
    found = ""
    for x in operands(torch, dtypes):
        for y in [*operands(torch, dtypes), *NUMBERS]:
            try:
                z = operation(torch, x.clone(), y)
                found += LETTERS[str(z.dtype).removeprefix("torch.")]
            except (RuntimeError, TypeError, ValueError):
                found += "!"
    return found


if __name__ == "__main__":
    import torch

    for name, operation in OPERATIONS.items():
        sys.stdout.write(f"{name}: {letters(torch, operation)}\n")
