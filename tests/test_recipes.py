"""The recipes of docs/recipes.md work: diffs apply to this tree, and commands pass."""

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from jobs import clean_environment

ROOT = Path(__file__).resolve().parents[1]
TREE = "csrc docs python tests CMakeLists.txt LICENSE README.md pyproject.toml".split()
TITLES = """An operator
A module
A parallel style
A debug view
A reduce op
A dtype
A kernel
A placement kind
A transport
A way""".splitlines()
BIN = str(Path(sys.executable).parent)
QUICK = {"An operator", "A parallel style"}  # in ./run test too: Python, some seconds


# Tables whose rows others change: a diff would not apply for long.
NOT_IN_DIFFS = {
    "docs/architecture.md",
    "docs/operators_table.md",
    "python/dtensor/ops/__init__.pyi",
}


class Recipe(NamedTuple):
    """A section of the page."""

    title: str
    files: list[str]  # of the list, in its order
    diff: str
    commands: list[str]
    omissions: list[tuple[str, str]]  # a file of the diff, and what the compiler says

    def changed(self) -> list[str]:
        return re.findall(r"^\+\+\+ b/(.*)$", self.diff, re.MULTILINE)

    def is_compiled(self) -> bool:
        return any(name.startswith("csrc/") for name in self.changed())

    def without(self, path: str) -> str:
        """The diff without a file."""
        parts = re.split(r"^(?=diff --git )", self.diff, flags=re.MULTILINE)
        return "".join(part for part in parts if f"+++ b/{path}\n" not in part)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@functools.cache
def recipes() -> dict[str, Recipe]:
    """The sections that have a diff."""
    found = {}
    page = (ROOT / "docs" / "recipes.md").read_text()
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        title, text = section.split("\n", 1)
        diffs, commands = blocks(text, "diff"), blocks(text, "sh")
        assert len(diffs) == len(commands) == 1, f"{title}: one diff, one command block"
        found[title] = Recipe(
            title,
            re.findall(r"^\d+\. `([^`]+)`", text, re.MULTILINE),
            diffs[0],
            commands[0].splitlines(),
            re.findall(r"^\* without `([^`]+)`: `([^`]+)`", text, re.MULTILINE),
        )
    return found


def omissions() -> list[tuple[str, str, str]]:
    return [(r.title, *pair) for r in recipes().values() for pair in r.omissions]


# --- a copy of the tree ---------------------------------------------------------------


class Copy:
    """A copy of the tree with a diff in it. Its environment is this one's."""

    def __init__(self, place: Path, built: bool) -> None:
        self.place = place
        junk = ["__pycache__"] if built else ["__pycache__", "*.so"]
        for name in TREE:
            if (ROOT / name).is_dir():
                ignored = shutil.ignore_patterns(*junk)
                shutil.copytree(ROOT / name, place / name, ignore=ignored)
            else:
                shutil.copy(ROOT / name, place / name)

    def run(self, *command: str, given: str | None = None) -> tuple[int, str]:
        done = subprocess.run(
            command,
            cwd=self.place,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean_environment()
            | {
                "PATH": os.pathsep.join([BIN, os.environ["PATH"]]),
                "PYTHONPATH": str(self.place / "python"),
                "GIT_CEILING_DIRECTORIES": str(self.place.parent),
            },
        )
        return done.returncode, done.stdout

    def must(self, *command: str, given: str | None = None) -> None:
        code, output = self.run(*command, given=given)
        assert code == 0, f"{shlex.join(command)}\n{output[-4000:]}"

    def configure(self, extension: bool) -> None:
        options = [
            f"-DDTENSOR_EXTENSION={'ON' if extension else 'OFF'}",
            "-DDTENSOR_INPLACE=ON",
            "-DDTENSOR_DEVELOPER=ON",
            "-DDTENSOR_TESTS=ON",
            f"-DPython_EXECUTABLE={sys.executable}",
        ]
        self.must("cmake", "-G", "Ninja", "-S", ".", "-B", "build", *options)


def words_of(command: str) -> list[str]:
    """A command of the page as it runs here, where ./run has nothing to set up."""
    run, exec_, program, *words = shlex.split(command)
    assert (run, exec_) == ("./run", "exec"), command
    if program == "ctest":
        return [program, *words, "--no-tests=error", "--output-on-failure"]
    assert program in ("pytest", "python"), command
    return [sys.executable, *(["-m", "pytest"] if program == "pytest" else []), *words]


def targets_of(command: str) -> list[str]:
    """What must be built for a command: the C test of the same name, or the module."""
    words = shlex.split(command)
    return [words[words.index("-R") + 1].rstrip("$")] if "ctest" in words else ["_C"]


def includer(path: str) -> str:
    """A C file that a change of this one is compiled in."""
    if path.endswith(".c"):
        return path
    name = path.removeprefix("csrc/") if path.startswith("csrc/") else Path(path).name
    sources = sorted(ROOT.glob(f"{path.split('/')[0]}/**/*.c"))
    line = f'#include "{name}"'
    found = next(source for source in sources if line in source.read_text())
    return found.relative_to(ROOT).as_posix()


# --- the tests ------------------------------------------------------------------------


def test_there_is_a_recipe_for_each_kind_of_addition():
    assert list(recipes()) == TITLES


@pytest.mark.parametrize("title", TITLES)
def test_a_recipe_lists_the_files_of_its_diff_in_order(title):
    recipe = recipes()[title]
    assert recipe.changed() == [f for f in recipe.files if f in recipe.changed()]
    assert set(recipe.files) <= {*recipe.changed(), *NOT_IN_DIFFS}


@pytest.mark.parametrize("title", TITLES)
def test_a_diff_applies_and_is_in_the_style_of_the_project(title, tmp_path):
    copy, changed = Copy.__new__(Copy), recipes()[title].changed()
    copy.place = tmp_path
    for name in [*changed, "pyproject.toml", ".clang-format"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, tmp_path / name)
    copy.must("git", "apply", "--whitespace=error", given=recipes()[title].diff)
    python = [name for name in changed if name.endswith(".py")]
    c = [name for name in changed if name.endswith((".c", ".h"))]
    if python:
        copy.must("ruff", "format", "--check", *python)
        copy.must("ruff", "check", "--ignore", "I", *python)
    if c:
        copy.must("clang-format", "--dry-run", "-Werror", *c)
    new = [name for name in c if not (ROOT / name).exists()]
    if any(re.match(r"csrc/(core|comm|ext)/", name) for name in new):
        assert "docs/architecture.md" in recipes()[title].files, "the table of rooms"
    for name in python + c:
        lines = len((tmp_path / name).read_text().splitlines())
        assert lines <= (400 if name in python else 500), f"{name} has {lines} lines"


@pytest.mark.parametrize(
    "title",
    [t if t in QUICK else pytest.param(t, marks=pytest.mark.validate) for t in TITLES],
)
def test_the_commands_of_a_recipe_pass_with_its_diff(title, tmp_path):
    recipe = recipes()[title]
    copy = Copy(tmp_path, built=not recipe.is_compiled())
    copy.must("git", "apply", given=recipe.diff)
    if recipe.is_compiled():
        targets = {name for line in recipe.commands for name in targets_of(line)}
        copy.configure(extension="_C" in targets)
        copy.must("ninja", "-C", "build", *targets)
    for command in recipe.commands:
        copy.must(*words_of(command))


@pytest.mark.validate
@pytest.mark.parametrize("title, path, words", omissions())
def test_what_a_recipe_says_is_missed_is_missed(title, path, words, tmp_path):
    recipe = recipes()[title]
    copy = Copy(tmp_path, built=False)
    copy.must("git", "apply", given=recipe.without(path))
    copy.configure(extension=path.startswith("csrc/ext"))
    source = f"{includer(path)}^"  # ninja: what is made of it
    code, output = copy.run("ninja", "-C", "build", str(copy.place / source))
    assert code != 0 and words in output, output[-4000:]
