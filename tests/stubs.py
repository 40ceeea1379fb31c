"""Write the stubs of the operators: ./run exec python tests/stubs.py

Names, parameters and defaults are those of the signatures; what these do not say is in
stub_tables.py. The rest of a stub, between the generated sections, is written by hand.
"""

import ast
import inspect
import math
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stub_tables import (
    ALIASES,
    BINARY,
    BY_HAND,
    COMPARED,
    LEADS,
    MORE,
    NAMES,
    OPTIONS,
    OPTIONS_OF,
    OWN,
    RESULTS,
    SECOND,
    SEQUENCES,
    SHAPES,
    UNARY,
    WRITTEN,
)

import dtensor
import dtensor.torch as torch
from dtensor import fft, linalg, ops
from dtensor._C import Operator
from dtensor.nn import functional
from dtensor.ops import METHODS
from dtensor.torch import _dtypes, _methods

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "python" / "dtensor"
COMMAND = "./run exec python tests/stubs.py"

P = inspect.Parameter
PLAIN = {name: kind for kind, names in NAMES.items() for name in names.split()}
# Names of Python's own types, which methods and dtypes have, too.
BUILTINS = re.compile(r"(?<![\w.])(bool|int|float|complex|str|type|object)\b(?!\()")


class Place(NamedTuple):
    """Where a function is written."""

    kind: str = ""  # of the class whose method it is
    torch: bool = False  # in PyTorch's dialect


# --- parameters -----------------------------------------------------------------------


class Parameter(NamedTuple):
    name: str
    kind: Any
    type: str
    default: str = ""  # in words
    lead: bool = False

    def __str__(self) -> str:
        stars = {P.VAR_POSITIONAL: "*", P.VAR_KEYWORD: "**"}.get(self.kind, "")
        equals = f" = {self.default}" if self.default else ""
        colon = ": " if self.type else ""
        return f"{stars}{self.name}{colon}{self.type}{equals}"


def annotated(annotation: Any) -> str:
    """An annotation in the words of the stubs; "" if it says nothing."""
    if annotation in (P.empty, Any):
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation
    text = text(annotation) if callable(text) else text
    if "_DTypeDict" in text:
        return "npt.DTypeLike | None" if "None" in text else "npt.DTypeLike"
    for old, new in ALIASES.items():
        text = re.sub(old, new, text)
    return text


def default_of(value: Any) -> str:
    """A default in words, if these are short."""
    if value is P.empty:
        return ""
    known = value is None or isinstance(value, bool | int | str)
    known = known or (isinstance(value, float) and math.isfinite(value))
    return repr(value) if known and type(value) in (*KNOWN, type(None)) else "..."


KNOWN = (bool, int, str, float)


def type_of(function: str, p: Any) -> str:
    """The type of a parameter: its annotation, or what the tables say of its name."""
    own = OWN.get(
        f"{function.removesuffix('_')}.{p.name}", OWN.get(f"{function}.{p.name}")
    )
    text = own or annotated(p.annotation)
    if p.name == "out":
        return "_Out"
    if p.kind == P.VAR_POSITIONAL:
        return text or ("_Shape" if p.name in SHAPES else "_ArrayLike")
    if p.name in SEQUENCES and not own:
        return "Sequence[_ArrayLike]"
    if not text or text == "Sequence[Any]":
        text = PLAIN.get(p.name, "Any")
    if p.default is None and text != "Any" and "None" not in text:
        text += " | None"
    return text


def parameters(function: str, signature: inspect.Signature) -> list[Parameter]:
    """The parameters; `lead`: the kind of the result depends on it."""
    found: list[Parameter] = []
    bare = function.rpartition(".")[2]
    for p in signature.parameters.values():
        if p.kind == P.VAR_KEYWORD and (p.name == "options" or bare == "pad"):
            have = {q.name for q in found}
            found += [q for q in options_of(function) if q.name not in have]
            continue
        if p.kind == P.VAR_KEYWORD:
            found.append(Parameter(p.name, p.kind, annotated(p.annotation) or "Any"))
            continue
        first = all(q.lead for q in found)
        names = SECOND if found else LEADS
        text = type_of(bare, p)
        operand = text in ("_ArrayLike", "Tensor")
        lead = first and len(found) < 2 and operand
        lead = lead and (p.name in names or p.name == "x2") and p.default is P.empty
        several = p.name in SEQUENCES or p.kind == P.VAR_POSITIONAL
        lead |= several and not found and text.endswith(("_ArrayLike", "_ArrayLike]"))
        found.append(Parameter(p.name, p.kind, text, default_of(p.default), lead))
    return found


def options_of(function: str) -> list[Parameter]:
    """What `**options` of a function stands for."""
    which = next((k for k, names in OPTIONS_OF.items() if function in names), "ufunc")
    parsed = ast.parse(f"def f(*, {OPTIONS[which]}): ...").body[0]
    assert isinstance(parsed, ast.FunctionDef)
    rows = zip(parsed.args.kwonlyargs, parsed.args.kw_defaults, strict=True)
    return [
        Parameter(
            arg.arg,
            P.KEYWORD_ONLY,
            ast.unparse(arg.annotation) if arg.annotation else "Any",
            ast.unparse(default) if default else "",
        )
        for arg, default in rows
    ]


def listed(found: Iterable[Parameter]) -> str:
    """Parameters between the parentheses of a definition."""
    words: list[str] = []
    kinds = []
    for p in found:
        if p.kind != P.POSITIONAL_ONLY and kinds and kinds[-1] == P.POSITIONAL_ONLY:
            words.append("/")
        if p.kind == P.KEYWORD_ONLY and not {P.KEYWORD_ONLY, P.VAR_POSITIONAL} & {
            *kinds
        }:
            words.append("*")
        words.append(str(p))
        kinds.append(p.kind)
    if kinds and kinds[-1] == P.POSITIONAL_ONLY:
        words.append("/")
    return ", ".join(words)


def in_order(found: list[Parameter]) -> list[Parameter]:
    """The same, by keyword alone from the first that is required after an optional."""
    done: list[Parameter] = []
    optional = keyword = False
    for p in found:
        plain = p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)
        keyword |= plain and optional and not p.default
        optional |= plain and bool(p.default)
        done.append(p._replace(kind=P.KEYWORD_ONLY) if keyword and plain else p)
    return sorted(done, key=lambda p: p.kind)


# --- overloads ------------------------------------------------------------------------


def takes_dim(function: Any) -> bool:
    """Whether `dim=` and `keepdim=` are taken in the place of NumPy's names."""
    code = getattr(function, "__code__", None)
    composed = code is not None and code.co_filename.endswith("composite.py")
    return isinstance(function, Operator) or composed


def with_dim(found: list[Parameter]) -> list[Parameter]:
    """The parameters with PyTorch's names, by keyword."""
    at = [p.name for p in found].index("axis")
    named = [
        p._replace(
            name={"axis": "dim", "keepdims": "keepdim"}.get(p.name, p.name),
            kind=P.KEYWORD_ONLY if k >= at else p.kind,
            default="" if k == at else p.default,
        )
        for k, p in enumerate(found)
    ]
    return named


def leading(
    found: list[Parameter], place: Place
) -> Iterator[tuple[list[Parameter], str]]:
    """The parameters for each kind of result, and that kind."""
    leads = [k for k, p in enumerate(found) if p.lead]
    if place.kind or not leads:
        yield found, place.kind
        return
    for which in [*leads, None]:
        if which is None and place.torch:
            return
        changed = list(found)
        for k in leads:
            old = "_ArrayLike"
            kind = "_T" if k == which else "_Plain"
            if which is None or which >= k:
                text = found[k].type.replace(old, kind).replace("Tensor", kind)
                changed[k] = found[k]._replace(type=text)
        yield changed, "_T" if which is not None else "_C.Tensor"


def flagged(
    found: list[Parameter], flags: dict[str, str] | None, rows: list[Any]
) -> list[Parameter]:
    """The parameters where flags are given, others are off; None: any flags."""
    if flags is None:
        return in_order(found)
    names = {name for row, _ in rows for name in row or ()}
    changed = []
    for p in found:
        if p.name in flags:
            literal = flags[p.name]
            stays = p.default and p.default.replace("'", '"') in literal
            p = p._replace(type=literal, default=p.default if stays else "")
        elif p.name in names and p.type == "bool":
            p = p._replace(type=f"Literal[{p.default}]")
        changed.append(p)
    return in_order(changed)


def result_of(key: str, signature: inspect.Signature) -> Any:
    """The result in words of the tables, or rows of flags and results."""
    name = key.rpartition(".")[2]
    known = RESULTS.get(key) or RESULTS.get(name)
    text = annotated(signature.return_annotation)
    if text.startswith(("tuple", "list")) or text == "Any":
        text = text.replace("Any", "T")
    if key.startswith("torch."):
        text = re.sub(r"\bTensor\b", "TorchTensor", text)
    return known or ("T" if text in ("", "Any", "DTensor", "Tensor") else text)


def definitions(name: str, function: Any, place: Place) -> list[str]:
    """The definitions of a function or method in a stub."""
    prefix = "torch." if place.torch else ""
    text = WRITTEN.get(f"{prefix}{'.' if place.kind else ''}{name}")
    if text is not None:
        return overloaded(filled(text, place))
    signature = inspect.signature(function)
    base = name.removesuffix("_") if place.kind else name
    if name != base and "args" in signature.parameters:
        table = {**METHODS, **_methods.TABLE} if place.torch else METHODS
        function = table.get(base) or getattr(ops, base, function)
        signature = inspect.signature(function)
    found = parameters(prefix + base, signature)
    if place.kind:  # what the method is called of has its name in the function
        found[0] = found[0]._replace(type="", default="", lead=False)
    if name != base:
        kind = min([P.POSITIONAL_OR_KEYWORD, *(p.kind for p in found[1:])])
        first = found[0]._replace(name="self", kind=kind)
        found = [first, *(p for p in found[1:] if p.name != "out")]
    result = result_of(prefix + base, signature)
    if name != base and result == "T":
        result = "Self"
    rows = result if isinstance(result, list) else [({}, result)]
    dims = [found]
    if takes_dim(function) and "axis" in {p.name for p in found}:
        dims.append(with_dim(found))
    return overloaded(
        definition(name, some, text, kind, place)
        for flags, text in rows
        for own in dims
        for some, kind in leading(flagged(own, flags, rows), place)
    )


def definition(
    name: str, found: list[Parameter], result: str, kind: str, place: Place
) -> str:
    inside = listed(in_order(found))
    kind = kind or ("TorchTensor" if place.torch else "DTensor")
    return qualified(f"def {name}({inside}) -> {of_kind(result, kind)}: ...", place)


def of_kind(text: str, kind: str) -> str:
    return re.sub(r"(?<!def )\bT\b", kind, text)


def qualified(line: str, place: Place) -> str:
    line = line.replace("_C.", "") if place.kind else line
    return BUILTINS.sub(r"builtins.\1", line) if place.kind or place.torch else line


def filled(text: str, place: Place) -> Iterator[str]:
    """The definitions of a text of the tables, for this place."""
    for node in ast.parse(text).body:
        yield qualified(of_kind(ast.unparse(node), place.kind or "_T"), place)


def overloaded(lines: Iterable[str]) -> list[str]:
    once = list(dict.fromkeys(lines))
    return ["@overload\n" + line for line in once] if len(once) > 1 else once


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
def fallback(function: Callable[..., Any]) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Any]: ...
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
            yield f"def __{reflected}{name}__(self, value: _ArrayLike{more}, /) -> T: ..."
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
    results depend on flags, or they are made in place of others and take their arguments.
    """
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
    for path, text in written().items():
        path.write_text(text)
