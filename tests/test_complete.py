"""Nothing is left out: what there is, is tried, and what is tried is in the tables."""

import re
from pathlib import Path

import numpy as np
import test_torch_methods
from meshes import line
from rows import arrays_of
from samples import SAMPLES

import dtensor
from dtensor import DTensor, Shard, Tensor, distribute_tensor, ops

ROOT = Path(__file__).resolve().parents[1]

# What an operator is called by, and is none.
NO_OPERATORS = set("FallbackWarning ImplicitRedistributeError strict".split())

# Operators, methods and attributes that no sample calls, by the file that does.
TESTED_IN = {
    "test_dialect.py": "as_numpy as_torch",
    "gradients.py": """common_type fromfunction histogramdd isrealobj min_scalar_type
        ravel_multi_index real_if_close triu_indices_from unravel_index""",
    "gradients_index.py": "copyto fill_diagonal put_along_axis putmask",
    "gradients_shape.py": "expand permute unbind unflatten",
    "samples_index.py": "put",
    "samples_linalg.py": "einsum",
    "samples_pool.py": "ix_",
    "test_array_api_namespace.py": "fftfreq rfftfreq to_device",
    "test_autograd.py": "backward grad_fn register_post_accumulate_grad_hook",
    "test_autograd_attacks.py": "register_hook retain_grad retains_grad",
    "test_complete.py": """diag_indices expand_as norm output_nr
        reshape_as result_type tensor_split tril_indices triu_indices view_as""",
    "test_create.py": """chunk device device_mesh place rebalance redistribute
        requires_grad to_local view""",
    "test_export.py": "tri",
    "test_geometry.py": "indices",
    "test_random.py": """bernoulli dropout exponential_ normal rand rand_like random_
        uniform_""",
    "test_random_fill.py": "fill randn_like",
    "test_random_generator.py": "randint randint_like randperm",
    "test_tensor.py": """data detach dtype element_size grad is_leaf item nbytes numel
        stride strides tolist wait""",
    "test_torch_methods.py": """array bool byte can_cast cdouble cfloat char clone
        contiguous cpu dim double float from_local full_tensor gather half index_select
        int is_contiguous itemsize layout long masked_fill ndim new_empty new_full
        new_ones new_zeros numpy placements shape short size t to type type_as zero_""",
    "test_torch_namespace.py": "randn",
    "test_halves.py": "bfloat16",
    "test_flat.py": "flat tobytes",
    "test_interop.py": "ctypes",
    "test_plot.py": "plot",
}
KNOWN = {name for names in TESTED_IN.values() for name in names.split()}

# Samples that are in no table of operators: ways to call, and programs.
WAYS = ("=", "=)", "program")


def everything():
    """Every operator and public method or attribute, by name; None for an attribute."""
    found = {name: getattr(ops, name) for name in ops.__all__}
    for name in {*dir(Tensor), *dir(DTensor)}:
        if not name.startswith("_"):
            found.setdefault(name, ops.METHODS.get(name))
    return found


def sampled():
    """The names that samples, and the table of torch's methods, call."""
    names = {sample.name for sample in SAMPLES}
    names |= {name.rpartition(".")[2] for name in names if name.startswith("x.")}
    names |= {row[0] for row in test_torch_methods.TABLE + test_torch_methods.OPTIONS}
    return names


def not_tried(names):
    """The names of what no sample calls: not by another name either, nor in place."""
    there = everything()
    called = {id(there[name]) for name in names if there.get(name) is not None}
    left = {name for name, it in there.items() if id(it) not in called} - names
    return {name for name in left if name.removesuffix("_") not in names}


def test_every_operator_and_method_has_a_sample_or_a_test_of_its_own():
    left = {name.removesuffix("_") for name in not_tried(sampled()) - KNOWN}
    assert sorted(left - KNOWN - NO_OPERATORS) == []


def test_what_is_tested_elsewhere_is_there_and_has_no_sample():
    assert KNOWN <= everything().keys()
    assert KNOWN <= not_tried(sampled()) | {n.removesuffix("_") for n in KNOWN}
    for file, names in TESTED_IN.items():
        words = set(re.findall(r"\w+", (ROOT / "tests" / file).read_text()))
        assert not set(names.split()) - words, file


def test_every_operator_that_has_a_sample_is_in_the_table_of_the_docs():
    table = (ROOT / "docs/operators_table.md").read_text()
    listed = set(re.findall(r"^\| `([^`]*)` \|", table, re.MULTILINE))
    left = {}
    for sample in SAMPLES:
        way = sample.changes or sample.name.endswith(WAYS)
        if not way and sample.name not in listed and can_be_listed(sample):
            left[sample.name] = str(sample)
    assert not left


@np.errstate(all="ignore")
def can_be_listed(sample):
    """Whether NumPy takes the sample, and its arrays can be cut."""
    arrays = arrays_of(sample)
    cut = bool(arrays) and all(x.size > 1 for x in arrays)
    return cut and not isinstance(sample.expected(arrays), Exception)


# --- small operators without samples --------------------------------------------------


def test_indices_are_those_of_numpy(ranks):
    def body():
        for name, args in [
            ("diag_indices", (3, 2)),
            ("triu_indices", (3, 1, 4)),
            ("tril_indices", (4, -1)),
        ]:
            found = getattr(ops, name)(*args, device_mesh=line())
            for x, y in zip(found, getattr(np, name)(*args), strict=True):
                np.testing.assert_array_equal(x, y)

    ranks(body)


def test_shapes_are_taken_from_others(ranks):
    def body():
        array = np.arange(12.0).reshape(4, 3)
        x = distribute_tensor(array, line(), [Shard(0)])
        for y in (x.reshape_as(np.zeros((2, 6))), x.view_as(np.zeros((2, 6)))):
            np.testing.assert_array_equal(y.full_tensor(), array.reshape(2, 6))
        y = x[:1].expand_as(x)
        np.testing.assert_array_equal(y.full_tensor(), array[[0, 0, 0, 0]])
        parts = x.tensor_split(3), np.array_split(array, 3)
        for y, part in zip(*parts, strict=True):
            np.testing.assert_array_equal(y.full_tensor(), part)
        np.testing.assert_array_equal(ops.getitem(x, 2).full_tensor(), array[2])
        np.testing.assert_allclose(x.norm().full_tensor(), np.linalg.norm(array))
        assert np.result_type(x, np.float32) == np.result_type(array, np.float32)

    ranks(body)


def test_a_result_knows_which_output_it_is():
    x = dtensor.tensor(np.arange(3.0), requires_grad=True)
    assert [y.output_nr for y in (x, *np.split(x, 3))] == [0, 0, 1, 2]
