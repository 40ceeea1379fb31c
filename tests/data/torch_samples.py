"""What PyTorch gives for samples of its operators: run by Python with PyTorch.

``python torch_samples.py FILE [COUNT]`` writes to the file a pickle of records,
without objects of PyTorch: see `encoded`. The samples are those of PyTorch's own tests;
COUNT is the largest number of them for each operator and dtype.
"""

import pickle
import re
import sys
import types
import unittest
import warnings
from pathlib import Path

NAMES = Path(__file__).parent / "torch_names.txt"
DTYPES = """
float32 float64 int64 int32 int8 uint8 bool complex64 complex128 bfloat16 float16
""".split()
SWAPPED = {"nn.functional.embedding", "nn.functional.embedding_bag"}  # their samples
MOST = 20_000  # elements of a sample


class Strange(Exception):
    """A value that is no tensor, number, string or container of these."""


def encoded(x, torch):
    """A value in tuples: a letter, and what it is of."""
    if isinstance(x, torch.Tensor):
        if x.layout != torch.strided or x.dtype is torch.complex32 or x.is_quantized:
            raise Strange(x)
        if x.numel() > MOST:
            raise Strange("too large")
        x = x.detach().resolve_conj().resolve_neg().contiguous()
        dtype, shape = str(x.dtype).removeprefix("torch."), tuple(x.shape)
        raw = x.view(torch.int16) if dtype == "bfloat16" else x
        return "T", dtype, shape, raw.numpy().tobytes()
    if isinstance(x, torch.Size):
        return "Z", tuple(x)
    for letter, kind in (
        ("D", torch.dtype),
        ("L", torch.layout),
        ("M", torch.memory_format),
    ):
        if isinstance(x, kind):
            return letter, str(x).removeprefix("torch.")
    if isinstance(x, torch.device):
        return "V", str(x)
    if isinstance(x, slice):
        return "S", *(encoded(y, torch) for y in (x.start, x.stop, x.step))
    if isinstance(x, (list, tuple)):
        letter = "l" if isinstance(x, list) else "t"
        return letter, [encoded(y, torch) for y in x]
    if isinstance(x, dict):
        return "d", {key: encoded(y, torch) for key, y in x.items()}
    if x is None or x is Ellipsis or isinstance(x, (bool, int, float, complex, str)):
        return "=", x
    raise Strange(x)


def copied(x, torch):
    if isinstance(x, torch.Tensor):
        return x.clone()
    if isinstance(x, (list, tuple)) and not isinstance(x, torch.Size):
        return type(x)([copied(y, torch) for y in x])
    return x


def widened(x, torch):
    """A value with 16-bit floats as float32, so that nothing is rounded to them."""
    if isinstance(x, torch.Tensor) and x.dtype in (torch.bfloat16, torch.float16):
        return x.float()
    if isinstance(x, dict):
        return {key: widened(y, torch) for key, y in x.items()}
    if isinstance(x, (list, tuple)) and not isinstance(x, torch.Size):
        return type(x)([widened(y, torch) for y in x])
    return torch.float32 if x is torch.bfloat16 or x is torch.float16 else x


def listed():
    """The names of the list, as room.name."""
    for part in re.split(r"^# ", NAMES.read_text(), flags=re.M)[1:]:
        room, *names = part.split()
        yield from (f"{room}.{name}" for name in names)


def found(path, torch):
    """The object of a name of the list."""
    x = torch
    for part in path.removeprefix("torch.").split("."):
        x = getattr(x, part)
    return x


def targets(op, known):
    """The names of the list that mean an operator."""
    for name in [op.name, *(alias.name for alias in op.aliases)]:
        for room in ("torch", "Tensor"):
            for path in (f"{room}.{name}", f"{room}.{name}_"):
                if path in known:
                    yield path
        for path in (name, f"{name}_"):
            if path in known and not path.startswith("Tensor."):
                yield path


def spread(samples, count):
    """So many of them, from all over the list."""
    step = max(1, -(-len(samples) // count))
    return samples[::step]


def answer(path, given, options, torch):
    """What a name gives for a sample: its letter is E for an exception."""
    call = found(path, torch)
    args = [copied(x, torch) for x in given]
    torch.manual_seed(0)
    try:
        result = call(*args, **options) if callable(call) else call.__get__(*args)
    except Exception as error:
        return "E", type(error).__name__, str(error)[:200]
    return encoded(result, torch)


def records(torch, count):
    """A record for each sample: the call, and what each name gives."""
    from torch.testing._internal.common_methods_invocations import op_db  # noqa: PLC0415

    known = set(listed())
    for op in op_db:
        names = list(dict.fromkeys(targets(op, known)))
        if not names:
            continue
        for name in DTYPES:
            dtype = getattr(torch, name)
            if dtype not in op.dtypes:
                continue
            torch.manual_seed(1)
            try:
                samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
            except Exception:
                continue
            for sample in spread(samples, count):
                given, options = [sample.input, *sample.args], sample.kwargs
                if op.name in SWAPPED:
                    given[:2] = given[1::-1]
                try:
                    call = [encoded(x, torch) for x in (given, options)]
                    outputs = {
                        path: answer(path, given, options, torch) for path in names
                    }
                except Strange:
                    continue
                exact = None
                if name in ("bfloat16", "float16"):
                    wide = widened(given, torch), widened(options, torch)
                    exact = answer(names[0], *wide, torch)
                yield {
                    "exact": exact,
                    "op": f"{op.name}.{op.variant_test_name}".rstrip("."),
                    "dtype": name,
                    "call": call,
                    "outputs": outputs,
                }


def main(file, count="4"):
    module = types.ModuleType("expecttest")  # which PyTorch's samples do not need
    module.TestCase = unittest.TestCase
    sys.modules["expecttest"] = module
    import torch  # noqa: PLC0415

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with open(file, "wb") as out:
        pickle.dump(list(records(torch, int(count))), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
