"""Sphinx: the pages of this folder, and a reference of every public name.

python -m sphinx -b html docs build/docs

The reference is written anew for each build into docs/reference: a page for each
module, from its `__all__`. A public name that is on no page ends the build.
"""

import importlib
import inspect
import pkgutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import dtensor  # noqa: E402  from the sources

project = "dtensor"
copyright = "the authors of dtensor"  # noqa: A001  Sphinx's name
release = dtensor.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "navigation_depth": 2}
html_title = "dtensor"
# Only the pages of the reference have others beside them.
html_sidebars = {"[!r]*": []}
templates_path: list[str] = []

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# Files beside the pages, such as the examples, have no page of their own.
suppress_warnings = ["myst.xref_missing", "myst.header", "ref.python"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what is meant
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "code"

doctest_test_doctest_blocks = ""  # those of docstrings: tests/test_readme.py runs them

# --- the reference --------------------------------------------------------------------

MODULES = {
    "dtensor": "DTensor, meshes, placements, factories",
    "dtensor.ops": "operators: also as methods and NumPy functions",
    "dtensor.linalg": "linear algebra",
    "dtensor.fft": "Fourier transforms",
    "dtensor.random": "seeds, generators",
    "dtensor.autograd": "gradients",
    "dtensor.autograd.function": "functions with gradients of their own",
    "dtensor.autograd.graph": "what is recorded, and what it keeps",
    "dtensor.nn": "modules",
    "dtensor.nn.functional": "functions of modules",
    "dtensor.nn.init": "initial values",
    "dtensor.nn.utils": "clipping, parameters as vectors",
    "dtensor.nn.utils.parametrize": "parameters that are functions of others",
    "dtensor.nn.utils.parametrizations": "such functions",
    "dtensor.nn.utils.rnn": "sequences of several lengths",
    "dtensor.optim": "optimizers",
    "dtensor.optim.optimizer": "what optimizers have in common",
    "dtensor.optim.lr_scheduler": "schedules of learning rates",
    "dtensor.optim.swa_utils": "averages of models",
    "dtensor.amp": "other dtypes within a block, scaled gradients",
    "dtensor.amp.autocast_mode": "which dtypes",
    "dtensor.parallel": "parallel styles",
    "dtensor.fsdp": "fully sharded data parallelism",
    "dtensor.fsdp.data_parallel": "replicated data parallelism",
    "dtensor.fsdp.wrap": "which modules the older wrapper wraps",
    "dtensor.fsdp.state_dict_types": "the forms of its state",
    "dtensor.fsdp.optimizer_states": "and of the state of its optimizers",
    "dtensor.checkpoint": "checkpoints",
    "dtensor.checkpoint.state_dict": "the state of models and optimizers",
    "dtensor.checkpoint.state_dict_saver": "how saving goes on in the background",
    "dtensor.utils.checkpoint": "activation checkpoints",
    "dtensor.utils.data": "data sets, samplers, loaders",
    "dtensor.utils.data.workers": "processes that load data",
    "dtensor.functional_collectives": "collectives on Tensors",
    "dtensor.io": "HDF5 files, Zarr stores",
    "dtensor.sparse": "sparse matrices",
    "dtensor.experimental": "what may change",
    "dtensor.experimental.attention": "attention over parts of a sequence",
    "dtensor.experimental.tp_transform": "programs of one rank",
    "dtensor.debug": "what is sent, why, and what would be",
    "dtensor.doctor": "what ails a job",
    "dtensor.top": "what the jobs of a node do",
    "dtensor.testing": "ranks for tests",
    "dtensor.notebook": "ranks for notebooks",
    "dtensor.device_mesh": "meshes",
    "dtensor.placement_types": "placements",
}
REFERENCE = Path(__file__).parent / "reference"
# What has no pages: names of PyTorch and of the array API, families of operators.
ELSEWHERE = ("dtensor.torch", "dtensor.array_api", "dtensor.ops.")


def directive(name: str, thing: object) -> str:
    """Return how autodoc is asked for a name; a module has its own page."""
    if inspect.ismodule(thing):
        return ""
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
        return f".. auto{kind}:: {name}\n   :members:\n"
    return f".. auto{'function' if callable(thing) else 'data'}:: {name}\n"


def page(module: str, about: str, homes: dict[int, str]) -> str:
    """Return the page of a module; what has a home on another one is named only."""
    title = f"{module}: {about}"
    known = importlib.import_module(module)
    parts = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
    if known.__doc__:
        parts += [inspect.cleandoc(known.__doc__), ""]
    also = []
    names = {*known.__all__}
    if module == "dtensor":  # operators have a page of their own
        names -= {*dtensor.ops.__all__}
    for name in sorted(names):
        thing = getattr(known, name)
        home = homes.setdefault(id(thing), f"{module}.{name}")
        if home == f"{module}.{name}":
            parts.append(directive(name, thing))
        elif not inspect.ismodule(thing):
            also.append(f"``{name}`` (:py:obj:`{home}`)")
    if also:
        parts += ["Also: " + ", ".join(also) + ".", ""]
    return "\n".join(parts) + "\n"


def _named(name: str) -> object:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def write_reference(app: Any) -> None:
    """Write a page for each module, and the list of them."""
    homes: dict[int, str] = {}
    lines = ["# Reference", "", "Every public name, from the docstrings.", ""]
    lines += ["```{toctree}", ":maxdepth: 1", ""]
    REFERENCE.mkdir(exist_ok=True)
    for path in REFERENCE.glob("*.rst"):
        if path.stem not in MODULES:  # of a build before
            path.unlink()
    for module, about in MODULES.items():
        path = REFERENCE / f"{module}.rst"
        text = page(module, about, homes)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        lines.append(path.stem)
    (REFERENCE / "index.md").write_text("\n".join([*lines, "```", ""]))


def without_page(homes: dict[int, str]) -> list[str]:
    """Return the public functions and classes of all modules that are on no page."""
    found = []
    for _, module, _ in pkgutil.walk_packages(dtensor.__path__, "dtensor."):
        if "._" in module or module.startswith(ELSEWHERE):
            continue
        known = importlib.import_module(module)
        for name in getattr(known, "__all__", ()):
            thing = getattr(known, name)
            if callable(thing) and id(thing) not in homes:
                found.append(f"{module}.{name}")
    return found


def check_reference(app: Any, error: Exception | None) -> None:
    """End the build if a public name is not documented."""
    if error is not None or app.builder.name != "html":
        return
    found = app.env.domains["py"].objects
    homes: dict[int, str] = {}
    for module in MODULES:
        page(module, "", homes)
    things = [home for home in homes.values() if not inspect.ismodule(_named(home))]
    missing = sorted({*things, *without_page(homes)} - set(found))
    if missing:
        raise RuntimeError(f"not in the reference: {', '.join(missing)}")


def setup(app: Any) -> None:
    """Have the reference written before, and checked after, the pages are read."""
    app.connect("builder-inited", write_reference)
    app.connect("build-finished", check_reference)
