"""Names that scripts import: types of results, hooks of all modules, further paths.

The expected values are what PyTorch 2.13 prints, returns and raises.
"""

import copy
import importlib
import pickle

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Shard, distribute_tensor
from dtensor.torch import nn

PATHS = """
    _dynamo _dynamo.config _inductor.config cuda.memory cuda.nvtx cuda.random futures
    distributed.constants distributed.distributed_c10d library mps
    nn.modules.module optim.adam optim.adamw optim.lbfgs optim.optimizer optim.sgd
    overrides return_types storage utils.benchmark utils.flop_counter xpu
""".split()


@pytest.mark.parametrize("path", PATHS)
def test_a_path_can_be_imported(path):
    module = importlib.import_module(f"dtensor.torch.{path}")
    assert module.__doc__
    for name in getattr(module, "__all__", ()):
        assert getattr(module, name) is not None or name == "fx_graph_remote_cache"


# --- types of results -----------------------------------------------------------------

X = [[0.0, 1.0, 2.0], [3.0, 5.0, 4.0]]


def test_a_result_prints_as_pytorchs():
    found = torch.tensor(X).max(1)
    assert str(found) == (
        "torch.return_types.max(\nvalues=tensor([2., 5.]),\nindices=tensor([2, 1]))"
    )
    values, indices = found
    assert values is found.values and indices is found[1]
    assert type(found) is torch.return_types.max and isinstance(found, tuple)
    assert not hasattr(found, "_fields") and found.n_fields == 2


TYPES = {
    "aminmax": lambda x: x.aminmax(),
    "cummax": lambda x: x.cummax(0),
    "cummin": lambda x: torch.cummin(x, 0),
    "frexp": torch.frexp,
    "geqrf": torch.geqrf,
    "histogram": lambda x: torch.histogram(x, 3),
    "kthvalue": lambda x: x.kthvalue(1),
    "linalg_eigh": lambda x: torch.linalg.eigh(x[:, :2]),
    "linalg_inv_ex": lambda x: torch.linalg.inv_ex(x[:, :2]),
    "linalg_lstsq": lambda x: torch.linalg.lstsq(x, x),
    "linalg_lu": torch.linalg.lu,
    "linalg_lu_factor": torch.linalg.lu_factor,
    "linalg_qr": torch.linalg.qr,
    "linalg_slogdet": lambda x: torch.linalg.slogdet(x[:, :2]),
    "linalg_svd": torch.linalg.svd,
    "median": lambda x: x.median(dim=0),
    "min": lambda x: torch.min(x, dim=-1, keepdim=True),
    "mode": lambda x: x.mode(),
    "nanmedian": lambda x: x.nanmedian(1),
    "qr": torch.qr,
    "slogdet": lambda x: torch.slogdet(x[:, :2]),
    "sort": lambda x: x.sort(descending=True),
    "svd": torch.svd,
    "topk": lambda x: x.topk(2),
    "triangular_solve": lambda x: torch.triangular_solve(x, torch.eye(2)),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_result_is_of_its_functions_type(name):
    found = TYPES[name](torch.tensor(X))
    assert type(found) is getattr(torch.return_types, name)
    assert repr(found).startswith(f"torch.return_types.{name}(\n")


def test_results_of_dtensors_are_of_these_types(ranks):
    def body():
        x = distribute_tensor(torch.tensor(X), line(), [Shard(1)])
        for found in (x.max(1), x.sort(1), x.median(1)):
            assert type(found).__module__ == "dtensor.torch.return_types"
        assert x.max(1).values.full_tensor().tolist() == [2.0, 5.0]
        assert type(x.topk(1)) is torch.return_types.topk

    ranks(body)


def test_results_are_made_of_one_sequence():
    made = torch.return_types.max((1, 2))
    assert made == (1, 2) and made.indices == 2
    assert copy.deepcopy(made) == made == pickle.loads(pickle.dumps(made))
    for wrong, said in [((1, 2, 3), "takes a 2-sequence"), (1, "requires a sequence")]:
        with pytest.raises(TypeError, match=said):
            torch.return_types.max(wrong)
    with pytest.raises(AttributeError):
        made.values = 3


def test_results_are_written_into_out():
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    found = torch.max(torch.tensor(X), 1, out=(values, indices))
    assert type(found) is torch.return_types.max_out
    assert values.tolist() == [2.0, 5.0] and indices.tolist() == [2, 1]


def test_results_are_containers_in_trees():
    pytree = torch.utils._pytree
    found = pytree.tree_map(lambda x: x + 1, torch.tensor(X).max(1))
    assert type(found) is torch.return_types.max and found.indices.tolist() == [3, 2]
    assert pytree.is_structseq(found) and not pytree.is_namedtuple(found)
    x = torch.tensor(X, requires_grad=True)
    x.max(1).values.sum().backward()
    assert x.grad.tolist() == [[0, 0, 1], [0, 1, 0]]


def test_leaves_come_with_the_keys_that_lead_to_them():
    pytree, tree = torch.utils._pytree, {"a": [1, 2], "b": (3,)}
    told = [(pytree.keystr(k), v) for k, v in pytree.tree_leaves_with_path(tree)]
    assert told == [("['a'][0]", 1), ("['a'][1]", 2), ("['b'][0]", 3)]
    assert pytree.tree_map_with_path(lambda k, v: len(k) * v, tree) == {
        "a": [2, 4],
        "b": (6,),
    }
    assert pytree.treespec_pprint(pytree.tree_structure(tree)) == (
        "{'a': [*, *], 'b': (*,)}"
    )
    assert pytree.tree_all_only(int, lambda x: x > 0, [1, "a"])


# --- hooks ----------------------------------------------------------------------------


def test_hooks_of_all_modules_are_called():
    files = nn.modules.module
    said = []
    handles = [
        files.register_module_forward_hook(
            lambda m, args, kwargs, out: said.append("forward"), with_kwargs=True
        ),
        files.register_module_full_backward_pre_hook(
            lambda m, grad: said.append("before")
        ),
        files.register_module_full_backward_hook(
            lambda m, given, grad: said.append(tuple(grad[0].shape))
        ),
        files.register_module_parameter_registration_hook(
            lambda m, name, param: said.append(name)
        ),
        files.register_module_module_registration_hook(
            lambda m, name, module: said.append(type(module).__name__)
        ),
        files.register_module_buffer_registration_hook(
            lambda m, name, buffer: buffer + 1
        ),
    ]
    model = nn.Sequential(nn.Linear(2, 3))
    model.register_buffer("one", torch.zeros(1))
    assert said == ["weight", "bias", "Linear"] and model.one.tolist() == [1.0]
    said.clear()
    model(torch.ones(4, 2, requires_grad=True)).sum().backward()
    assert said == ["forward"] * 2 + ["before", "before", (4, 3), (4, 3)]
    for handle in handles:
        handle.remove()
    said.clear()
    nn.Linear(2, 3)(torch.ones(4, 2)).sum().backward()
    assert not said


def test_hooks_of_all_optimizers_are_called():
    from dtensor.torch.optim.adamw import AdamW

    from dtensor.torch.optim import optimizer

    assert AdamW is torch.optim.AdamW
    x, said = torch.ones(2, requires_grad=True), []
    x.grad = torch.ones(2)
    opt = torch.optim.SGD([x], lr=0.5)
    opt.register_step_pre_hook(lambda o, args, kwargs: said.append("own"))
    opt.register_step_post_hook(lambda o, args, kwargs: said.append("own"))
    with (
        optimizer.register_optimizer_step_pre_hook(lambda *_: said.append("all")),
        optimizer.register_optimizer_step_post_hook(lambda *_: said.append("all")),
    ):
        opt.step()
    opt.step()
    assert said == ["all", "own", "own", "all", "own", "own"] and x.tolist() == [0, 0]
    with optimizer.register_optimizer_step_pre_hook(lambda *_: 3):
        with pytest.raises(RuntimeError, match="must return None or a tuple"):
            opt.step()


# --- devices that are not there -------------------------------------------------------


def test_devices_that_are_not_there():
    for call, error, said in [
        (torch.cuda.Event, RuntimeError, "dummy base class Event"),
        (torch.cuda.Stream, RuntimeError, "requires CUDA support"),
        (torch.cuda.current_stream, AssertionError, "not compiled with CUDA"),
        (torch.cuda.FloatTensor, TypeError, "torch.cuda.FloatTensor not available"),
        (torch.cuda.temperature, ModuleNotFoundError, "nvidia-ml-py"),
        (torch.cuda.nvtx.mark, RuntimeError, "NVTX functions not installed"),
        (torch.xpu.synchronize, AssertionError, "not compiled with XPU"),
        (torch.mps.empty_cache, RuntimeError, r"emptyCache\(\) without MPS"),
        (torch.accelerator.synchronize, RuntimeError, "none is available"),
    ]:
        with pytest.raises(error, match=said):
            call()
    assert torch.cuda.memory_stats() == {} and torch.cuda.get_arch_list() == []
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError)
    assert torch.accelerator.current_accelerator() is None
    with torch.cuda.device(0), torch.cuda.stream(None), torch.cpu.stream(None):
        torch.cpu.synchronize()
    assert torch.cpu.current_device() == "cpu" and torch.cpu.Event().query()


def test_exceptions_and_files_of_distributed():
    dist = torch.distributed
    assert issubclass(dist.DistStoreError, dist.DistError)
    assert issubclass(dist.DistError, RuntimeError)
    files = dist.distributed_c10d
    assert files.all_reduce is dist.all_reduce and files.ReduceOp is dist.ReduceOp
    assert dist.constants.default_pg_timeout.total_seconds() == 1800


# --- what is kept, and has no effect --------------------------------------------------


def test_nothing_is_compiled():
    dynamo = torch._dynamo
    dynamo.config.any_name = 3
    with dynamo.config.patch(suppress_errors=True, other=1):
        assert dynamo.config.suppress_errors and dynamo.config.other == 1
    assert not dynamo.config.suppress_errors and not hasattr(dynamo.config, "other")

    @dynamo.config.patch("verbose", True)
    @dynamo.disable
    def f(x):
        dynamo.graph_break()
        dynamo.mark_dynamic(x, 0)
        return x + dynamo.config.verbose

    assert f(torch.ones(1)).item() == 2 and dynamo.config.any_name == 3
    assert dynamo.optimize("inductor")(f) is f and not dynamo.is_compiling()
    assert torch.compiler.get_default_backend() == "inductor"
    with torch.compiler.set_stance("force_eager"):
        doubled = torch.compiler.wrap_numpy(lambda x: np.add(x, x))
        assert doubled(torch.ones(2)).tolist() == [2.0, 2.0]


def test_globals_that_are_called_safe():
    serialization = torch.serialization
    with serialization.safe_globals([dict]):
        assert serialization.get_safe_globals() == [dict]
    assert serialization.get_safe_globals() == []


def test_tensors_change_places():
    a, b = torch.ones(2, requires_grad=True), torch.zeros(3, dtype=torch.int64)
    a.grad = torch.ones(2)
    torch.utils.swap_tensors(a, b)
    assert a.tolist() == [0, 0, 0] and a.grad is None and not a.requires_grad
    assert b.tolist() == [1, 1] and b.grad.tolist() == [1, 1] and b.requires_grad
    with pytest.raises(RuntimeError, match="recorded"):
        torch.utils.swap_tensors(b * 2, a)


def test_random_tensors_for_tests():
    make = torch.testing.make_tensor
    for dtype, least, most in [
        (torch.bool, 0, 1),
        (torch.uint8, 0, 9),
        (torch.int64, -9, 9),
        (torch.float32, -9, 9),
    ]:
        x = make(1000, dtype=dtype, device="cpu").numpy()
        first, last = float(x.min()), float(x.max())
        assert x.dtype == dtype and least <= first and last <= most
        assert last - first > 0.9 * (most - least)
    apart = make((2, 3), dtype=torch.float32, noncontiguous=True)
    assert apart.shape == (2, 3) and not apart.is_contiguous()
    ones = make(50, dtype=torch.int64, low=0, high=2, exclude_zero=True)
    assert ones.tolist() == [1] * 50
    for options, said in [
        (dict(low=5, high=2), "`low` must be less than `high`, but got 5 >= 2"),
        (dict(low=float("nan")), "cannot be NaN"),
        (dict(requires_grad=True), "not supported for boolean and integral"),
        (dict(low=2**70, high=2**71), "only supports"),
    ]:
        with pytest.raises(ValueError, match=said):
            make(3, dtype=torch.int64, **options)
