"""The calls that samples make of operators, as a program for a type checker.

Each call is written down with the arguments that it had, and its result is revealed:
what the type checker says of it is compared with what came out."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from rows import arrays_of
from samples import SAMPLES

import dtensor
from dtensor import DTensor, Replicate, Tensor, fft, linalg, ops

HEAD = """
import numpy as np
import numpy.typing as npt
from typing import Any
import dtensor
def calls(d: dtensor.DTensor, a: npt.NDArray[Any], g: np.generic) -> None:
"""
PLAIN = (bool, int, float, complex, str, type(None), type(...))


class Typed(NamedTuple):
    """A call in words, and its result in words."""

    call: str
    result: str


def words(x: Any) -> str:
    """An argument as it is written."""
    if isinstance(x, Tensor):
        return "d"
    if isinstance(x, np.ndarray):
        return "a"
    if isinstance(x, np.generic):
        return "g"
    if isinstance(x, slice):
        return f"slice({words(x.start)}, {words(x.stop)}, {words(x.step)})"
    if isinstance(x, float) and not np.isfinite(x):
        return f'float("{x}")'
    if isinstance(x, np.dtype):
        return f'np.dtype("{x.name}")'
    if isinstance(x, type):
        return x.__name__ if x.__module__ == "builtins" else f"np.{x.__name__}"
    if type(x) in (list, tuple):
        inside = ", ".join(map(words, x)) + ("," if type(x) is tuple and x else "")
        return f"[{inside}]" if type(x) is list else f"({inside})"
    if type(x) is dict:
        return "{" + ", ".join(f"{k!r}: {words(v)}" for k, v in x.items()) + "}"
    if type(x) in PLAIN:
        return repr(x)
    raise TypeError(f"{type(x).__name__} has no words")


def kind(x: Any) -> str:
    """What a result is, in the type checker's words."""
    if isinstance(x, Tensor):
        return "DTensor" if isinstance(x, DTensor) else "Tensor"
    if isinstance(x, tuple) and type(x) is not tuple:
        return f"{type(x).__name__}[{kind(x[0])}]"
    if isinstance(x, tuple):
        return f"tuple[{', '.join(map(kind, x))}]" if x else "tuple[DTensor]"
    if isinstance(x, list):
        return f"list[{kind(x[0])}]" if x else "list"
    return "None" if x is None else type(x).__name__


def fits(revealed: str, result: str) -> bool:
    """Whether a type that was revealed is that of a result, not Any."""
    said = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", revealed)
    named = re.fullmatch(r"tuple\[.*, fallback=_(\w+\[\w+\])\]", said)
    said = named[1].replace("Picked", "TopK") if named else said
    for one in [said, *said.split(" | ")]:
        pattern = re.escape(one).replace(r",\ \.\.\.\]", r"(,\ \w+)*\]")
        if re.fullmatch(pattern, result):
            return True
    return False


def names() -> dict[int, str]:
    """The name of each operator, by identity."""
    found = {}
    for prefix, module in (("linalg.", linalg), ("fft.", fft), ("", ops)):
        for name in module.__all__:
            found[id(getattr(module, name))] = f"dtensor.{prefix}{name}"
    return found


def recorded(run: Callable[[], None]) -> Iterator[Typed]:
    """The calls of NumPy's functions that tensors answer while something runs."""
    found: dict[Typed, None] = {}
    depth = 0

    def recorder(function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                result = function(*args, **options)
            finally:
                depth -= 1
            if depth == 0:
                try:
                    listed = [*map(words, args)]
                    listed += [f"{k}={words(v)}" for k, v in options.items()]
                    found[Typed(f"{name}({', '.join(listed)})", kind(result))] = None
                except TypeError:  # a callable, or a dtype with fields
                    pass
            return result

        return call

    known, before = names(), dict(ops.FUNCTIONS)
    try:
        for function, answer in before.items():
            if id(answer) in known:
                ops.FUNCTIONS[function] = recorder(answer, known[id(answer)])
        run()
    finally:
        ops.FUNCTIONS.update(before)
    yield from found


def calls_of_samples() -> list[Typed]:
    """The calls of all samples, on one rank."""
    mesh = dtensor.init_device_mesh("cpu", (1,))

    def run() -> None:
        for sample in SAMPLES:
            try:
                sample.fn(
                    *(
                        dtensor.distribute_tensor(x, mesh, [Replicate()])
                        for x in arrays_of(sample)
                    )
                )
            except Exception:  # it is tried elsewhere
                pass

    with np.errstate(all="ignore"), mesh:
        return sorted(recorded(run))


def program(calls: list[Typed]) -> str:
    return HEAD + "\n".join(f"    reveal_type({call.call})" for call in calls) + "\n"
