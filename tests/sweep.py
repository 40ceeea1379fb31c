"""Calls with integers beyond all arrays, each under a deadline and a memory limit.

`./run exec python tests/sweep.py --help`. NumPy is asked first, in the same process:
its result or its type of exception is what is to come, or MemoryError.
"""

import argparse
import json
import os
import random
import re
import resource
import signal
import struct
import sys
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from integers import VALUES, Changed, changed
from memory_limit import limit_memory
from rows import BITS, SHAPE, VALUE, arrays_of
from samples import SAMPLES
from samples_integer import ROWS

from dtensor import (
    DeviceMesh,
    DTensor,
    Shard,
    Tensor,
    distribute_tensor,
    init_device_mesh,
)
from dtensor.testing import run_ranks

SECONDS = {"n": 2.0, "r": 20.0, "d": 20.0}  # NumPy's call, the ranks', what is between
MEGABYTES = 768  # beyond what the process has when it starts
RANKS = 2

# Programs, and operators that no user calls.
PRIVATE = set(
    "program convolution_input convolution_weight row_logsumexp row_dot".split()
)

# Where NumPy's own answer is wrong: what its int64 of -2**63 turns to, and None.
NUMPY_WRAPS = {
    "var",
    "std",
    "nanvar",
    "nanstd",
    "x.var",
    "x.std",
    "linalg.matrix_power",
}

# What is wrong in two ways may be refused for either.
TWO_FAULTS = {"x[key] = v": (ValueError, IndexError)}

# What torch documents for a bad integer, where NumPy has no such function.
DOCUMENTED = (ValueError, IndexError, RuntimeError, TypeError, AssertionError)

# What no user wrote.
INSIDES = re.compile(
    r"rule '|<lambda>|NoneType|has no attribute|_C\b|operand_|SystemError|dt_"
    r"|object at 0x|positional argument|unpack|C long|c_long|_redistribute"
)


def calls() -> list[Changed]:
    """All of them, the same list at each call; of alike rows only the first one."""
    seen: Counter[Any] = Counter()
    found = []
    for sample in [*ROWS, *SAMPLES]:
        if sample.name in PRIVATE or sample.name.endswith("backward"):
            continue
        for call in changed(sample):
            alike = sample.name, str(sample).partition("[")[2], call.k, call.value
            seen[alike] += 1
            if seen[alike] == 1:
                found.append(call)
    return found


# --- what comes -----------------------------------------------------------------------


def heard(call: Changed, arrays: Sequence[Any]) -> Any:
    """What the call gives, without tensors; an exception is itself."""
    try:
        return whole(call.made().fn(*arrays))
    except Exception as error:
        return error


def whole(x: Any) -> Any:
    if isinstance(x, DTensor):
        return np.asarray(x.detach().full_tensor())
    if isinstance(x, Tensor):
        return np.asarray(x.detach())
    if isinstance(x, tuple | list):
        return [whole(y) for y in x]
    return x


def expected_of(call: Changed) -> Any:
    """What NumPy gives; NotImplementedError where there is nothing to compare with."""
    try:
        return whole(call.made().expected(arrays_of(call.sample)))
    except MemoryError as error:
        return error


def found_by(call: Changed, mesh: DeviceMesh) -> Any:
    """What a rank gives, with the arrays cut along their first dim."""
    tensors = [
        distribute_tensor(x, mesh, [Shard(0)] if x.ndim else None)
        for x in arrays_of(call.sample)
    ]
    return heard(call, tensors)


def what_is_wrong(call: Changed, expected: Any, found: Any) -> str:
    """Nothing where a rank did what is expected."""
    if isinstance(found, MemoryError):
        return ""
    if isinstance(found, Exception):
        sentence = f"{type(found).__name__}: {found}"
        if INSIDES.search(str(found)) and str(found) != str(expected):
            return f"it tells insides: {sentence}"
        documented = call.sample.reference is not None and isinstance(found, DOCUMENTED)
        same_type = isinstance(found, TWO_FAULTS.get(call.sample.name, type(expected)))
        if documented or (isinstance(expected, Exception) and same_type):
            return ""
        return f"{sentence}; expected {told(expected)}"
    if isinstance(expected, Exception) and is_definition(call.sample.reference):
        return ""
    wraps = call.sample.name in NUMPY_WRAPS and call.value == VALUES[0]
    if isinstance(expected, NotImplementedError) or wraps:
        return ""
    if isinstance(expected, Exception):
        return f"{told(found)}; expected {told(expected)}"
    return (
        ""
        if same(call, expected, found)
        else f"{told(found)}; expected {told(expected)}"
    )


def is_definition(reference: Any) -> bool:
    """Whether it is of the rows of other tests, whose errors are not NumPy's."""
    code = getattr(reference, "__code__", None)
    return code is not None and not code.co_filename.endswith("samples_integer.py")


def told(x: Any) -> str:
    if isinstance(x, Exception):
        return f"{type(x).__name__}: {x}"[:300]
    return " ".join(repr(x).split())[:300]


def same(call: Changed, expected: Any, found: Any) -> bool:
    """Whether two results are the same within the bound for sums."""
    if isinstance(expected, tuple | list):
        return len(expected) == len(found) and all(
            same(call, x, y) for x, y in zip(expected, found, strict=True)
        )
    if not isinstance(expected, np.ndarray | np.generic | float):
        return bool(expected == found)
    x, y = np.asarray(expected), np.asarray(found)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if call.sample.mode == SHAPE:
        return True
    if x.dtype.kind not in "fc" or call.sample.mode in (BITS, VALUE):
        return np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    top = float(np.abs(x[np.isfinite(x)]).max(initial=1.0))
    atol = 64 * float(np.finfo(x.dtype).eps) * max(top, 8.0)
    return bool(np.isclose(x, y, rtol=0, atol=atol, equal_nan=True).all())


# --- processes ------------------------------------------------------------------------


def child(calls: Sequence[Changed], todo: Sequence[tuple[int, bool]], out: int) -> None:
    """Judge calls, one after the other, up to the first that is wrong: after it the
    ranks may not be in step. What is done is written at once."""
    barrier = threading.Barrier(RANKS)
    found: list[Any] = [None] * RANKS

    def say(kind: str, text: str = "") -> None:
        data = text.encode()[:4000]
        os.write(out, struct.pack("=cq", kind.encode(), len(data)) + data)
        signal.setitimer(signal.ITIMER_REAL, SECONDS[kind])

    def judged(call: Changed, expected: Any) -> str:
        sentences = {what_is_wrong(call, expected, x) for x in found}
        return "; ".join(sorted(sentences - {""}))

    def be_rank() -> None:
        mesh = init_device_mesh("cpu", (RANKS,))
        leads = mesh.get_rank() == 0
        barrier.wait()
        if leads:
            limit_memory(MEGABYTES << 20)
        for k, asks in todo:
            expected: Any = NotImplementedError()
            if leads and asks:
                say("n")
                expected = expected_of(calls[k])
            if leads:
                say("r")
            barrier.wait()
            found[mesh.get_rank()] = found_by(calls[k], mesh)
            barrier.wait()
            if leads:
                said = judged(calls[k], expected)
                say("d", said)
                found[:] = [said] * RANKS
            barrier.wait()
            if found[0]:
                return

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_ranks(RANKS, be_rank, timeout=SECONDS["r"] / 2)


def answers(calls: Sequence[Changed]) -> dict[int, str]:
    """What is wrong with each call: nothing, or a sentence."""
    done: dict[int, str] = {}
    todo = [(k, True) for k in range(len(calls))]
    while todo:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            try:
                child(calls, todo, writer)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(writer)
        phase = ""
        with os.fdopen(reader, "rb") as pipe:
            while head := pipe.read(9):
                kind, length = struct.unpack("=cq", head)
                text = pipe.read(length).decode()
                phase = kind.decode()
                if phase == "d":
                    done[todo.pop(0)[0]] = text
        status = os.waitpid(pid, 0)[1]
        if not todo or (status == 0 and phase == "d"):
            continue
        k, _ = todo[0]
        if phase == "n":
            todo[0] = k, False  # NumPy crashes, or does not end
        else:
            done[todo.pop(0)[0]] = f"it crashed, or did not end: status {status}"
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--part", type=float, default=1.0, help="of the calls, by chance"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", action="append", help="operators; default: all")
    parser.add_argument("--slice", default="0/1", help="every n-th call, from k: k/n")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    chosen = [c for c in calls() if not asked.name or c.sample.name in asked.name]
    if asked.part < 1:
        count = round(asked.part * len(chosen))
        chosen = random.Random(asked.seed).sample(chosen, count)
    first, step = map(int, asked.slice.split("/"))
    chosen = chosen[first::step]
    found = answers(chosen)
    wrong = {str(chosen[k]): why for k, why in found.items() if why}
    if asked.json:
        print(json.dumps({"calls": len(chosen), "wrong": wrong}))
        return
    for call, why in wrong.items():
        print(f"{call}\n    {why}")
    print(f"{len(chosen)} calls, {len(wrong)} wrong")


if __name__ == "__main__":
    sys.exit(main())
