"""The files of the project, and which use which others: by imports, by symbols."""

import ast
import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


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


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT / "python").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named_modules(node: ast.AST, package: str) -> Iterator[str]:
    """Yield what a statement imports, wherever it stands: absolute names.

    ``from a import b`` gives a.b: who asks decides whether that is a module.
    """
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: -node.level + 1 or None] if node.level else []
        base = ".".join([*above, *filter(None, [node.module])])
        yield from (f"{base}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
        yield from (str(a.value) for a in node.args if isinstance(a, ast.Constant))


@functools.cache
def imports_of_modules() -> dict[str, set[str]]:
    """Return which modules of the face each of them imports, at any time.

    The extension is one of them: it imports what its sources name. Importing a module
    is no import of the packages that it lies in.
    """
    paths = {module_name(path): path for path in files(".py", under="python")}
    graph: dict[str, set[str]] = {name: set() for name in [*paths, "dtensor._C"]}
    for name, path in paths.items():
        package = name if path.stem == "__init__" else name.rpartition(".")[0]
        for node in ast.walk(ast.parse(path.read_text())):
            for wanted in named_modules(node, package):
                module = wanted if wanted in graph else wanted.rpartition(".")[0]
                if module in graph:
                    graph[name].add(module)
    by_c = re.compile(r'[Ii]mport\w*\([^;"]*"(dtensor\.[^"]*)"')
    for path in files(".c", under="csrc"):
        graph["dtensor._C"].update(by_c.findall(path.read_text()))
    return graph


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return a way through the graph that ends where it began; empty: there is none."""
    done: set[str] = set()

    def search(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name not in done:
            for other in sorted(graph[name]):
                if found := search(other, [*way, name]):
                    return found
            done.add(name)
        return []

    return next(filter(None, (search(name, []) for name in sorted(graph))), [])


@functools.cache
def uses() -> dict[str, set[str]]:
    """Which C file, as `core/plan/plan`, uses symbols of which others: read by nm."""
    build = ROOT / "build"
    objects = {}
    for path in files(".c", under="csrc"):
        name = path.relative_to(ROOT / "csrc").with_suffix("").as_posix()
        found = sorted(build.glob(f"CMakeFiles/*.dir/csrc/{name}.c.o"))
        assert found, f"{where(path)} is not built: ./run build"
        objects[str(found[0])] = name
    defined: dict[str, str] = {}
    used: dict[str, set[str]] = {name: set() for name in objects.values()}
    lines = subprocess.check_output(["nm", "-A", *objects], text=True).splitlines()
    for line in lines:
        path, told = line.split(":", 1)
        kind, symbol = told.split()[-2:]
        if kind == "U":
            used[objects[path]].add(symbol)
        elif kind in "TDBRCVW":
            defined[symbol] = objects[path]
    return {
        name: {defined[s] for s in symbols if s in defined} - {name}
        for name, symbols in used.items()
    }
