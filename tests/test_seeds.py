"""What PyTorch's documentation names is here: paths, arguments, examples."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest
from jobs import run
from scripts import play, play_alone
from seed_names import ATTRIBUTES, BOTH, DIFFERENT, MODULES, SIGNATURES

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "tests" / "seed_examples").glob("*.py"))
PARITY = (ROOT / "docs" / "torch_parity.md").read_text()

# Every path is imported in a process of its own, a fork of one that has imported only
# the root: Python does so before anything below it. What fails is printed. MPI is not
# started: it has threads, which a fork would lose.
IMPORTS = """
import importlib, os, sys
import mpi4py
mpi4py.rc.initialize = False
importlib.import_module(ROOT)

def attribute(root, path):
    package, _, name = f"{root}.{path}".rpartition(".")
    package = importlib.import_module(package)
    found = getattr(package, name)
    module = sys.modules.get(f"{root}.{path}")
    assert callable(found) if path in BOTH else found is module, found

def names(root, path):
    module = importlib.import_module(f"{root}.{path}")
    assert module is sys.modules[f"{root}.{path}"]
    for name in MODULES[path].split():
        space = {}
        exec(f"from {root}.{path} import {name}", space)
        assert callable(space[name]), name

def check(root, path, module_first):
    package = f"{root}.{path}".rpartition(".")[0]
    importlib.import_module(f"{root}.{path}" if module_first else package)
    if not module_first and path in BOTH:
        attribute(root, path)
    names(root, path)
    attribute(root, path)
    exec(f"import {root}.{path}")
    attribute(root, path)

for path in MODULES:
    for module_first in True, False:
        child = os.fork()
        if child == 0:
            try:
                check(ROOT, path, module_first)
            except BaseException as error:
                print(path, module_first, repr(error), flush=True)
                os._exit(1)
            os._exit(0)
        os.waitpid(child, 0)
print("checked", len(MODULES))
"""


@pytest.mark.parametrize("root", ["dtensor", "dtensor.torch.distributed.tensor"])
def test_every_path_can_be_imported_first_or_last(root):
    given = f"ROOT, MODULES, BOTH = {root!r}, {MODULES!r}, {BOTH!r}\n"
    code, output, _ = run([sys.executable, "-c", given + IMPORTS])
    assert code == 0 and output == f"checked {len(MODULES)}\n", output


# --- arguments ------------------------------------------------------------------------


def found(root, dotted):
    """What a dotted name is, below a module."""
    value = importlib.import_module(root)
    for part in dotted.split("."):
        if inspect.ismodule(value) and not hasattr(value, part):
            importlib.import_module(f"{value.__name__}.{part}")
        value = getattr(value, part)
    return value


def written(text):
    """The parameters of a signature that is written out: (name, kind, default)."""
    space = {**vars(importlib.import_module("dtensor.parallel.style"))}
    space |= vars(importlib.import_module("dtensor.placement_types"))
    exec(f"def signature{text}: ...", space)
    return parameters(space["signature"])


def parameters(function):
    """The parameters of a function, without `self`, by name."""
    every = inspect.signature(function).parameters.values()
    return {p.name: p for p in every if p.name != "self"}


def same(ours, theirs):
    """Whether all of theirs is in ours, which may have more keyword-only options."""
    more = [ours[name] for name in ours if name not in theirs]
    optional = all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in more)

    def order(each):
        return [p.name for p in each if p.kind is not p.KEYWORD_ONLY]

    return (
        optional
        and order(ours.values()) == order(theirs.values())
        and all(
            name in ours
            and ours[name].kind is p.kind
            and (ours[name].default is p.default or ours[name].default == p.default)
            for name, p in theirs.items()
        )
    )


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_and_defaults_are_pytorchs(name):
    ours = parameters(found("dtensor", name))
    if name in DIFFERENT:
        assert same(ours, written(DIFFERENT[name][0])), ours
        assert not same(ours, written(SIGNATURES[name])), "it does not differ"
    else:
        assert same(ours, written(SIGNATURES[name])), ours


def test_the_comparison_tells_signatures_apart():
    ours = written("(a, b=1, *, c=2)")
    assert same(ours, written("(a, b=1)")) and same(ours, ours)
    for other in ["(a, b=2)", "(b=1)", "(a, *, b=1)", "(a, b)", "(a, b=1, *, d=2)"]:
        assert not same(ours, written(other)), other
    assert not same(written("(a, *, b)"), written("(a)"))


MADE_IN_THE_DIALECT = {
    *"DTensor DTensor.from_local distribute_tensor".split(),
    *"zeros ones empty full rand randn".split(),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_torch_has_the_same_object(name):
    theirs = found("dtensor.torch.distributed.tensor", name)
    ours = found("dtensor", name)
    if name in MADE_IN_THE_DIALECT:  # the same, of tensors with PyTorch's methods
        assert (
            theirs is not ours and parameters(theirs).keys() == parameters(ours).keys()
        )
    elif name == "experimental.register_sharding":  # it takes PyTorch's operators too
        assert parameters(theirs).keys() == parameters(ours).keys()
    else:
        assert theirs is ours or theirs == ours  # methods are bound anew


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_class_has_its_attributes(name):
    for attribute in ATTRIBUTES[name].split():
        assert hasattr(found("dtensor", name), attribute), attribute


# --- the page on what differs ---------------------------------------------------------


def tail(name):
    return name.rpartition(".")[2]


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_parity_page_names_it(name):
    assert re.search(rf"(?<!\w){tail(name)}(?!\w)", PARITY) or (
        re.match("make_(input|output)_", tail(name)) and "`make_input_*`" in PARITY
    )


def shown_arguments():
    """Yield every name with the arguments that a row of the page shows for it."""
    for name in SIGNATURES:
        of = rf"`(?:DTensor\.|DeviceMesh\.)?{tail(name)}(\([^`]*\))`"
        for line in PARITY.splitlines():
            cell = line.split(" | ")[0]
            shown = re.search(of, cell) if cell.startswith("| ") else None
            if shown and "..." not in shown[1] and " to `" not in cell:  # a move
                yield name, shown[1]


def test_the_parity_page_has_pytorchs_arguments():
    rows = list(shown_arguments())
    assert len(rows) > 30
    for name, shown in rows:
        signatures = [SIGNATURES[name], *DIFFERENT.get(name, ())[:1]]
        assert any(same(written(shown), written(each)) for each in signatures), name


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_parity_page_says_what_differs(name):
    says = DIFFERENT[name][1]
    rows = [line for line in PARITY.splitlines() if says in line]
    shown = "tensor.random" if name == "random.manual_seed" else tail(name)
    assert any(shown in row for row in rows), says


# --- examples -------------------------------------------------------------------------


def test_every_page_has_its_examples():
    names = {path.stem for path in EXAMPLES}
    assert names == {"context_parallel", "distributed_tensor", "tensor_parallel"}


def test_the_examples_run_one_after_the_other(tmp_path):
    play(EXAMPLES, tmp_path)


@pytest.mark.validate
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path):
    play_alone(path)


def test_only_import_lines_differ_from_pytorchs():
    for path in EXAMPLES:
        for line in path.read_text().splitlines():
            if "dtensor.torch" in line:
                assert line.startswith(("import ", "from ")), f"{path.name}: {line}"
