"""The arguments of PyTorch's functions: run by Python with PyTorch, writes JSON.

``python torch_arguments.py FILE``: for each name of the list that can be called, its
forms. A form is a list of arguments: name, how it is given ("position", "keyword",
"several", "options"), and its default as text, or None.
"""

import inspect
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from torch_samples import found, listed

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "position",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "position",
    inspect.Parameter.VAR_POSITIONAL: "several",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "options",
}
SCRIPT = set("a l list t reverse i sections indices test_element".split())
SKIPPED = "Dimname Storage".split()  # types of arguments that are no one's here


def text_of(default):
    """A default as text: a number of any kind as a float."""
    if isinstance(default, bool) or default is None or isinstance(default, str):
        return repr(default)
    if isinstance(default, (int, float)):
        return repr(float(default))
    if isinstance(default, (list, tuple)):
        return f"[{', '.join(map(text_of, default))}]"
    return str(default)


def of_python(call):
    """The only form of a function whose text is known to Python."""
    rows = []
    for each in inspect.signature(call).parameters.values():
        none = each.default is inspect.Parameter.empty
        kind = KINDS[each.kind]
        rows.append([each.name, kind, None if none else text_of(each.default)])
    return rows


def of_schema(schema):
    """A form of a function of the core."""
    rows = []
    for each in schema.arguments:
        kind = "keyword" if each.kwarg_only else "position"
        default = None
        if each.has_default_value():
            default = text_of(each.default_value)
        rows.append([each.name, kind, default])
    return rows


def forms(path, torch):
    call = found(path, torch)
    try:
        return [of_python(call)]
    except (TypeError, ValueError):
        pass
    room, name = path.split(".")[-2:]
    name = f"{room}_{name}" if room in ("fft", "linalg", "special") else name
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{name}")
    chosen = []
    for schema in schemas:
        text = str(schema)
        if any(word in text for word in SKIPPED) or "out" in schema.overload_name:
            continue
        if any(each.is_out for each in schema.arguments if hasattr(each, "is_out")):
            continue
        rows = of_schema(schema)
        if {row[0] for row in rows} & SCRIPT:
            continue
        if path.startswith("Tensor.") and (not rows or rows[0][0] != "self"):
            continue
        if [row[:2] for row in rows[:1]] != [["self", "position"]] and name in (
            "max min sum prod".split()
        ):
            continue
        chosen.append(rows)
    return chosen


def main(file):
    import torch  # noqa: PLC0415

    table = {}
    for path in listed():
        try:
            call = found(path, torch)
        except AttributeError:
            continue
        if callable(call):
            table[path] = forms(path, torch)
    Path(file).write_text(json.dumps(table, indent=0))


if __name__ == "__main__":
    main(*sys.argv[1:])
