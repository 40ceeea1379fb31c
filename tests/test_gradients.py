"""The gradient of every operator is what differences say, however it is placed."""

import functools

import gradcheck
import numpy as np
import pytest
from gradcheck import check, operand, results_of, values
from gradients import (
    CONSTANT,
    EXTRA,
    NO_GRADIENT,
    OTHERS,
    PARTLY,
    TWICE,
    WITHOUT_SAMPLES,
)
from rows import WORD, arrays_of, told
from samples import SAMPLES

import dtensor
from dtensor.ops import FUNCTIONS, METHODS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ALL = 2000  # placements: no sample has as many on one mesh dim

# Kinds of values of rows.py that stay, and those where noise makes every element
# another one.
EXACT = {"well", "spd"}
NOISY = {"nan", "ties", "distinct", "sorted"}


# Calls of ufuncs in some odd way, bits that nobody set, copies that are leaves, what is
# not unique, kernels inside of others.
ODD = {"dtype=", "order=", "signature=", "where=", "out="}
ODD |= {"empty_like", "copy.copy", "copy.deepcopy", "linalg.svd", "row_logsumexp"}


def of_symmetric(fn, x, *others):
    """A function of one half of a matrix as one of all of it."""
    return fn((x + np.conj(np.swapaxes(x, -1, -2))) / 2, *others)


def of_unpadded(fn, index, table):
    """A function of all rows but row 1: that of padding has no gradient, by definition;
    what it has instead, test_embedding.py compares."""
    return fn(index, table * (np.arange(len(table)) != 1)[:, None])


def with_constant(fn, place, array):
    """A function of all operands but one."""
    return lambda *xs: fn(*xs[:place], array, *xs[place:])


def doubled(word):
    """A word in double precision."""
    return {"f": "d", "F": "D"}.get(word[0], word[0]) + word[1:]


def arrays_for(sample):
    """Arrays on which the gradient of a sample can be compared, or None."""
    words = sample.arrays.split()
    if sample.changes or not any(word[0] in "fdFD" for word in words):
        return None
    found = []
    for k, (word, array) in enumerate(zip(words, arrays_of(sample), strict=True)):
        kind = WORD.fullmatch(word)["kind"] or "any"
        if array.dtype.kind not in "fc":
            found.append(array)
        elif kind in EXACT:
            found.append(array.astype(doubled(array.dtype.char)))
        elif kind in NOISY:
            plain = doubled(word).partition(":")[0]
            found.append(array + values(plain, k) / 1024)
        elif kind in ("any", "pos", "unit", "over1"):
            found.append(values(doubled(word), k))
        else:
            return None
    return found


@functools.cache
def rows():
    """Samples whose results are finite and in double precision, and their arrays."""
    return [row for row in map(row_of, SAMPLES) if row is not None]


def operators():
    return [row for row in rows() if row[0].name != "program"]


def row_of(sample):
    arrays = arrays_for(sample)
    if arrays is None or sample.name in ODD or sample.name.endswith("backward"):
        return None
    if ":spd" in sample.arrays:
        sample = sample._replace(fn=functools.partial(of_symmetric, sample.fn))
    if told(sample.fn) == "embedding {'padding_idx': 1}":
        sample = sample._replace(fn=functools.partial(of_unpadded, sample.fn))
    place = CONSTANT.get(sample.name, len(arrays))
    if place < len(arrays):
        sample = sample._replace(fn=with_constant(sample.fn, place, arrays.pop(place)))
    with np.errstate(all="ignore"):
        try:
            results = results_of(sample.fn, [dtensor.tensor(a.copy()) for a in arrays])
        except Exception:
            return None
    right = all(y.dtype.char in "dD" and np.isfinite(y.numpy()).all() for y in results)
    return (sample, arrays) if results and right else None


def first_of_each():
    """A sample for each name, and for each number of operands."""
    found = {}
    for sample, arrays in operators():
        found.setdefault((sample.name, len(arrays)), (sample, arrays))
    return list(found.values())


def wrong_of(chosen, **options):
    """The samples whose gradient is wrong, in words."""
    wrong = []
    for sample, arrays in chosen:
        if sample.name in NO_GRADIENT:
            continue
        try:
            check(sample.fn, arrays, **options)
        except NotImplementedError as error:
            if sample.name not in PARTLY:
                wrong.append(f"{sample}: {error}")
        except Exception as error:
            told = " ".join([str(error), *getattr(error, "__notes__", [])])
            wrong.append(f"{sample}: {type(error).__name__} {told[:400]}")
    return wrong


def test_the_gradient_of_every_operator_is_that_of_differences():
    wrong = wrong_of(first_of_each(), most=2)
    assert not wrong, "\n".join(wrong)


@pytest.mark.validate
@pytest.mark.parametrize("mesh, most", [((2,), ALL), ((3,), ALL), ((2, 2), 30)])
def test_the_gradient_of_every_sample_is_that_of_differences(mesh, most):
    wrong = wrong_of(operators(), meshes=[mesh], most=most)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.validate)])
def test_the_gradient_of_programs_is_about_that_of_differences(step, monkeypatch):
    # They have single precision in between.
    for name, value in (("STEP", 2e-3), ("RTOL", 2e-2), ("ATOL", 3e-3)):
        monkeypatch.setattr(gradcheck, name, value)
    programs = [row for row in rows() if row[0].name == "program"]
    wrong = wrong_of(programs[::step], most=2)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("fn, words", EXTRA)
def test_the_gradient_of_what_pytorch_has_is_that_of_differences(fn, words):
    check(fn, words, meshes=[(2,), (3,)], most=4)


@pytest.mark.parametrize("fn, words", TWICE)
def test_a_gradient_has_a_gradient(fn, words):
    check(fn, words, second=True, most=2)


def test_what_has_no_gradient_says_so():
    silent = []
    for sample, arrays in first_of_each():
        if sample.name not in NO_GRADIENT:
            continue
        operands = [*map(operand, arrays)]
        results = [y for y in results_of(sample.fn, operands) if y.requires_grad]
        try:
            dtensor.autograd.backward(results, results)
        except NotImplementedError:
            continue
        silent.append(str(sample))
    assert not silent, "\n".join(silent)


def test_every_name_without_a_gradient_is_that_of_a_sample():
    assert NO_GRADIENT.keys() <= {sample.name for sample in SAMPLES}


def test_every_function_of_numpy_is_among_those_that_are_differentiated():
    known = {sample.name.rpartition(".")[2] for sample in SAMPLES} | WITHOUT_SAMPLES
    assert {function.__name__ for function in FUNCTIONS} <= known


def makes_floats_of_floats(sample):
    with np.errstate(all="ignore"):
        result = sample.expected(arrays_of(sample))
    if sample.changes or isinstance(result, Exception):
        return False
    results = result if isinstance(result, tuple | list) else [result]
    return all(
        any(np.asarray(x).dtype.kind in "fc" for x in side)
        for side in (arrays_of(sample), results)
    )


def test_every_operator_with_a_sample_is_differentiated_or_has_a_reason():
    known = {sample.name for sample, _ in rows()} | NO_GRADIENT.keys() | OTHERS.keys()
    left = {s.name for s in SAMPLES if s.name not in known | ODD}
    left = {name for name in left if not name.endswith("backward")}
    left &= {s.name for s in SAMPLES if s.name in left and makes_floats_of_floats(s)}
    assert sorted(left) == []


def test_what_has_options_has_no_gradient():
    x = dtensor.tensor(values("d5", 0), requires_grad=True)
    mask = np.array([True, True, False, True, False])
    for options in ({"dtype": "f8"}, {"where": mask}, {"casting": "unsafe"}):
        with pytest.raises((NotImplementedError, TypeError)):
            np.sin(x, **options).sum().backward()


def test_equal_elements_share_the_gradient_of_a_maximum():
    x = dtensor.tensor(np.array([1.0, 3.0, 3.0, 2.0]), requires_grad=True)
    x.max().backward()
    assert x.grad.tolist() == [0, 0.5, 0.5, 0]
    x.grad = None
    np.maximum(x, 3.0).sum().backward()
    assert x.grad.tolist() == [0, 0.5, 0.5, 0]
    x.grad = None
    x.clamp_min(3.0).sum().backward()
    assert x.grad.tolist() == [0, 1, 1, 0]


def test_the_gradient_of_a_product_is_right_where_there_are_zeros():
    for zeros, expected in (
        ([1], [0, 2 * 4, 0]),
        ([0, 1], [0, 0, 0]),
        ([], [3 * 4, 2 * 4, 6]),
    ):
        array = np.array([2.0, 3.0, 4.0])
        array[zeros] = 0
        x = dtensor.tensor(array, requires_grad=True)
        x.prod().backward()
        assert x.grad.tolist() == expected


@pytest.mark.parametrize("zeros", [[], [1], [1, 3], [0], [4], [0, 1, 2]])
def test_products_with_zeros_have_all_gradients(zeros):
    array = values("d5", 1)
    array[zeros] = 0
    for fn in (np.prod, np.cumprod):
        check(fn, [array], second=True, most=2)


def test_powers_at_zero_have_the_gradients_of_pytorch():
    x = dtensor.tensor(np.array([0.0, 0.0, 2.0]), requires_grad=True)
    y = dtensor.tensor(np.array([0.0, 2.0, 0.0]), requires_grad=True)
    (x**y).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    assert y.grad.tolist() == [0, 0, np.log(2.0)]


def test_methods_in_place_are_recorded():
    missing = []
    for name in [n for n in METHODS if n.endswith("_") and n[:-1] in METHODS]:
        if name[:-1] in IN_PLACE:
            x = dtensor.tensor(values("d5:pos", 0), requires_grad=True)
            y = x.copy()
            getattr(y, name)()
            y.sum().backward()
            z = x.detach().requires_grad_()
            getattr(z, name[:-1])().sum().backward()
            if not np.allclose(x.grad.numpy(), z.grad.numpy()):
                missing.append(name)
    assert not missing


# Those whose gradient needs the result and not the operand.
IN_PLACE = "exp exp2 expm1 sqrt tan tanh reciprocal neg sigmoid relu rsqrt".split()
