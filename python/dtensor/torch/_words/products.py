"""Products and matrices."""

import math
from collections.abc import Sequence

import numpy as np

from dtensor.torch._words.table import Call, parted, says, texts

__all__: list[str] = []


def _by(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


# --- products -------------------------------------------------------------------------


@says(
    r"(?:matmul|vecmat|matvec|vecdot): Input operand \d (?:has a mismatch|does not)",
    r"operands could not be broadcast together with remapped shapes .*newaxis",
    r"shapes \(\S*\) and \(\S*\) not aligned",
)
def _multiplied(call: Call, *_: str) -> str | None:
    if call.name == "einsum":
        return _summed(call)
    if len(call.shapes) != 2:
        return None
    a, b = call.shapes
    if call.name == "inner":
        return (
            "inner() the last dimension must match on both input tensors but got "
            f"shapes {list(a)} and {list(b)}"
        )
    if call.name == "vecdot":
        return parted([a, b])
    if not a or not b:
        return (
            "both arguments to matmul need to be at least 1D, but they are "
            f"{len(a)}D and {len(b)}D"
        )
    if len(a) == len(b) == 1:
        return (
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to "
            f"have the same number of elements, but got {a[0]} and {b[0]} elements "
            "respectively"
        )
    rows = math.prod(a[:-1])
    if len(b) == 1:
        return f"size mismatch, got input ({rows}), mat ({rows}x{a[-1]}), vec ({b[0]})"
    if len(b) == 2:
        return (
            "mat1 and mat2 shapes cannot be multiplied "
            f"({rows}x{a[-1]} and {b[0]}x{b[1]})"
        )
    if call.name != "bmm" and (words := parted([a[:-2], b[:-2]])):
        return words
    count = math.prod(
        a[:-2] if call.name == "bmm" else np.broadcast_shapes(a[:-2], b[:-2])
    )
    return (
        "Expected size for first two dimensions of batch2 tensor to be: "
        f"[{count}, {a[-1]}] but got: [{math.prod(b[:-2])}, {b[-2]}]."
    )


def _labels(call: Call) -> list[str] | None:
    """Return the subscripts of each operand of an einsum without ellipses."""
    equation = call.args[0] if call.args else None
    if not isinstance(equation, str) or "." in equation:
        return None
    return equation.replace(" ", "").split("->")[0].split(",")


@says(
    r"operands could not be broadcast together with remapped shapes",
    r"dimensions in operand (\d+) for collapsing index '(\w)' don't match "
    r"\((\d+) != (\d+)\)",
)
def _summed(call: Call, *repeated: str) -> str | None:
    labels = _labels(call)
    if labels is None:
        return None
    if repeated:
        return (
            f"einsum(): subscript {repeated[1]} is repeated for operand {repeated[0]} "
            f"but the sizes don't match, {repeated[3]} != {repeated[2]}"
        )
    seen: dict[str, int] = {}
    for place, (label, shape) in enumerate(zip(labels, call.shapes, strict=False)):
        for letter, n in zip(label, shape, strict=False):
            before = seen.get(letter, 1)
            if n != before and 1 not in (n, before):
                return (
                    f"einsum(): subscript {letter} has size {n} for operand {place} "
                    f"which does not broadcast with previously seen size {before}"
                )
            seen[letter] = max(n, before)
    return None


@says(
    r"operand has more dimensions than subscripts given in einstein sum",
    r"einstein sum subscripts string contains too many subscripts for operand",
)
def _counted(call: Call) -> str | None:
    for place, (label, shape) in enumerate(
        zip(_labels(call) or [], call.shapes, strict=False)
    ):
        if len(label) != len(shape):
            return (
                f"einsum(): the number of subscripts in the equation ({len(label)}) "
                f"does not match the number of dimensions ({len(shape)}) for operand "
                f"{place} and no ellipsis was given"
            )
    return None


# --- matrices -------------------------------------------------------------------------

# Functions that PyTorch names by another that they call.
_OF = {"inverse": "inv", "eigvalsh": "eigh", "eigvals": "eig", "svdvals": "svd"}


def _function(call: Call) -> str:
    return f"linalg.{_OF.get(call.name, call.name)}"


@says(r"Last 2 dimensions of the array must be square")
def _square(call: Call) -> str | None:
    shape = next(iter(call.shapes), ())
    if len(shape) < 2:
        return None
    return (
        f"{_function(call)}: A must be batches of square matrices, but they are "
        f"{shape[-2]} by {shape[-1]} matrices"
    )


@says(r"\d-dimensional array given\. Array must be at least two-dimensional")
def _matrix(call: Call) -> str | None:
    return f"{_function(call)}: The input tensor A must have at least 2 dimensions."


@says(r"Singular matrix")
def _singular(call: Call) -> str | None:
    why = "because the input matrix is singular."
    if call.name in ("inv", "inverse"):
        return f"linalg.inv: The inversion could not be completed {why}"
    return f"torch.linalg.{call.name}: The solver failed {why}"


@says(r"solve1?: Input operand 1 has a mismatch")
def _solved(call: Call) -> str | None:
    a, b = call.shapes[:2]
    b = b if len(b) > 1 else (*b, 1)
    return (
        "linalg.solve: Incompatible shapes of A and B for the equation AX = B "
        f"({_by(a[-2:])} and {_by(b[-2:])})"
    )


@says(r"Invalid norm order(?: '(\w+)' for vectors)?")
def _order(call: Call, order: str | None) -> str:
    order = order or call.told("ord", 1, call.told("p", 1))
    return f"linalg.matrix_norm: Order {order} not supported."


@says(r"Expecting at least two arrays")
def _few(call: Call) -> str:
    count = len(next(iter(call.args), ()))
    return f"multi_dot(): expected at least 2 tensors but got {count}"


@says(r"shape-mismatch for sum")
def _contracted(call: Call) -> str | None:
    if len(call.shapes) != 2:
        return None
    dims = call.told("dims", 2, 2)
    if isinstance(dims, int):
        dims = [range(-dims, 0), range(dims)]
    for i, j in zip(*dims, strict=False):
        first, second = call.shapes[0][i], call.shapes[1][j]
        if first != second:
            return (
                f"contracted dimensions need to match, but first has size {first} in "
                f"dim {i} and second has size {second} in dim {j}"
            )
    return None


@says(r"invalid subscript '(.)' in einstein sum")
def _no_letter(call: Call, letter: str) -> str:
    place = str(call.args[0]).index(letter)
    return (
        f"einsum(): invalid subscript given at index {place} in the equation string, "
        "subscripts must be in [a-zA-Z]"
    )


texts(
    {
        r"Matrix is not positive definite": "linalg.cholesky: The factorization could "
        "not be completed because the input is not positive-definite.",
        r"Unrecognized mode '(\w+)'": "qr received unrecognized mode '{0}' but "
        "expected one of 'reduced' (default), 'r', or 'complete'",
        # NumPy's before 2.5, and since
        r"incompatible dimensions for cross product|Both input arrays must be \(arrays "
        r"of\) 3-dimensional": "no dimension of size 3 in input",
        r"einstein sum subscripts string included output subscript '(\w)'": "einsum(): "
        "output subscript {0} does not appear in the equation for any input operand",
        r"einstein sum subscripts string includes output subscript '(\w)' mult": ""
        "einsum(): output subscript {0} appears more than once in the output",
        r"fewer operands provided to einstein sum": "einsum(): more operands were "
        "provided than specified in the equation",
        r"more operands provided to einstein sum": "einsum(): fewer operands were "
        "provided than specified in the equation",
    }
)
