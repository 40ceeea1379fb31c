"""Drawn calls of PyTorch's functions give what PyTorch gives, and its gradients.

On one process, and on 3 and 2 x 2 ranks in drawn layouts. The calls are those of
data/torch_drawn.txt, with the commit's seed. What PyTorch refuses may have an answer
here; an exception is of its type.
"""

import pickle
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch_compared
from divergences import seed

import dtensor
import dtensor.torch as torch
from dtensor.testing import run_ranks
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
)

sys.path.insert(0, str(Path(__file__).parent / "data"))  # as for PyTorch's script
import torch_drawn  # noqa: E402

pytestmark = [pytest.mark.validate, pytest.mark.filterwarnings("ignore")]
COUNT = 6000  # calls on one process
SPREAD = 2000  # of them on ranks
PLAYS = {"values": torch_drawn.evaluated, "gradients": torch_drawn.gradients}
# Of which tensors it is said that a call may differ: of dtype, array and view.
OF = {
    "any": lambda dtype, array, view: True,
    "bool": lambda dtype, array, view: dtype == "bool",
    "uint8": lambda dtype, array, view: dtype == "uint8",
    "integers": lambda dtype, array, view: "int" in dtype,
    "16 bits": lambda dtype, array, view: dtype in ("float16", "bfloat16"),
    "NaN": lambda dtype, array, view: np.isnan(array).any(),
    "infinity": lambda dtype, array, view: np.isinf(array).any(),
    "0": lambda dtype, array, view: not array.all(),
    "near poles": lambda dtype, array, view: is_near_pole(array),
    "integers, length 1": lambda dtype, array, view: (
        "int" in dtype and 1 in array.shape
    ),
    "no dims": lambda dtype, array, view: array.ndim == 0,
    "nothing": lambda dtype, array, view: array.size == 0,
    "gaps": lambda dtype, array, view: view == "slice",
    "singular": lambda dtype, array, view: is_singular(array),
}


def is_near_pole(array):
    """Whether an element is close to 0 or to a negative integer."""
    return ((array <= 0) & (np.abs(array - np.round(array)) < 0.05)).any()


def is_singular(array):
    """Whether the array is square matrices, one of which is singular."""
    square = array.ndim > 1 and array.shape[-1] == array.shape[-2]
    if not square or not np.isfinite(array).all():
        return False
    return (np.linalg.matrix_rank(array) < array.shape[-1]).any()


# Patterns of calls that differ, of which tensors, and why.
KNOWN = {
    "values": [
        (r"-[12].* [<>]|[<>]=? -[12]", "uint8", "so it is in comparisons"),
        (r"\b[lg][te]\((x, )?-[12]", "uint8", "and in these"),
        (r"put_in.* -[12].*\)$", "uint8", "a negative number is refused"),
        (r"einsum", "uint8", "stays where PyTorch adds along dims of length 1 alone"),
        (r"einsum", "integers, length 1", "so it does"),
        (r"\bsi?gn\(", "NaN", "is NaN, not 0"),
        (r"\bmode\(", "NaN", "or a number that comes as often"),
        (r"zeta", "infinity", "is 0, not NaN"),
        (r"rounding_mode='trunc'", "16 bits", "not rounded before it is truncated"),
        (r"ldexp", "16 bits", "powers of 2 are rounded to them, or not"),
        (r"frac\(|trace\(", "bool", "refused for what is computed of them"),
        (r"softmax\(", "nothing", "integers are refused, too"),
        (r"mT$|unflatten|vecdot", "no dims", "other errors, or none"),
        (r"vecdot", "any", "the dim of two vectors is looked at"),
        (r"diag_embed", "any", "the same dim twice that is one too many"),
        (r"bessel_j", "any", "PyTorch's is off by 1e-7 below -5"),
        (r"histogram", "any", "a number at the edge between two bins"),
        (r"linalg.solve\(", "singular", "rounding decides whether that is found"),
        (r"mode='(reflect|replicate|circular)'", "any", "of any number of dims"),
    ],
    "gradients": [
        (r"acosh|logit", "any", "outside the domain, where the value is NaN"),
        (r"digamma|psi", "near poles", "PyTorch is off by 1e-4, and finite at them"),
        (r"zeta", "uint8", "-x and x + 1 do not wrap around"),
        (r"kl_div|normalize", "0", "as nearby, where PyTorch has NaN"),
        (r"atan2", "integers", "PyTorch squares them in their dtype"),
        (r"ldexp", "integers", "PyTorch has 0 for negative exponents"),
        (r"batch_norm", "gaps", "PyTorch reads a weight as if it had none"),
        (r"pinv|det\(", "any", "of matrices that are singular, or nearly"),
        (r"am(ax|in)'", "any", "an element that is left out has no share"),
        (r"topk|kthvalue|quantile|median|mode", "any", "which of equal elements"),
    ],
}


@pytest.fixture(scope="module")
def answers(torch_python, tmp_path_factory):
    """Each call, and what PyTorch gives for it; None if it crashes."""
    file = tmp_path_factory.mktemp("drawn") / "answers"
    words = [torch_python, torch_drawn.__file__, file, str(seed()), str(COUNT)]
    subprocess.run(words, check=True, timeout=1800)
    calls = torch_drawn.calls(seed(), COUNT)
    return list(zip(calls, pickle.loads(file.read_bytes()), strict=True))


def tried(play, *args):
    """What a play gives: a result, or an exception."""
    try:
        with np.errstate(all="ignore"):
            return play(*args)
    except Exception as error:
        return error


# --- in layouts -----------------------------------------------------------------------


def drawn_layout(draw, x, mesh, finite):
    """Placements for a tensor; with infinities a pending sum has other results."""
    choices = [Replicate(), *map(Shard, range(x.ndim))]
    found = [draw.choice(choices) for _ in range(mesh.ndim)]
    wide = finite and x.dtype in (torch.float32, torch.float64)
    if wide and draw.random() < 0.15:
        found[0] = Partial()
    return found


def placed(x, mesh, placements):
    """A DTensor of a tensor that all ranks have."""
    if placements[0] != Partial():
        return distribute_tensor(x, mesh, placements)
    part = distribute_tensor(x, mesh, [Replicate(), *placements[1:]]).to_local()
    if mesh.get_coordinate()[0] > 0:
        part = -torch.zeros_like(part)  # to which -0.0 may be added
    return DTensor.from_local(part, mesh, placements, shape=x.shape, stride=x.stride())


def gathered(value):
    """A result with whole tensors."""
    if isinstance(value, DTensor):
        return value.full_tensor().detach()
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        return [gathered(x) for x in value]
    return value


def in_layouts(calls, shape, play):
    """Layouts that are drawn for each call, and what it gives in these."""
    mesh = init_device_mesh("cpu", shape)
    options = {}
    if play is torch_drawn.gradients:
        whole = [Replicate()] * mesh.ndim
        options["beside"] = lambda x: distribute_tensor(x, mesh, whole)
    anything = distribute_tensor(torch.ones(12), mesh, [Shard(0)] * mesh.ndim)

    def played(text, tensors):
        value = gathered(play(text, tensors, torch, **options))
        anything.full_tensor()  # where ranks hear of what has failed on others
        return value

    found = []
    for number, (text, given) in enumerate(calls):
        draw = random.Random(f"{seed()}/{shape}/{number}")
        tensors = {k: torch_drawn.tensor(torch, *x) for k, x in given.items()}
        finite = is_finite(given)
        layouts = {k: drawn_layout(draw, x, mesh, finite) for k, x in tensors.items()}
        tensors = {k: placed(x, mesh, layouts[k]) for k, x in tensors.items()}
        value = tried(played, text, tensors)
        if isinstance(value, Exception):
            dtensor.resync()
        found.append((str(layouts), value))
    return found


# --- what is wrong --------------------------------------------------------------------


def judged(got, want):
    """What is wrong with a result or an exception, in a few words; None: nothing."""
    if want[0] != "E":
        return torch_compared.judged(got, want)
    if not isinstance(got, Exception):
        return None
    kinds = [kind.__name__ for kind in type(got).__mro__]
    if want[1].lstrip("_") in kinds:
        return None
    return f"{kinds[0]} for {want[1]}: {want[2]:.60}"


def is_finite(given):
    return all(np.isfinite(array).all() for _, array, _ in given.values())


def is_compared(name, call):
    """Whether PyTorch's answer is to be that of a call: gradients if all numbers are
    finite and of floats of one size, none of 16 bits."""
    text, given = call
    floats = {dtype for dtype, _, _ in given.values() if "float" in dtype}
    alike = len(floats) < 2 and not floats & {"bfloat16", "float16"}
    if name == "gradients" and not (alike and is_finite(given)):
        return False
    return not any(
        re.search(pattern, text) and any(OF[which](*x) for x in given.values())
        for pattern, which, _ in KNOWN["values"] + KNOWN[name] * (name == "gradients")
    )


def check(name, answers, results, tell):
    """All results are PyTorch's; each comes with the layouts of its tensors."""
    play = list(PLAYS).index(name)
    wrong, count = [], 0
    pairs = zip(answers, results, strict=True)
    for number, ((call, want), (layouts, got)) in enumerate(pairs):
        if want is None or not is_compared(name, call):
            continue
        count += 1
        if text := judged(got, want[play]):
            tensors = {k: (x[0], x[1].shape, x[2]) for k, x in call[1].items()}
            wrong.append(f"{number}: {call[0]}  {tensors} {layouts}: {text}")
    tell(f"{count} of {len(answers)} drawn calls compared, {len(wrong)} wrong")
    assert not wrong, "\n".join(wrong)
    assert count > 0.8 * len(answers) * (1 if name == "values" else 0.7)


@pytest.mark.parametrize("name", PLAYS)
def test_drawn_calls_give_what_pytorch_gives(answers, name, tell):
    results = []
    for (text, given), _ in answers:
        tensors = {k: torch_drawn.tensor(torch, *x) for k, x in given.items()}
        results.append(("", tried(PLAYS[name], text, tensors, torch)))
    check(name, answers, results, tell)


@pytest.mark.parametrize("name", PLAYS)
@pytest.mark.parametrize("shape", [(3,), (2, 2)], ids=["3", "2x2"])
def test_drawn_calls_in_layouts_give_what_pytorch_gives(answers, shape, name, tell):
    some = answers[:SPREAD]
    calls = [call for call, _ in some]
    count = int(np.prod(shape))
    found = run_ranks(count, in_layouts, calls, shape, PLAYS[name], timeout=1800)
    check(name, some, found[0], tell)
