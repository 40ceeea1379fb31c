"""The code in README.md, docs, examples and docstrings runs as it stands."""

import doctest
import inspect
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from scripts import play, play_alone

import dtensor
import dtensor.checkpoint.metadata
import dtensor.checkpoint.state_dict
import dtensor.debug
import dtensor.experimental.tp_transform
import dtensor.fsdp
import dtensor.functional_collectives
import dtensor.io
import dtensor.nn.utils
import dtensor.notebook
import dtensor.optim.lr_scheduler
import dtensor.parallel
import dtensor.placement_types
import dtensor.sparse
import dtensor.testing
import dtensor.top
import dtensor.utils.checkpoint
import dtensor.utils.data

ROOT = Path(__file__).resolve().parents[1]


def scripts() -> dict[str, str]:
    """The Python blocks of the texts, and the examples."""
    found = {}
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        blocks = re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)
        found |= {f"{path.name} {k}": block for k, block in enumerate(blocks, 1)}
    for path in sorted((ROOT / "examples").glob("*.py")):
        if path.name == "train_transformer.py":  # in test_training.py, for less long
            continue
        found[f"examples/{path.name}"] = path.read_text()
    return found


SCRIPTS = scripts()
JOBS = 2  # in which they run together
MODULES = [
    dtensor,
    dtensor.checkpoint,
    dtensor.checkpoint.metadata,
    dtensor.checkpoint.state_dict,
    dtensor.autograd,
    dtensor.debug,
    dtensor.experimental,
    dtensor.experimental.tp_transform,
    dtensor.functional_collectives,
    dtensor.fsdp,
    dtensor.io,
    dtensor.nn,
    dtensor.nn.functional,
    dtensor.nn.init,
    dtensor.nn.utils,
    dtensor.notebook,
    dtensor.optim,
    dtensor.optim.lr_scheduler,
    dtensor.parallel,
    dtensor.random,
    dtensor.placement_types,
    dtensor.sparse,
    dtensor.testing,
    dtensor.top,
    dtensor.utils.checkpoint,
    dtensor.utils.data,
]


def public() -> dict[str, object]:
    """Every public function, class and method, by its name."""
    found = {}
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            found[f"{module.__name__}.{name}"] = thing
            members = vars(thing) if inspect.isclass(thing) else {}
            for member, value in members.items():
                if not member.startswith("_") and value is not None:
                    found[f"{module.__name__}.{name}.{member}"] = value
    return found


PUBLIC = public()
EXAMPLES = [
    name
    for name, thing in PUBLIC.items()
    if ">>>" in (thing.__doc__ or "") and "+SKIP" not in thing.__doc__
]


def test_the_readme_has_code():
    assert "README.md 1" in SCRIPTS


def written(names: Iterable[str], folder: Path) -> list[Path]:
    """The scripts as files."""
    paths = []
    for name in names:
        paths.append(folder / f"{name.replace('/', ' ')}.py")
        paths[-1].write_text(SCRIPTS[name])
    return paths


@pytest.mark.parametrize("turn", range(JOBS))
def test_the_scripts_of_the_documentation_run_one_after_the_other(turn, tmp_path):
    play(written([*SCRIPTS][turn::JOBS], tmp_path), tmp_path)


@pytest.mark.validate
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_of_the_documentation_runs(name, tmp_path):
    (script,) = written([name], tmp_path)
    play_alone(script)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_docstring_gives_what_it_says(name):
    names = {n: getattr(module, n) for module in MODULES for n in module.__all__}
    names |= {"np": np, "dtensor": dtensor}
    names["mesh"] = dtensor.init_device_mesh("cpu", (1,))
    text = inspect.getdoc(PUBLIC[name])
    test = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert result.attempted and not result.failed


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_a_docstring(name):
    assert (inspect.getdoc(PUBLIC[name]) or "").strip()
