"""What dtensor.torch refuses is refused in the words of PyTorch, on all ranks."""

import builtins
import re
import subprocess

import pytest
import torch_sentences
from meshes import line
from test_mistakes import Spread
from torch_sentences import raised, scene, sentence, sentences

import dtensor.torch as torch
from dtensor.testing import run_ranks

pytestmark = pytest.mark.filterwarnings("ignore")


def other_sentences(torch):
    """What is raised for PyTorch's sentences where it is another type or sentence."""
    found = {}
    for call, told in sentences():
        name, _, words = told.partition(": ")
        error = raised(call, scene(torch))
        kind = getattr(builtins, name, RuntimeError)
        if not isinstance(error, kind) or sentence(error) != words:
            found[call] = words, "nothing" if error is None else sentence(error)
    return found


def test_sentences_are_those_of_pytorch(tell):
    assert other_sentences(torch) == {}
    tell(f"{len(sentences())} sentences")
    assert len(sentences()) > 600


def only_of_cut_tensors(words, found):
    """Whether a sentence tells of the rank that failed, or of types, besides."""
    plain = re.sub(r"^rank \d: ", "", found).replace("DTensor", "Tensor")
    return plain == words or "got mixed Tensor and DTensor" in found


def test_sentences_of_cut_tensors_are_the_same_on_all_ranks():
    first, *others = run_ranks(2, lambda: other_sentences(torch=Spread(line())))
    for found in (first, *others):
        assert [x for x in found.values() if not only_of_cut_tensors(*x)] == []
        assert len(found) < 30


@pytest.mark.validate
def test_the_list_has_what_pytorch_says(torch_python):
    command = [torch_python, torch_sentences.__file__, "torch"]
    subprocess.run(command, check=True, timeout=600)
