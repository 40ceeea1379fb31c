"""An exported program gives what its module gives."""

import json

import numpy as np
import pytest
from exported_models import MLP, TOKENS, Transformer, array, filled, numbers
from meshes import line

import dtensor
from dtensor import DTensor, Shard, distribute_tensor, nn
from dtensor.experimental.tp_transform import tensor_parallel_transformation
from dtensor.nn import functional as F
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


class Various(nn.Module):
    """Lists, joins, indices, masks, numbers, several results; a dict of outputs."""

    def forward(self, x, *, scale=2.0, more=()):
        mask = dtensor.tensor(np.tri(3, dtype=bool))
        y = np.concatenate([x, *more], axis=0)[:3]
        low, high = np.split(np.where(mask, y, -np.inf), [1])
        picked = y[np.array([2, 0]), 1:]
        y = y.detach() * scale + x.dtype.type(1)
        return {"y": y, "parts": [low, (high, 3)], "picked": picked, "n": y.shape[0]}


def same(found, wanted):
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        same(list(found.values()), list(wanted.values()))
    elif isinstance(wanted, list | tuple):
        assert type(found) is type(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b)
    elif isinstance(wanted, dtensor.Tensor):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(array(found), array(wanted))
    else:
        assert found == wanted


# --- the program is the module --------------------------------------------------------


def test_a_program_gives_the_bits_and_gradients_of_its_module():
    model, tokens = filled(Transformer()), dtensor.tensor(TOKENS)
    program = dtensor.export(model, (tokens,))
    other = dtensor.tensor(TOKENS[::-1].copy())
    for x in (tokens, other):
        same(program(x), model(x))
    model(other).sum().backward()
    wanted = [array(p.grad) for p in model.parameters()]
    model.zero_grad()
    program(other).sum().backward()
    for p, grad in zip(model.parameters(), wanted, strict=True):
        np.testing.assert_array_equal(array(p.grad), grad)
    names = [node.target for node in program.nodes if node.kind == "call"]
    assert names.count("linear.linear") == 7 and "norm.layer_norm" in names


def test_arguments_results_and_constants_may_be_of_any_form():
    x, more = dtensor.tensor(numbers(2, 3)), [dtensor.tensor(numbers(2, 3, seed=1))]
    program = dtensor.export(Various(), (x,), {"scale": 3.0, "more": more})
    new = dtensor.tensor(numbers(2, 3, seed=2))
    same(program(new, scale=3.0, more=more), Various()(new, scale=3.0, more=more))
    assert len(program.inputs) == 2 and len(program.constants) == 2


def test_a_program_follows_its_parameters():
    model, x = filled(MLP()), dtensor.tensor(numbers(3, 10))
    program = dtensor.export(model, (x,))
    with dtensor.no_grad():
        model.net1.weight *= 2
    same(program(x), model(x))
    assert program.state_dict["net1.weight"] is model.net1.weight


def test_a_program_is_printed_line_by_line():
    text = str(dtensor.export(MLP(), (dtensor.tensor(numbers(3, 10)),)))
    assert text.splitlines() == [
        "program(x):",
        "    x = input  # float32[3, 10]",
        "    net1_weight = parameter net1.weight  # float32[12, 10]",
        "    net1_bias = parameter net1.bias  # float32[12]",
        "    net2_weight = parameter net2.weight  # float32[10, 12]",
        "    net2_bias = parameter net2.bias  # float32[10]",
        "    linear = linear.linear(x, net1_weight, net1_bias)  # float32[3, 12]",
        "    relu = activation.relu(linear)  # float32[3, 12]",
        "    linear_1 = linear.linear(relu, net2_weight, net2_bias)  # float32[3, 10]",
        "    return linear_1",
    ]


def test_a_program_of_dtensors_knows_their_layouts(ranks):
    def body():
        mesh = line()
        model = dtensor.distribute_module(filled(MLP()), mesh)
        x = distribute_tensor(numbers(6, 10), mesh, [Shard(0)])
        program = dtensor.export(model, (x,))
        assert program.nodes[-1].results[0].layout.placements == (Shard(0),)
        out = program(x)
        assert isinstance(out, DTensor) and out.layout == model(x).layout
        np.testing.assert_array_equal(array(out.to_local()), array(model(x).to_local()))

    ranks(body)


# --- files ----------------------------------------------------------------------------


class Table(nn.Module):
    """A buffer that no state dict has, and an operator that is given out=None."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", dtensor.tensor(np.arange(6.0)), persistent=False)

    def forward(self, x):
        return np.einsum("i,j->ij", x + self.table, x)


def test_buffers_that_are_not_persistent_are_in_the_file(tmp_path):
    model, x = Table(), dtensor.tensor(np.ones(6))
    program = dtensor.export(model, (x,))
    assert list(program.state_dict) == list(model.state_dict()) == []
    program.save(tmp_path / "program.json")
    loaded = dtensor.ExportedProgram.load(tmp_path / "program.json", {})
    same(loaded(x), model(x))
    same(tensor_parallel_transformation(loaded, 0, 1, "cpu", {})(x), model(x))


def test_a_saved_program_is_the_same_again(tmp_path):
    file = tmp_path / "program.json"
    model, tokens = filled(Transformer()), dtensor.tensor(TOKENS)
    x = dtensor.tensor(numbers(2, 3))
    for module, args in ((model, (tokens,)), (Various(), (x,))):
        more = {} if module is model else {"more": [x]}
        program = dtensor.export(module, args, more)
        program.save(file)
        again = dtensor.ExportedProgram.load(file, module.state_dict())
        assert str(again) == str(program)
        same(again(*args, **more), program(*args, **more))
    assert b"pickle" not in file.read_bytes()


def damage(data, kind):
    if kind == "format":
        data["format"] = "something else"
    elif kind == "operator":
        data["nodes"][-1]["target"] = "os.system"
    elif kind == "order":
        data["nodes"].reverse()
    elif kind == "value":
        data["nodes"][-1]["args"] = {"code": "1"}
    elif kind == "reference":
        data["outputs"] = {"ref": ["nobody", None]}
    elif kind == "missing":
        del data["nodes"]
    elif kind == "ref":
        data["outputs"] = {"ref": []}
    return json.dumps(data)


@pytest.mark.parametrize(
    "kind",
    [
        "format",
        "operator",
        "order",
        "value",
        "reference",
        "missing",
        "ref",
        "cut",
        "deep",
    ],
)
def test_a_file_that_is_no_program_is_a_value_error(tmp_path, kind):
    file = tmp_path / "program.json"
    model = filled(MLP())
    dtensor.export(model, (dtensor.tensor(numbers(3, 10)),)).save(file)
    text = file.read_text()
    if kind == "cut":
        text = text[: len(text) // 2]
    elif kind == "deep":
        text = "[" * 100_000
    else:
        text = damage(json.loads(text), kind)
    file.write_text(text)
    with pytest.raises(ValueError, match="program.json"):
        dtensor.ExportedProgram.load(file, model.state_dict())


def test_parameters_that_are_missing_or_of_other_shapes_are_named(tmp_path):
    file = tmp_path / "program.json"
    model, x = filled(MLP()), dtensor.tensor(numbers(3, 10))
    dtensor.export(model, (x,)).save(file)
    with pytest.raises(KeyError, match="net1.weight"):
        dtensor.ExportedProgram.load(file, {})
    state = dict(model.state_dict(), **{"net2.bias": dtensor.tensor([1.0])})
    with pytest.raises(ValueError, match="net2_bias"):
        dtensor.ExportedProgram.load(file, state)(x)


# --- what is refused ------------------------------------------------------------------


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def in_place(x):
    y = x + 1
    y += 1
    return y


REFUSED = {
    "in place": (NotImplementedError, in_place, "writes into"),
    "outside": (
        RuntimeError,
        lambda x: x + dtensor.tensor(np.asarray(x.detach()) * 2),
        "outside of operators",
    ),
    "branch": (
        RuntimeError,
        lambda x: x * 2 if float(x.detach()[0, 0]) < 0 else x,
        "branches",
    ),
    "random": (RuntimeError, lambda x: F.dropout(x, 0.5), "random"),
    "collective": (
        NotImplementedError,
        lambda x: dtensor.functional_collectives.all_reduce(x, "sum", [0]) * 1,
        "not an operator",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_program_of_operators_is_refused(case):
    error, function, words = REFUSED[case]
    x = dtensor.tensor(np.arange(-1.0, 11).reshape(4, 3))
    with pytest.raises(error, match=words):
        dtensor.export(Function(function), (x,))


def test_wrong_arguments_are_refused():
    model, x = filled(MLP()), dtensor.tensor(numbers(3, 10))
    with pytest.raises(TypeError, match="Module"):
        dtensor.export(len, (x,))
    with pytest.raises(TypeError, match="tuple"):
        dtensor.export(model, x)
    program = dtensor.export(model, (x,))
    with pytest.raises(TypeError, match="1 arguments, but got 2"):
        program(x, x)
    with pytest.raises(ValueError, match="recorded with x"):
        program(dtensor.tensor(numbers(4, 10)))
    program = dtensor.export(Various(), (x[:, :3],), {"scale": 2.0})
    with pytest.raises(ValueError, match="are fixed"):
        program(x[:, :3], scale=4.0)


def test_a_parallelized_module_is_exported_before():
    plan = {"net1": ColwiseParallel(), "net2": RowwiseParallel()}
    model = parallelize_module(filled(MLP()), line(), plan)
    with pytest.raises(NotImplementedError, match="before it is parallelized"):
        dtensor.export(model, (dtensor.tensor(numbers(3, 10)),))
