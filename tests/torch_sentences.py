"""Sentences of PyTorch's about typical mistakes: a list, and what reads and calls it.

data/torch_sentences.txt has a call and, below it, what it raises.
`python torch_sentences.py torch` compares the list with PyTorch itself.
"""

import importlib
import operator
import sys
import warnings
from pathlib import Path

LIST = Path(__file__).parent / "data" / "torch_sentences.txt"


def sentences():
    """Pairs of a call and "type: sentence"."""
    lines = LIST.read_text().split("\n")[:-1]
    return list(zip(lines[::2], (line.strip() for line in lines[1::2]), strict=True))


def scene(torch):
    """What the calls are made with, anew for each."""
    return {
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
        "operator": operator,
        "a": torch.arange(12.0).reshape(4, 3),
        "b": torch.ones(5),
        "i": torch.arange(3),
        "z": torch.zeros(0, 3),
    }


def raised(call, scene):
    """The exception of a call, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(call, scene)  # noqa: S307
        except Exception as error:
            return error
    return None


def sentence(error):
    return str(error).split("\n")[0].strip()


def main(package):
    torch = importlib.import_module(package)
    wrong = 0
    for call, told in sentences():
        error = raised(call, scene(torch))
        found = f"{type(error).__name__}: {sentence(error)}"
        if found != told:
            wrong += 1
            sys.stdout.write(f"{call}\n    {told}\n    {found}\n")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main(sys.argv[1])
