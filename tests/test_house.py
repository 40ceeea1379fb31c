"""The house: who may include and import what, and how long a file may be."""

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]

C11 = {
    f"{name}.h"
    for name in "assert complex ctype errno fenv float inttypes limits math stdalign "
    "stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string".split()
}
POSIX = {
    f"{name}.h"
    for name in "fcntl pthread sched semaphore signal sys/mman sys/stat sys/time "
    "sys/types sys/uio time unistd".split()
}

CPU = {"cpuid.h", "emmintrin.h", "immintrin.h"}

# What a C file of each storey may include: these names, or what matches.
MAY_INCLUDE = {
    "core": (C11 | CPU, r"core/.*"),
    "kernels": (C11 | CPU, r"kernels/.*|core/(dtype|placement|random|status)\.h"),
    "comm": (C11 | POSIX, r"(comm|core|kernels)/.*"),
    "ext": (
        C11 | POSIX | {"Python.h", "structmember.h"},
        r"(ext|comm|core|kernels|numpy)/.*",
    ),
}
# Files whose whole purpose is one thing more.
MAY_INCLUDE_TOO = {
    "comm/transport_mpi.c": {"mpi.h"},
    "core/memory.c": {"pthread.h", "sys/mman.h", "unistd.h"},
}
MAY_HAVE_GLOBALS = {"memory.c.o"}  # the pool that every array comes from

# What python/ may import; an optional library comes through require("extra").
MAY_IMPORT = (set(sys.stdlib_module_names) - {"ctypes"}) | {
    "dtensor",
    "mpi4py",
    "numpy",
}

MOST_LINES = {".c": 500, ".h": 500, ".py": 400}


def files(*suffixes: str, under: str = ".") -> Iterator[Path]:
    """Yield the project's files with one of these suffixes."""
    tops = ("csrc", "python", "tests", "examples", "docs")
    for top in tops if under == "." else (under,):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in suffixes and "__pycache__" not in path.parts:
                yield path


def where(path: Path, line: int = 0) -> str:
    name = path.relative_to(ROOT).as_posix()
    return f"{name}:{line}" if line else name


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
        """The file and two folders; `utils` is how torch's own paths have it."""
        return [path.name, *(part for part in path.parts[-3:-1] if part != "utils")]

    wrong = [
        where(path)
        for path in files(".c", ".h", ".py", ".pyi")
        if any(vague.fullmatch(Path(part).stem) for part in named(path))
    ]
    assert not wrong, "\n".join(wrong)


def packages_needed(names: Iterable[str]) -> set[str]:
    """Return these packages, and what those that are installed here need."""
    found: set[str] = set()
    left = [(canonicalize_name(name), "") for name in names]
    while left:
        name, extra = left.pop()
        if name in found and not extra:
            continue
        found.add(name)
        try:
            lines = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for need in map(Requirement, lines):
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                left += [(canonicalize_name(need.name), e) for e in ("", *need.extras)]
    return found


def test_what_run_installs_has_one_exact_version_on_every_python():
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = tables["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *sum(extras.values(), [])]
    pins = [Requirement(line) for line in tables["tool"]["dtensor"]["versions"]]
    assert all(re.fullmatch(r"==[\w.]+", str(pin.specifier)) for pin in pins)
    needed = packages_needed(Requirement(line).name for line in lines)
    for python in ("3.11", "3.12", "3.13", "3.14"):
        where = {"python_version": python}
        here = [p for p in pins if p.marker is None or p.marker.evaluate(where)]
        names = [canonicalize_name(pin.name) for pin in here]
        assert len(names) == len(set(names)), python
        assert needed <= set(names), needed - set(names)
