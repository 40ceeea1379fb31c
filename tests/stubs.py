"""Write the stubs of the operators: ./run exec python tests/stubs.py

Names, parameters and defaults are those of signatures (stub_signatures.py); what these
do not say is in stub_tables.py. Of _C.pyi only the sections between marks are written.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from stub_signatures import Place, definitions, of_kind, takes_dim
from stub_tables import BINARY, BY_HAND, COMPARED, MORE, UNARY, WRITTEN

import dtensor
import dtensor.torch as torch
from dtensor import _later, fft, linalg, ops
from dtensor.nn import functional
from dtensor.ops import METHODS
from dtensor.torch import _dtypes, _methods

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "python" / "dtensor"
COMMAND = "./run exec python tests/stubs.py"


# --- files ----------------------------------------------------------------------------

IMPORTS = """
import builtins
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, Literal, overload

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._C import (
    DTensor, Mesh, TorchTensor, _ArrayLike, _Axis, _EighResult, _EigResult, _Extremes,
    _Index, _Out, _Picked, _Plain, _QRResult, _Shape, _SlogdetResult, _SVDResult, _T,
    _Triangular,
    _UniqueAllResult, _UniqueCountsResult, _UniqueInverseResult,
)
from dtensor.ops._make.fallback import FallbackWarning as FallbackWarning
from dtensor.ops._make.strict import (
    ImplicitRedistributeError as ImplicitRedistributeError, strict as strict,
)
from dtensor.placement_types import Placement
from dtensor.random import Generator
from dtensor.torch._types import Size, dtype as _dtype
"""


def functions(names: Iterable[str], module: Any, place: Place) -> list[str]:
    """The definitions of a module's functions."""
    lines: list[str] = []
    for name in names:
        found = getattr(module, name)
        if callable(found) and not isinstance(found, type):
            lines += definitions(name, found, place)
    return lines


def needed(head: str, body: str) -> str:
    """The imports that a text needs."""
    kept = []
    for node in ast.parse(head).body:
        assert isinstance(node, ast.Import | ast.ImportFrom)
        node.names = [
            alias
            for alias in node.names
            if re.search(rf"(?<![\w.]){alias.asname or alias.name}\b", body)
            and f"import {alias.name} as {alias.name}" not in body
        ]
        if node.names:
            kept.append(ast.unparse(node))
    return "\n".join(kept)


def exported(names: Iterable[str]) -> str:
    return f"__all__ = [{', '.join(f'{name!r}' for name in sorted(names))}]"


PRIVATE = """
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]]
METHODS: dict[str, Callable[..., Any]]
SLOTS: dict[str, Callable[..., Any]]
def fallback(
    function: Callable[..., Any],
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Any]: ...
def getitem(x: _T, index: _Index) -> _T: ...
def setitem(x: _C.Tensor, index: _Index, value: _ArrayLike) -> None: ...
def ufunc_method(ufunc: np.ufunc, method: str) -> Callable[..., Any]: ...
def _answer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
"""


def of_module(module: Any, more: str = "", head: str = "") -> str:
    """The stub of a module whose `__all__` are operators, and types."""
    own = {
        "strict",
        *(n for n in module.__all__ if isinstance(getattr(module, n), type)),
    }
    names = sorted({*module.__all__} - own)
    body = "\n".join(
        [exported(module.__all__), *functions(names, module, Place()), more]
    )
    return f"{needed(IMPORTS + head, body)}\n{body}"


def of_package() -> str:
    """The stub of `dtensor` itself: its imports, and `__all__` in full."""
    lines = []
    for node in ast.parse((HERE / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                alias.asname = None if alias.name == "*" else alias.asname or alias.name
            if not any((a.asname or "").startswith("_") for a in node.names):
                lines.append(ast.unparse(node))
    lines += [f"from {home} import {n} as {n}" for n, home in _later.HOMES.items()]
    lines += [f"from dtensor import {n} as {n}" for n in _later.ROOMS]
    return "\n".join([*lines, exported(dtensor.__all__), "__version__: str"])


# --- methods --------------------------------------------------------------------------

MARK = re.compile(
    r"( +# operators: written by tests/stubs.py\n).*?(?= +# end of operators\n)", re.S
)
KINDS = {  # the kind that has the other's names, and that is in the other dialect
    "Tensor": ("Tensor", "TorchTensor"),
    "DTensor": ("DTensor", "TorchDTensor"),
    "TorchTensor": ("Tensor", "TorchTensor"),
    "TorchDTensor": ("DTensor", "TorchDTensor"),
}


def slots() -> Iterator[str]:
    """What Python's own operators call, and attributes."""
    for name in BINARY:
        more = ", mod: None = None" if name == "pow" else ""
        for reflected in ("", "r"):
            full = f"__{reflected}{name}__"
            yield f"def {full}(self, value: _ArrayLike{more}, /) -> T: ..."
        note = "  # type: ignore[misc]" if name == "pow" else ""
        yield f"def __i{name}__(self, value: _ArrayLike, /) -> Self: ...{note}"
    for name in ("divmod", "rdivmod"):
        yield f"def __{name}__(self, value: _ArrayLike, /) -> tuple[T, T]: ..."
    for name in COMPARED:
        yield f"def __{name}__(self, value: _ArrayLike, /) -> T: ..."
    for name in UNARY:
        yield f"def __{name}__(self) -> T: ..."
    yield MORE


def retold() -> set[str]:
    """Methods whose stubs say more than one signature can: they take `dim=` as well,
    results depend on flags, or they work in place and hand on what they are given."""
    table: dict[str, Any] = METHODS | _methods.TABLE
    both = (METHODS.get, _methods.TABLE.get)
    names = {name for name in table if any(takes_dim(of(name)) for of in both)}
    names |= {name for name in table if name.endswith("_")}
    return names | {key.rpartition(".")[2] for key in WRITTEN} | {"std", "var"}


def of_class(kind: str) -> str:
    """The operators that are methods of a kind of tensor."""
    dialect = kind.startswith("Torch")
    table: dict[str, Any] = METHODS | (_methods.TABLE if dialect else {})
    lines = [of_kind(line, kind) for line in slots()]
    numpys, torchs = KINDS[kind]
    lines += [
        f"def as_numpy(self) -> {numpys}: ...",
        f"def as_torch(self) -> {torchs}: ...",
    ]
    for name in sorted(table):
        if not name.startswith("__") and name not in BY_HAND:
            place = Place(kind, dialect and name in _methods.TABLE)
            lines += definitions(name, table[name], place)
    return "\n".join(lines)


# --- PyTorch's dialect ----------------------------------------------------------------


def of_torch() -> str:
    """The stub of `dtensor.torch`: what it imports by name, and its functions."""
    lines, known = [], set()
    for node in ast.parse((HERE / "torch" / "__init__.py").read_text()).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            known.add(alias.asname or alias.name)
            alias.asname = None if alias.name == "*" else alias.asname or alias.name
        by_name = not any((a.asname or "").startswith("_") for a in node.names)
        if node.module in ("dtensor.torch", "dtensor.torch._dtypes"):
            node.names = [a for a in node.names if a.name[0] != "_"]
            lines.append(ast.unparse(node))
        elif by_name and node.names[0].name != "*" and node.module != "typing":
            lines.append(ast.unparse(node))
    known |= {*vars(_dtypes)}
    names = [n for n in sorted(vars(torch)) if n[0] != "_" and n not in known]
    body = "\n".join(functions(names, torch, Place(torch=True)))
    kinds = [f"{n}: type[TorchTensor]" for n in names if n.endswith("Tensor")]
    kinds = [k for k in kinds if not k.startswith("Tensor")]
    body = "\n".join(
        [*lines, "Tensor = _C.TorchTensor", *kinds, "bfloat16: _dtype", body]
    )
    return f"{needed(IMPORTS, body)}\n{body}"


def of_torchs(module: Any, head: str = "") -> str:
    """The stub of a module of functions in PyTorch's dialect."""
    body = "\n".join(functions(sorted(module.__all__), module, Place(torch=True)))
    body = "\n".join([exported(module.__all__), body])
    return f"{needed(IMPORTS + head, body)}\n{body}"


def formatted(text: str) -> str:
    """As ruff formats it, imports included."""
    for command in (["check", "--select", "I,F401", "--fix", "-q"], ["format", "-q"]):
        text = subprocess.run(
            [
                sys.executable,
                "-m",
                "ruff",
                *command,
                "--stdin-filename",
                str(HERE / "x.pyi"),
                "-",
            ],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        ).stdout
    if not text:
        sys.exit(f"{sys.executable} has no ruff, which formats the stubs: {COMMAND}")
    return text


def written() -> dict[Path, str]:
    """The text of each stub."""
    texts = {
        HERE / "ops" / "__init__.pyi": of_module(ops, PRIVATE),
        HERE / "linalg.pyi": of_module(linalg, head=LINALG),
        HERE / "fft.pyi": of_module(fft),
        HERE / "__init__.pyi": of_package(),
        HERE / "torch" / "__init__.pyi": of_torch(),
        HERE / "torch" / "linalg.pyi": of_torchs(torch.linalg, LINALG),
        HERE / "torch" / "fft.pyi": of_torchs(torch.fft),
        HERE / "nn" / "functional.pyi": of_module(functional),
    }
    by_hand = HERE / "_C.pyi"
    sections = iter([indented(of_class(kind)) for kind in KINDS])
    text = MARK.sub(lambda found: found[1] + next(sections), by_hand.read_text())
    note = f'"""Made by `{COMMAND}`."""\n# ruff: noqa: F403, F405\n'
    made = {path: formatted(note + text) for path, text in texts.items()}
    return made | {by_hand: formatted(text)}


def indented(text: str) -> str:
    return re.sub(r"^(?=.)", "    ", text, flags=re.M) + "\n"


LINALG = "from numpy.linalg import LinAlgError as LinAlgError\n"


if __name__ == "__main__":
    stale = []
    for path, text in written().items():
        if not path.exists() or path.read_text() != text:
            stale.append(path.relative_to(ROOT).as_posix())
            if "--check" not in sys.argv:
                path.write_text(text)
    if stale and "--check" in sys.argv:
        sys.exit(f"{', '.join(stale)}: not what the operators are now; {COMMAND}")
