"""Saves and loads a file by ``torch.save``: run by Python with PyTorch.

``make PATH`` writes it, ``check PATH`` compares what another program wrote. The same
functions, with `dtensor.torch` in the place of `torch`, are what the tests run.
"""

import sys
from collections import Counter, OrderedDict

NAMES = """
bool uint8 int8 int16 int32 int64 uint16 uint32 uint64
float16 bfloat16 float32 float64 complex64 complex128
""".split()


def contents(torch):
    """Everything that a file may hold."""
    base = torch.arange(24.0).reshape(4, 6)
    weight = torch.nn.Parameter(base[:2] / 7)
    state = OrderedDict(weight=base[0] / 3, bias=base[1, :3])
    state._metadata = OrderedDict([("", {"version": 1}), ("inner", {"version": 2})])
    shared = [1, 2]
    return {
        "dtypes": {n: torch.arange(7).to(getattr(torch, n)) for n in NAMES},
        "views": [base, base.T, base[1:], base[::2, 1::3], base[2], base[3, 5]],
        "expanded": torch.tensor([1.5, 2.5]).reshape(2, 1).expand(2, 5),
        "bits": torch.tensor([float("nan"), float("inf"), -0.0, 1e-40]),
        "empty": [torch.zeros(0, 3), torch.zeros(3, 0)[1:], torch.tensor(2)],
        "shaped": torch.zeros(2, 0, 3),
        "grad": torch.ones(2, requires_grad=True),
        "parameters": [weight, torch.nn.Parameter(base[3], False), weight],
        "state": state,
        "meta": torch.empty(2, 3, device="meta"),
        "optimizer": {
            "state": {0: {"step": torch.tensor(3.0), "exp_avg": base[2:] / 9}},
            "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "params": [0]}],
        },
        "numbers": [0, 255, 256, 65536, -1, 2**31, -(2**63), 2**200, 0.1, 2 - 3j],
        "texts": ["", "\u00e9\u4e16\U0001f600", "a", b"\x00\xff", bytearray(b"xy")],
        "constants": (
            None,
            True,
            False,
            (),
            (1,),
            (1, 2),
            (1, 2, (4, 5)),
            (1, 2, 3, 4),
        ),
        "sets": [{7}, set(), Counter({"a": 2})],
        "keys": {1: 2, 1.5: 3, None: 4, (1, "a"): 5, b"k": 6, False: 7},
        "torch": [torch.Size([2, 3]), torch.float32, torch.device("cpu")],
        "octets": [bytes(range(256)) * 4, bytearray(range(256))],
        "shared": [shared, shared],
        "long": list(range(2500)),
        "wide": {str(k): k for k in range(1200)},
    }


def described(torch, value):
    """A text that tells two values apart, down to the strides."""
    if isinstance(value, torch.Tensor):
        kind = "Parameter" if isinstance(value, torch.nn.Parameter) else "Tensor"
        data = "meta" if value.is_meta else value.detach().tolist()
        strides = tuple(value.stride()) if value.numel() else ()
        facts = value.dtype, strides, value.requires_grad
        return f"{kind}{facts} {tuple(value.shape)} {data}"
    if isinstance(value, dict):
        items = [f"{key!r}: {described(torch, x)}" for key, x in value.items()]
        name, metadata = type(value).__name__, getattr(value, "_metadata", None)
        return f"{name} {metadata!r} {{{', '.join(items)}}}"
    if type(value) in (list, tuple):
        return (
            f"{type(value).__name__} [{', '.join(described(torch, x) for x in value)}]"
        )
    return f"{type(value).__name__} {value!s}"


def check(torch, found):
    """Check that a file holds the contents, and that what shares memory still does."""
    wanted = contents(torch)
    assert list(found) == list(wanted)
    for key in wanted:
        assert described(torch, found[key]) == described(torch, wanted[key]), key
    views, parameters = found["views"], found["parameters"]
    assert views[1].data_ptr() == views[0].data_ptr()
    assert views[2].data_ptr() == views[0].data_ptr() + 24
    assert parameters[0] is parameters[2]
    assert found["shared"][0] is found["shared"][1]


if __name__ == "__main__":
    import torch

    what, path = sys.argv[1:]
    if what == "make":
        torch.save(contents(torch), path)
    else:
        for mapped in (False, True):
            check(torch, torch.load(path, weights_only=True, mmap=mapped))
