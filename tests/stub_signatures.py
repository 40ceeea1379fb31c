"""Signatures as definitions in a stub: parameters with types, overloads, results."""

import ast
import inspect
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from stub_tables import (
    ALIASES,
    LEADS,
    NAMES,
    OPTIONS,
    OPTIONS_OF,
    OWN,
    RESULTS,
    SECOND,
    SEQUENCES,
    SHAPES,
    WRITTEN,
)

from dtensor import ops
from dtensor._C import Operator
from dtensor.ops import METHODS
from dtensor.torch import _methods

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
    # of older NumPy a union, of newer one a name
    if "_DTypeDict" in text or re.fullmatch(r"([\w.]+\.)?DTypeLike( \| None)?", text):
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
    names = {
        name for row, _ in rows for name, to in (row or {}).items() if to != "bool"
    }
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
