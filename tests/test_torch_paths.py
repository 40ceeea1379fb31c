"""PyTorch's further paths: lists of tensors, trees, older names, files of modules."""

import collections
import importlib
import sys
import types

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Shard, distribute_tensor
from dtensor.torch import nn
from dtensor.torch.autograd import Variable
from dtensor.torch.utils import _pytree as pytree

PATHS = """
    autograd.functional autograd.profiler autograd.variable backends.cuda
    backends.cudnn compiler distributions.categorical distributions.kl
    distributions.normal distributions.transforms distributions.utils fx hub jit
    nn.common_types nn.modules nn.modules.batchnorm nn.modules.conv nn.modules.loss
    nn.modules.utils types utils._pytree utils.data.dataloader utils.dlpack utils.hooks
    utils.model_zoo utils.tensorboard version
""".split()


@pytest.mark.parametrize("path", PATHS)
def test_a_path_can_be_imported(path):
    assert importlib.import_module(f"dtensor.torch.{path}").__doc__


# --- lists of tensors -----------------------------------------------------------------


def lists():
    return [torch.tensor([1.0, 4.0]), torch.tensor([[9.0]])]


def test_functions_of_lists_work_on_each_tensor(ranks):
    def values(xs):
        full = (x.full_tensor() if hasattr(x, "full_tensor") else x for x in xs)
        return [x.tolist() for x in full]

    x = lists()
    assert values(torch._foreach_add(x, x)) == [[2, 8], [[18]]]
    assert values(torch._foreach_add(x, x, alpha=2)) == [[3, 12], [[27]]]
    assert values(torch._foreach_mul(x, 2)) == [[2, 8], [[18]]]
    assert values(torch._foreach_mul(x, torch.tensor(2.0))) == [[2, 8], [[18]]]
    assert values(torch._foreach_div(x, [1.0, 3.0])) == [[1, 4], [[3]]]
    assert values(torch._foreach_sqrt(x)) == [[1, 2], [[3]]]
    assert values(torch._foreach_neg(x)) == [[-1, -4], [[-9]]]
    assert values(torch._foreach_pow(2, x)) == [[2, 16], [[512]]]
    assert values(torch._foreach_pow(x, 2)) == [[1, 16], [[81]]]
    assert values(torch._foreach_maximum(x, 3)) == [[3, 4], [[9]]]
    assert values(torch._foreach_clamp_max(x, 3)) == [[1, 3], [[3]]]
    assert values(torch._foreach_minimum(x, [y + 1 for y in x])) == values(x)
    assert values(torch._foreach_addcmul(x, x, x, 2)) == [[3, 36], [[171]]]
    assert values(torch._foreach_addcdiv(x, x, x, [1.0, 2.0])) == [[2, 5], [[11]]]
    assert values(torch._foreach_lerp(x, x, 0.5)) == values(x)
    assert np.allclose(torch._foreach_norm(x), [17**0.5, 9])
    assert torch._foreach_mul_(x, 2) is None and values(x) == [[2, 8], [[18]]]
    torch._foreach_maximum_(x, [y * 0 + 3 for y in x])
    torch._foreach_add_(x, x, alpha=-1)
    torch._foreach_copy_(x, lists())
    assert values(x) == values(lists())
    torch._foreach_zero_(x)
    assert values(x) == [[0, 0], [[0]]]
    with pytest.raises(RuntimeError, match="same number"):
        torch._foreach_add(x, x[:1])

    def body():
        x = [distribute_tensor(y, line(), [Shard(0)]) for y in lists()]
        torch._foreach_addcmul_(x, x, x)
        assert values(x) == [[2, 20], [[90]]]

    ranks(body)


# --- trees ----------------------------------------------------------------------------

Pair = collections.namedtuple("Pair", "a b")


def test_trees_are_taken_apart_and_made_again():
    tree = {"b": [1, (2, None)], "a": Pair(3, collections.OrderedDict(x=4))}
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1, 2, None, 3, 4] and spec.num_leaves == 5
    assert pytree.tree_unflatten(leaves, spec) == tree
    assert spec == pytree.tree_structure(tree) and list(spec.unflatten(leaves)) == [
        "b",
        "a",
    ]
    doubled = pytree.tree_map_only(int, lambda x: 2 * x, tree)
    assert doubled["b"] == [2, (4, None)] and doubled["a"].b["x"] == 8
    assert pytree.tree_map(max, [1, 5], [4, 2]) == [4, 5]
    assert pytree.tree_leaves([[1], [2]], is_leaf=lambda x: x == [2]) == [1, [2]]
    assert pytree.tree_any(lambda x: x is None, tree)
    assert not pytree.tree_all(lambda x: x is None, tree)
    assert pytree.tree_leaves(5) == [5] and pytree.tree_structure(5).is_leaf()
    for wrong in ([1], [1, 2, 3]):
        with pytest.raises(ValueError, match="holds 2 items"):
            pytree.tree_unflatten(wrong, pytree.tree_structure([0, 0]))
    with pytest.raises(ValueError, match="arity"):
        pytree.tree_map(max, [1, 5], [4])


def test_types_of_users_are_trees_when_they_are_registered():
    class Box:
        def __init__(self, inside):
            self.inside = inside

    assert len(pytree.tree_leaves(Box([1, 2]))) == 1
    pytree.register_pytree_node(Box, lambda b: ([b.inside], None), lambda c, _: Box(*c))
    assert pytree.tree_map(lambda x: x + 1, Box([1, 2])).inside == [2, 3]
    with pytest.raises(ValueError, match="already"):
        pytree.register_pytree_node(Box, None, None)


# --- older names ----------------------------------------------------------------------


def test_older_names_of_autograd():
    x = Variable(torch.ones(2), requires_grad=True)
    assert isinstance(x, Variable) and isinstance(x, torch.Tensor) and x.requires_grad
    assert not isinstance(1, Variable)
    with torch.autograd.detect_anomaly(), torch.autograd.set_detect_anomaly(True):
        (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_derivatives_of_functions():
    f, x = torch.autograd.functional, torch.tensor([1.0, 2.0])
    assert f.jacobian(lambda x: x**2, x).tolist() == [[2, 0], [0, 4]]
    one, two = f.jacobian(lambda a, b: a * b, (x, x + 1))
    assert one.tolist() == [[2, 0], [0, 3]] and two.tolist() == [[1, 0], [0, 2]]
    assert f.hessian(lambda x: (x**3).sum(), x).tolist() == [[6, 0], [0, 12]]
    assert f.vjp(lambda x: x**2, x, torch.ones(2))[1].tolist() == [2, 4]
    assert f.jvp(lambda x: x**2, x, torch.ones(2))[1].tolist() == [2, 4]
    assert f.hvp(lambda x: (x**3).sum(), x, torch.ones(2))[1].tolist() == [6, 12]


def test_bases_of_modules():
    files = nn.modules
    norms = files.batchnorm._BatchNorm
    assert isinstance(nn.BatchNorm2d(3), norms) and isinstance(
        nn.SyncBatchNorm(3), norms
    )
    assert not isinstance(nn.InstanceNorm2d(3), norms)
    assert isinstance(nn.InstanceNorm2d(3), files.instancenorm._InstanceNorm)
    for layer in (nn.Conv2d(2, 2, 1), nn.ConvTranspose1d(2, 2, 1)):
        assert isinstance(layer, files.conv._ConvNd)
    assert isinstance(nn.CrossEntropyLoss(), files.loss._WeightedLoss)
    assert files.utils._pair(3) == (3, 3) and files.utils._pair([1, 2]) == (1, 2)
    assert files.linear.Linear is nn.Linear and files.Linear is nn.Linear


def test_there_is_no_cuda():
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.ones(2).cuda()
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        nn.Linear(2, 2).cuda()
    with pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.cuda.synchronize()
    relu = nn.ReLU()
    assert relu.cuda() is relu and relu.compile() is None
    assert torch.cuda.max_memory_allocated() == 0


def test_empty_vectors_join_anything():
    x = torch.ones(2, 3)
    assert torch.cat([torch.tensor([]), x]).shape == (2, 3)
    assert torch.cat([x, torch.empty(0), x], dim=1).shape == (2, 6)
    assert torch.cat([torch.empty(0), torch.empty(0)]).shape == (0,)
    ints = torch.ones(2, 3, dtype=torch.int64)
    assert torch.cat([torch.tensor([]), ints]).dtype == torch.float32
    with pytest.raises((RuntimeError, ValueError)):
        torch.cat([torch.empty(0, 2), x])


def test_summaries_are_written_by_tensorboardx(monkeypatch):
    from dtensor.torch.utils.tensorboard import SummaryWriter

    said = []

    class Writer:
        logdir = "runs"

        def __init__(self, *args, **options):
            said.append((args, options))

        def add_histogram(self, tag, values, step=0):
            said.append((tag, values, step))

        def close(self):
            said.append("closed")

    package = types.SimpleNamespace(SummaryWriter=Writer)
    monkeypatch.setitem(sys.modules, "tensorboardX", package)
    with SummaryWriter("here", flush_secs=1) as writer:
        writer.add_histogram("x", torch.ones(2), step=3)
        assert writer.logdir == "runs"
    assert said[0] == (("here",), {"flush_secs": 1}) and said[2] == "closed"
    assert type(said[1][1]) is np.ndarray and said[1][2] == 3
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ModuleNotFoundError, match=r"dtensor-mpi\[tensorboardX\]"):
        SummaryWriter()


def test_state_of_an_optimizer_can_be_made_before_its_first_step():
    """PyTorch's own example of FSDP2 imports this private name."""
    from dtensor.torch.distributed.checkpoint.state_dict import _init_optim_state

    weight = nn.Parameter(torch.ones(2, 3))
    optimizer = torch.optim.Adam([weight], lr=0.1)
    _init_optim_state(optimizer)
    assert optimizer.state[weight]["exp_avg"].shape == (2, 3)
    assert weight.grad is None and optimizer.param_groups[0]["lr"] == 0.1
