"""How many of PyTorch's public names there are.

The list is PyTorch 2.13's, of torch, Tensor, and the modules of `ROOMS`, less those of
CUDA and other devices, quantization, sparse tensors, named dims, storages, compilers
(jit, fx, export), data pipes, stores and options of process groups, and what PyTorch
itself only keeps to say that it is gone.
"""

import re
from pathlib import Path

import dtensor.torch as torch

LIST = Path(__file__).parent / "data" / "torch_names.txt"
ROOMS = """
    torch Tensor nn nn.functional nn.init nn.utils nn.utils.parametrizations
    nn.utils.parametrize nn.utils.rnn optim optim.lr_scheduler optim.swa_utils special
    linalg fft signal.windows distributions func autograd autograd.functional utils.data
    distributed
""".split()
LEAST = 0.9  # of each room


def has(room, name):
    for part in name.split("."):
        if not hasattr(room, part):
            return False
        room = getattr(room, part, None)
    return True


def lacking():
    """The names of each room, and those that are not here."""
    found = {}
    for part in re.split(r"^# ", LIST.read_text(), flags=re.M)[1:]:
        title, *names = part.split()
        room = torch
        for word in title.replace("torch", "").split("."):
            room = getattr(room, word) if word else room
        missing = [n for n in names if n != "name" and not has(room, n)]
        found[title] = names, missing
    return found


def test_nine_of_ten_of_pytorchs_names_are_here(tell):
    found = lacking()
    assert set(found) == set(ROOMS)
    for title, (names, missing) in found.items():
        tell(f"{title}: {len(names) - len(missing)} of {len(names)}; not {missing}")
        assert len(missing) <= (1 - LEAST) * len(names), (title, missing)
