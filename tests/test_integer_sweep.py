"""Calls with integers beyond all arrays neither crash nor hang nor tell insides."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from samples_integer import KNOWN, MADE

from dtensor import ops

SWEEP = Path(__file__).with_name("sweep.py")


def swept(*options):
    """How many calls the sweep made, and what was wrong with which; in a process of
    its own, as it forks."""
    done = subprocess.run(
        [sys.executable, SWEEP, "--json", *options],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    found = json.loads(done.stdout)
    return found["calls"], found["wrong"]


def test_every_integer_parameter_of_every_operator_is_given_by_a_row():
    assert not [name for name, row in MADE.items() if row is None]
    assert not MADE.keys() & KNOWN
    assert len(MADE) + len(KNOWN & {*ops.__all__}) > 100


def test_some_calls_with_great_and_negative_integers_end_as_numpys_do():
    count, wrong = swept("--part", "0.02")
    assert count > 150 and not wrong, json.dumps(wrong, indent=1)


@pytest.mark.validate
def test_calls_with_great_and_negative_integers_end_as_numpys_do(tell):
    count, wrong = swept()
    tell(f"{count} calls with other integers compared with NumPy")
    assert not wrong, json.dumps(wrong, indent=1)
