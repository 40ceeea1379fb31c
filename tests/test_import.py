"""`import dtensor` loads what all programs need; the rest comes when asked for."""

import sys
from pathlib import Path

import pytest
from jobs import run

import dtensor
from dtensor import _later

ROOMS = ("nn", "optim", "debug", "_export", "overlap", *_later.ROOMS)
PROGRAM = f"""
import sys
import dtensor
found = [n for n in {ROOMS} if "dtensor." + n in sys.modules]
assert not found, found
assert {{"nn", "export"}} <= set(dir(dtensor))
assert isinstance(dtensor.nn.Linear, type) and dtensor.nn is sys.modules["dtensor.nn"]
assert callable(dtensor.export) and "export" in vars(dtensor)
import dtensor.api
assert callable(dtensor.api.distribute_module)
assert "<pre>" in dtensor.tensor([1.0, 2.0])._repr_html_()
from dtensor import *
assert callable(map_overlap)
"""


def test_a_new_python_loads_modules_when_they_are_asked_for():
    code, output, _ = run([sys.executable, "-c", PROGRAM], 120)
    assert code == 0, output


@pytest.mark.parametrize("name", _later.HOMES)
def test_what_is_loaded_later_is_public_and_there(name):
    assert name in dtensor.__all__ and name in dir(dtensor)
    assert getattr(dtensor, name).__name__.rpartition(".")[2] == name


@pytest.mark.parametrize("name", _later.ROOMS)
def test_modules_are_attributes_without_an_import(name):
    program = f"""
import sys
import dtensor
assert "{name}" in dir(dtensor) and "{name}" not in dtensor.__all__
assert dtensor.{name} is sys.modules["dtensor.{name}"]
"""
    code, output, _ = run([sys.executable, "-c", program], 120)
    assert code == 0, output


def test_modules_in_the_folder_are_attributes():
    folder = Path(dtensor.__file__).parent
    names = {path.stem for path in folder.iterdir() if path.suffix in ("", ".py")}
    names = {name for name in names if name[0] != "_"}
    assert names - {"overlap", "py"} <= set(dir(dtensor))


def test_a_name_that_is_not_there_is_said_so():
    with pytest.raises(AttributeError, match="'dtensor' has no attribute 'spam'"):
        _ = dtensor.spam
    with pytest.raises(AttributeError, match="'dtensor.api' has no attribute 'spam'"):
        _ = dtensor.api.spam
