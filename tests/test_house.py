"""The house: who may include and import what, and how long a file may be."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from uses import ROOT, circle, files, imports_of_modules, uses, where

C11 = {
    f"{name}.h"
    for name in "assert complex ctype errno fenv float inttypes limits math stdalign "
    "stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string".split()
}
POSIX = {
    f"{name}.h"
    for name in "fcntl pthread sched semaphore signal sys/mman sys/resource sys/stat "
    "sys/time sys/types sys/uio time unistd".split()
}

CPU = {"cpuid.h", "emmintrin.h", "immintrin.h"}

# What a C file of each storey may include: these names, or what matches.
MAY_INCLUDE = {
    "core": (C11 | CPU, r"core/.*"),
    "kernels": (
        C11 | CPU,
        r"kernels/.*|core/facts/(dtype|reduce_op|status)\.h|core/format/random\.h"
        r"|core/threads/team\.h",
    ),
    "comm": (C11 | POSIX, r"(comm|core|kernels)/.*"),
    "ext": (
        C11 | POSIX | {"Python.h", "structmember.h"},
        r"(ext|comm|core|kernels|numpy)/.*",
    ),
}
# Files whose whole purpose is one thing more.
MAY_INCLUDE_TOO = {
    "comm/transport/transport_mpi.c": {"mpi.h"},
    "ext/base/reserve.c": {"malloc.h"},
    "core/memory/memory.c": {"pthread.h"},
    "core/memory/range.c": {"pthread.h", "sys/mman.h", "unistd.h"},
    "core/threads/team.c": {"pthread.h", "signal.h"},
    "kernels/product.c": {"sys/syscall.h", "unistd.h"},
}
# The pool that every array comes from; the threads of the process.
MAY_HAVE_GLOBALS = {"memory.c.o", "range.c.o", "team.c.o"}

# Rooms of a storey, in the order of use: each uses only those before it.
ROOMS = {
    "core": "facts threads memory layout plan rule format".split(),
    "comm": "transport talk way run".split(),
    "ext": "base types move op tape kernels dispatch make face".split(),
}

# What python/ may import; an optional library comes through require("extra").
MAY_IMPORT = (set(sys.stdlib_module_names) - {"ctypes"}) | {
    "dtensor",
    "mpi4py",
    "numpy",
}

MOST_LINES = {".c": 500, ".h": 500, ".py": 400}


def test_a_storey_includes_only_what_is_below_it() -> None:
    wrong = []
    for path in files(".c", ".h", under="csrc"):
        name = path.relative_to(ROOT / "csrc").as_posix()
        named, pattern = MAY_INCLUDE[name.split("/")[0]]
        named = named | MAY_INCLUDE_TOO.get(name, set())
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(r'\s*#\s*include\s+[<"]([^>"]*)[>"]', line)
            if not include or include[1] in named or re.fullmatch(pattern, include[1]):
                continue
            wrong.append(f"{where(path, number)} includes {include[1]}")
    assert not wrong, "\n".join(wrong)


def test_only_the_core_asks_what_kind_a_placement_is() -> None:
    """Others ask the questions of placement.h; they may have a table with a row for
    each kind, whose length is asserted."""
    (header,) = (ROOT / "csrc" / "core").rglob("placement.h")
    kinds = re.search(r"enum \{([^}]*)\} dt_placement_kind;", header.read_text())
    assert kinds
    names = "|".join(re.findall(r"\bDT_\w+", kinds[1]))
    asked = re.compile(rf"\b(?:{names})\b(?!\] = )|\bplacements?\b.*\bkind [=!]=")
    wrong = []
    for path in files(".c", ".h", under="csrc"):
        if path.is_relative_to(ROOT / "csrc" / "core"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if asked.search(line):
                wrong.append(f"{where(path, number)}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def core_objects(*command: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each object of the core, and what a tool prints about it."""
    library = ROOT / "build" / "libdt_core.a"
    assert library.exists(), "./run build makes it"
    text = subprocess.check_output([*command, library], text=True)
    for part in re.split(r"^(?=\S+\.o:)", text, flags=re.MULTILINE)[1:]:
        name = part.split(":")[0]
        if name not in MAY_HAVE_GLOBALS:
            yield name, part


def test_core_has_no_mutable_globals() -> None:
    section = re.compile(r"^ *\d+ \.(?:t?data|t?bss) +(\w+)", re.MULTILINE)
    for name, printed in core_objects("objdump", "-h"):
        sizes = [int(size, 16) for size in section.findall(printed)]
        assert sizes and not any(sizes), f"{name}: .data and .bss have {sizes} bytes"


def test_core_does_no_input_or_output() -> None:
    speaks = "fopen fputs fprintf fwrite getenv open printf putchar puts read stderr "
    speaks += "stdout write"
    for name, printed in core_objects("nm", "-u"):
        called = set(re.findall(r"^ +U (\w+)", printed, re.MULTILINE))
        assert not called & set(speaks.split()), name


def imports(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Yield every import of another package, and that package's name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node, node.module.split(".")[0]


def test_the_face_imports_numpy_mpi4py_and_nothing_else() -> None:
    wrong = []
    for path in files(".py", ".pyi", under="python"):
        also = {"typing_extensions"} if path.suffix == ".pyi" else set()
        for node, package in imports(ast.parse(path.read_text())):
            if package not in MAY_IMPORT | also:
                wrong.append(f"{where(path, node.lineno)} imports {package}")
    assert not wrong, "\n".join(wrong)


def test_the_face_imports_nothing_inside_a_function() -> None:
    wrong = []
    for path in files(".py", under="python"):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    wrong.append(f"{where(path, node.lineno)} in {function.name}()")
    assert not wrong, "\n".join(wrong)


def test_no_circle_between_python_modules() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    graph = imports_of_modules()
    assert len(graph) > 300 and graph["dtensor._C"]
    found = circle(graph)
    assert not found, " -> ".join(found)


OPS = ROOT / "python" / "dtensor" / "ops"


def rooms() -> list[str]:
    """Return the rooms of operators, in the order in which the docs have them."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    table = text.split("### Rooms of operators")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)


def test_a_room_of_operators_uses_only_those_before_it() -> None:
    order = rooms()
    assert {path.parent.name for path in OPS.glob("*/__init__.py")} == set(order)
    assert [path.name for path in OPS.glob("*.py")] == ["__init__.py"]
    wrong = []
    for name, wanted in imports_of_modules().items():
        if not name.startswith("dtensor.ops."):
            continue
        for other in wanted:
            here, there = name.split(".")[2], f"{other}...".split(".")[2]
            upwards = there in order and order.index(there) > order.index(here)
            if upwards or other == "dtensor.ops":
                wrong.append(f"{name} imports {other}")
    assert not wrong, "\n".join(wrong)


def test_a_room_says_what_it_is_in_a_few_lines() -> None:
    for path in [*OPS.glob("*/__init__.py"), OPS.parent / "_core" / "__init__.py"]:
        text = ast.get_docstring(ast.parse(path.read_text()))
        assert text and 4 <= len(text.splitlines()) <= 6, where(path)
        assert re.search(r"\bmay use\b", text, re.I), where(path)
        assert re.search(r"\bBegin with\b", text), where(path)


def test_a_file_can_be_read_in_one_go() -> None:
    wrong = []
    for path in files(*MOST_LINES):
        lines = len(path.read_text().splitlines())
        if lines > MOST_LINES[path.suffix]:
            wrong.append(f"{where(path)} has {lines} lines")
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_to_do() -> None:
    mark = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b")
    wrong = []
    paths = [*files(".c", ".h", ".py", ".pyi", ".md")]
    for path in [*paths, ROOT / "run", ROOT / "CMakeLists.txt"]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if mark.search(line):
                wrong.append(f"{where(path, number)}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def test_a_file_is_named_after_what_is_in_it() -> None:
    vague = re.compile(r"_*(utils?|helpers?|common|misc|stuff)\d*")

    def named(path: Path) -> list[str]:
        """The file and two folders; `utils` is how torch's own paths have it, and
        `_utils` its private ones."""
        rooms = "_tensor", "tensor", "torch"
        own = path.parts[-2:] in {(room, "_utils.py") for room in rooms}
        folders = [part for part in path.parts[-3:-1] if part != "utils"]
        return folders if own else [path.name, *folders]

    wrong = [
        where(path)
        for path in files(".c", ".h", ".py", ".pyi")
        if any(vague.fullmatch(Path(part).stem) for part in named(path))
    ]
    assert not wrong, "\n".join(wrong)


def room_of(name: str) -> tuple[str, int]:
    """The storey of a file under csrc, and its room's place there."""
    storey, *room, _ = name.split("/")
    rooms = ROOMS.get(storey, [])
    return storey, rooms.index(room[0]) if room else len(rooms)


def test_a_room_includes_only_those_before_it() -> None:
    wrong = []
    for path in files(".c", ".h", under="csrc"):
        storey, place = room_of(path.relative_to(ROOT / "csrc").as_posix())
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(rf'#include "({storey}/.*)"', line)
            if storey in ROOMS and include and room_of(include[1])[1] > place:
                wrong.append(f"{where(path, number)} includes {include[1]}")
    assert not wrong, "\n".join(wrong)


def test_a_room_has_one_header_that_shows_it() -> None:
    for storey, rooms in ROOMS.items():
        for room in rooms:
            folder = ROOT / "csrc" / storey / room
            texts = [path.read_text() for path in folder.glob("*.h")]
            tops = [text for text in texts if text.startswith("/* The room ")]
            assert len(tops) == 1, f"{where(folder)}: {len(tops)} headers show it"
            shown = re.match(
                rf"/\* The room {storey}/{room}: .*\n \* .*\n \*\n"
                r" \* May use: .*\n \* Begin with: .* \*/\n",
                tops[0],
            )
            assert shown, where(folder)


def test_the_table_of_rooms_is_the_tree() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    listed = {
        room: set(re.findall("`(.*?)`", cell))
        for room, cell in re.findall(r"^\| `(\w+/\w+)` \| (.*?) \|", page, re.MULTILINE)
        if room.split("/")[0] in ROOMS
    }
    found = {
        f"{storey}/{room}": {
            path.stem for path in (ROOT / "csrc" / storey / room).iterdir()
        }
        for storey, rooms in ROOMS.items()
        for room in rooms
    }
    assert listed == found


def test_no_two_files_use_each_other() -> None:
    found = circle(uses())
    assert not found, " -> ".join(found)


def test_a_room_uses_symbols_only_of_those_before_it() -> None:
    for name, others in uses().items():
        storey, place = room_of(name)
        for other in others if storey in ROOMS else ():
            assert other.split("/")[0] != storey or room_of(other)[1] <= place, (
                f"{name} uses {other}"
            )


def test_no_type_name_is_given_twice() -> None:
    # `typedef struct x x;` only declares what is defined elsewhere.
    name = re.compile(
        r"\} (dt_\w+);|^typedef (?!struct (\w+) \2;)[^;{]*?\b(dt_\w+)(?:\(|;)",
        re.MULTILINE,
    )
    places: dict[str, list[str]] = {}
    for path in files(".c", ".h", under="csrc"):
        for match in name.finditer(path.read_text()):
            places.setdefault(match[1] or match[3], []).append(where(path))
    assert len(places) > 50
    twice = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert not twice, twice
