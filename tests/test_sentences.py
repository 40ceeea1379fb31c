"""What dtensor.torch refuses is refused in the words of PyTorch, on all ranks."""

import builtins
import re
import subprocess

import numpy as np
import pytest
import torch_sentences
from meshes import line
from test_mistakes import Spread
from torch_sentences import raised, scene, sentence, sentences

import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor
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


def test_an_index_of_one_rank_is_refused_alike_on_all():
    def body():
        x = distribute_tensor(torch.ones(4, 3), line(), [Replicate()])
        index = torch.tensor([[0, 0, 0], [0, 0, 0], [0, 9, 0], [0, 0, 0]])
        index = distribute_tensor(index, line(), [Shard(0)])
        told = []
        for call in (
            lambda: torch.gather(x, 0, index),
            lambda: torch.scatter_add(x, 0, index, x),
        ):
            with pytest.raises(RuntimeError, match="out of bounds for dim") as raised:
                call()
            assert isinstance(raised.value, IndexError)
            told.append(re.sub("^rank 1: ", "", str(raised.value)))
        return told

    first, second = run_ranks(2, body)
    assert (
        first == second == ["index 9 is out of bounds for dimension 0 with size 4"] * 2
    )


def test_what_a_users_function_lacks_is_said_of_it():
    def twice(x, y):
        return x + y

    x = torch.ones(3)
    with pytest.raises(TypeError, match=r"twice\(\) missing 1 .* 'y'"):
        np.apply_along_axis(twice, 0, x)
