"""Numbers of all kinds, what an optimizer keeps, and what functions refer to are part
of what a value is made of."""

import array
import decimal
import fractions
import functools

import numpy as np
import pytest

import dtensor
import dtensor.torch as torch
from dtensor import (
    DTensor,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
    sparse,
)
from dtensor.experimental import local_map
from dtensor.experimental.attention import context_parallel
from dtensor.nn import Parameter, functional as F
from dtensor.optim import (
    ASGD,
    SGD,
    Adadelta,
    Adafactor,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    NAdam,
    RAdam,
    RMSprop,
    Rprop,
)
from dtensor.overlap import map_overlap
from dtensor.testing import run_ranks

S0 = Shard(0)
NUMBERS = np.arange(24.0).reshape(6, 4) + 1


def start(numbers=NUMBERS, placement=S0):
    mesh = init_device_mesh("cpu", (2,))
    x = distribute_tensor(numbers, mesh, [placement])
    return x, mesh.get_rank()


def all_raise(program, *args):
    """Ranks that get 0 and 1 raise, and ranks that all get 0 or 1 do not."""

    def body(alike):
        _, rank = start()
        try:
            result = program(rank if alike is None else alike, *args)
            return np.asarray(result.full_tensor()).tolist() is None
        except RuntimeError as error:
            return "different" in str(error)

    assert run_ranks(2, body, None) == [True, True]
    for alike in (0, 1):
        assert run_ranks(2, body, alike) == [False, False]


# --- optimizers -----------------------------------------------------------------------

OPTIMIZERS = [SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, NAdam, RAdam, Adamax]
OPTIMIZERS += [Rprop, ASGD, Adafactor]


def other_rate(optimizer, rank):
    for group in optimizer.param_groups:
        group["lr"] *= 1 + rank


def step_left_out(optimizer, rank):
    if not rank:
        optimizer.step()


def other_state(optimizer, rank):
    for state in optimizer.state.values():
        for x in state.values():
            if isinstance(x, DTensor):
                x *= 1 - rank / 2


def no_state(optimizer, rank):
    if rank:
        optimizer.state.clear()


@pytest.mark.parametrize("change", [other_rate, step_left_out, other_state, no_state])
@pytest.mark.parametrize("kind", OPTIMIZERS, ids=lambda kind: kind.__name__)
def test_a_step_is_made_of_settings_and_state(kind, change):
    def program(rank):
        w = Parameter(start()[0] * 1)
        w.grad = start()[0] / 7
        optimizer = kind([w], lr=0.1, **({"momentum": 0.9} if kind is SGD else {}))
        optimizer.step()
        change(optimizer, rank)
        optimizer.step()
        return w

    all_raise(program)


# --- constants ------------------------------------------------------------------------


class Float(float):
    """As some libraries have for numbers with units."""


class Whole:
    """What NumPy makes an array of."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numbers, dtype)


def written(value):
    def program(rank):
        x, _ = start()
        x[1] = value(rank)
        return x

    return program


def picked(rank):
    x, _ = start()
    x[range(1 + rank, 3 + rank)] = 7
    return x


def added_at(rank):
    x, _ = start()
    np.add.at(x, range(rank, 2 + rank), 9)
    return x


def placed(rank):
    x, _ = start()
    np.place(x, x > 5, [1.0, 2.0 + rank])
    return x


def put_by_mask(rank):
    x, _ = start()
    np.putmask(x, x > 5, [1.0, 2.0 + rank])
    return x


def large_integers(rank):
    x, _ = start(np.arange(6, dtype=np.uint64))
    return x ^ (2**63 + (2**61 - 1) * rank)


CONSTANTS = {
    "float": written(lambda rank: Float(2 + rank)),
    "long double": written(lambda rank: np.longdouble(2 + rank)),
    "long doubles": written(lambda rank: np.full(4, 2 + rank, np.longdouble)),
    "fraction": written(lambda rank: fractions.Fraction(1, 2 + rank)),
    "decimal": written(lambda rank: decimal.Decimal(1 + rank)),
    "range": written(lambda rank: range(rank, 4 + rank)),
    "array": written(lambda rank: array.array("d", [rank] * 4)),
    "__array__": written(lambda rank: Whole([rank] * 4)),
    "index": picked,
    "add.at": added_at,
    "place": placed,
    "putmask": put_by_mask,
    "large integers": large_integers,
    "long double times": lambda rank: start()[0] * np.longdouble(2 + rank),
    "layer_norm": lambda rank: F.layer_norm(start()[0], (4,), eps=Float(0.1 + rank)),
    "piecewise": lambda rank: np.piecewise(
        start()[0], [start()[0] < 5], [1.0, 2.0 + rank]
    ),
    "repeat": lambda rank: np.repeat(start()[0], range(1 - rank, 7 - rank), axis=0),
    "linspace": lambda rank: np.linspace(
        start()[0], start()[0] + 1, 3, endpoint=not rank
    ),
    "linspace of replicas": lambda rank: (
        np.linspace(
            start(placement=Replicate())[0],
            start(placement=Replicate())[0] + 1,
            3,
            endpoint=not rank,
        )
        + start()[0]
    ),
    "logspace": lambda rank: np.logspace(
        start()[0] / 24, start()[0] / 12, 3, base=2.0 + rank
    ),
    "linspace's step": lambda rank: (
        np.linspace(start(placement=Replicate())[0], 1 + rank, 3, retstep=True)[1]
        + start()[0]
    ),
    "signs that cancel": lambda rank: F.softmax(
        start()[0] / (1 - 2 * rank), 1 - 2 * rank
    ),
    "div": lambda rank: torch.div(
        start()[0], 7, rounding_mode="trunc" if rank else None
    ),
    "add": lambda rank: torch.add(start()[0], 2, alpha=2 + rank),
    "diag_embed": lambda rank: torch.diag_embed(start()[0], 1 - 2 * rank),
    "diagonal_scatter": lambda rank: torch.diagonal_scatter(
        start()[0], 0, 1 - 2 * rank
    ),
    "affine_grid": lambda rank: F.affine_grid(
        start(NUMBERS.reshape(4, 2, 3))[0], (4, 1, 5, 6), align_corners=bool(rank)
    ),
    "a cast on the way": lambda rank: start()[0].redistribute(
        forward_dtype="f4" if rank else "f2"
    ),
    "clip": lambda rank: np.clip(start()[0], *((None, 9.0) if rank else (9.0, None))),
    "instance_norm": lambda rank: F.instance_norm(
        start(NUMBERS.reshape(2, 4, 3))[0],
        **{"bias" if rank else "weight": np.arange(1.0, 5)},
    ),
    "zeros_like": lambda rank: (
        ~np.zeros_like(start()[0], dtype="u1" if rank else "i8")
    ).astype("f8"),
    "integers": lambda rank: (
        dtensor.random.Generator(3).integers(
            0,
            200,
            size=(6, 4),
            dtype="u1" if rank else "i8",
            device_mesh=start()[0].device_mesh,
        )
        * 7
        + start()[0]
    ),
    "ldexp": lambda rank: torch.ldexp(start()[0], 1 + rank),
    "delete": lambda rank: np.delete(start()[0], rank),
    "diff": lambda rank: np.diff(start(np.ones((24, 4)))[0], prepend=float(rank)),
    "partial": lambda rank: np.apply_along_axis(
        functools.partial(np.multiply, 2 + rank), 1, start()[0]
    ),
    "default": lambda rank: np.apply_along_axis(
        lambda line, k=rank: line * k, 1, start()[0]
    ),
    "closure": lambda rank: np.apply_along_axis(
        lambda line: line * (rank + 1), 1, start()[0]
    ),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_of_all_kinds_are_part_of_a_value(name):
    all_raise(CONSTANTS[name])


def test_what_is_made_of_numbers_alone_is_made_of_all_its_arguments():
    def program(rank):
        mesh = start()[0].device_mesh
        made = dtensor.linspace(0, 9, 12, endpoint=not rank, device_mesh=mesh)
        return made + distribute_tensor(np.ones(12), mesh, [Shard(0)])

    all_raise(program)


# --- functions of parts ---------------------------------------------------------------


def twice(u):
    return u * 2


def thrice(u):
    return u * 3


def by_vmap(function, x):
    return torch.vmap(function)(x)


def by_overlap(function, x):
    return map_overlap(function, x, {0: 1}, "nearest")


def by_local_map(function, x):
    return local_map(function, [Shard(0)], ([Shard(0)],))(x)


@pytest.mark.parametrize("apply", [by_vmap, by_overlap, by_local_map])
def test_what_functions_make_of_parts_is_made_of_function_and_operands(apply):
    def other_array(rank):
        x, _ = start()
        return apply(twice, x * 0.5 if rank else x)

    def other_function(rank):
        return apply(thrice if rank else twice, start()[0])

    def other_lambda(rank):
        thrice, twice = (lambda u: u * 3), (lambda u: u * 2)
        return apply(thrice if rank else twice, start()[0])

    for program in (other_array, other_function, other_lambda):
        all_raise(program)


def test_a_local_function_may_refer_to_what_is_of_its_rank():
    def body():
        x, rank = start()
        by_local_map(lambda u: u * (1 + rank), x).full_tensor()
        by_overlap(lambda u: u * (1 + rank), x).full_tensor()

    run_ranks(2, body)


def test_attention_in_a_context_is_made_of_its_operands():
    def program(rank):
        numbers = np.random.default_rng(0).random((1, 2, 8, 4))
        q, k = (start(numbers * f, Shard(2))[0] for f in (1, 2))
        with context_parallel(q.device_mesh, buffers=[], buffer_seq_dims=[]):
            return F.scaled_dot_product_attention(q, q if rank else k, k)

    all_raise(program)


# --- sparse matrices ------------------------------------------------------------------


def sparse_pair(x):
    """Two matrices that differ in which rows have their elements alone."""
    scipy = pytest.importorskip("scipy.sparse")
    numbers, columns = np.arange(6.0) + 1, [0, 1, 2, 3, 0, 1]
    return [
        sparse.distribute(
            scipy.csr_array((numbers, columns, ends), (6, 6)), x.device_mesh
        )
        for ends in ([0, 2, 3, 4, 5, 6, 6], [0, 1, 3, 4, 5, 6, 6])
    ]


def test_products_of_sparse_matrices_are_made_of_the_places_of_elements():
    def program(rank):
        x, _ = start()
        return sparse_pair(x)[rank] @ x

    all_raise(program)


def test_ranks_that_gather_different_sparse_matrices_raise():
    def body():
        x, rank = start()
        with pytest.raises(RuntimeError, match="different"):
            sparse_pair(x)[rank].to_scipy()

    run_ranks(2, body)
