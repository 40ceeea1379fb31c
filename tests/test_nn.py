"""Module: what is in it, how it is found, changed, copied and printed, as in torch."""

import copy
import pickle

import numpy as np
import pytest
from meshes import line

from dtensor import DTensor, Replicate, Shard, as_tensor, distribute_tensor, nn, tensor


def zeros(*shape):
    return as_tensor(np.zeros(shape, np.float32))


class Model(nn.Module):
    """Modules and parameters that are there several times, buffers, and Nones."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = self.a
        self.c = nn.Sequential(nn.Linear(3, 2), self.a)
        self.p = nn.Parameter(zeros(2))
        self.q = self.p
        self.register_buffer("kept", zeros(1))
        self.register_buffer("passing", zeros(1), persistent=False)
        self.register_parameter("none", None)
        self.register_module("nothing", None)

    def forward(self, x):
        return self.a(x)


def names(pairs):
    return [name for name, _ in pairs]


# --- parameters -----------------------------------------------------------------------


def test_a_parameter_is_a_flag_on_a_tensor_or_a_dtensor(ranks):
    def body():
        x = distribute_tensor(np.ones((4, 2)), line(), [Shard(0)])
        p = nn.Parameter(x)
        assert type(p) is DTensor and p.placements == (Shard(0),) and p.requires_grad
        assert isinstance(p, nn.Parameter) and not isinstance(x, nn.Parameter)
        layer = nn.Linear(2, 4)
        layer.weight = p
        assert layer.weight is p and dict(layer.named_parameters())["weight"] is p

    ranks(body)


def test_a_parameter_shares_memory_and_its_copies_are_parameters():
    data = np.zeros(3)
    p = nn.Parameter(data, requires_grad=False)
    data[1] = 5
    assert p.numpy()[1] == 5 and not p.requires_grad
    for other in (copy.copy(p), copy.deepcopy(p)):
        assert isinstance(other, nn.Parameter)
    assert not isinstance(p * 2, nn.Parameter)
    assert not isinstance(p.detach(), nn.Parameter)
    assert nn.Parameter().shape == (0,)
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(tensor([1, 2]))
    buffer = nn.Buffer(zeros(2), persistent=False)
    assert isinstance(buffer, nn.Buffer) and not isinstance(buffer, nn.Parameter)
    assert not buffer.persistent and not isinstance(p, nn.Buffer)


def test_data_can_be_replaced_under_a_parameter(ranks):
    def body():
        p = nn.Parameter(distribute_tensor(np.ones((4, 2)), line(), [Shard(0)]))
        p.data = distribute_tensor(np.zeros((3, 3), np.float32), line(), [Replicate()])
        assert p.shape == (3, 3) and p.dtype == np.float32 and p.requires_grad
        assert isinstance(p, nn.Parameter) and p.placements == (Replicate(),)
        assert not p.data.requires_grad
        with pytest.raises(TypeError, match="takes a dtensor.DTensor"):
            p.data = zeros(3)

    ranks(body)


# --- attributes -----------------------------------------------------------------------

BAD = {  # a call -> the exception and its words
    "parameter name should be a string. Got int": (
        TypeError,
        lambda m: m.register_parameter(3, None),
    ),
    'parameter name can\\\'t contain "."': (
        KeyError,
        lambda m: m.register_parameter("a.b", None),
    ),
    'buffer name can\\\'t be empty string ""': (
        KeyError,
        lambda m: m.register_buffer("", None),
    ),
    "attribute 'a' already exists": (KeyError, lambda m: m.register_buffer("a", None)),
    "cannot assign 'int' object to buffer 'x' (torch Tensor or None required)": (
        TypeError,
        lambda m: m.register_buffer("x", 3),
    ),
    "cannot assign 'dtensor.Tensor' object to parameter 'x'": (
        TypeError,
        lambda m: m.register_parameter("x", zeros(2)),
    ),
    "Cannot assign non-leaf Tensor to parameter 'x'": (
        ValueError,
        lambda m: setattr(m, "x", nn_parameter_of_a_sum()),
    ),
    "int is not a Module subclass": (TypeError, lambda m: m.add_module("x", 3)),
    'module name can\\\'t contain ".", got: a.b': (
        KeyError,
        lambda m: m.add_module("a.b", nn.ReLU()),
    ),
    "cannot assign 'int' as parameter 'p' (torch.nn.Parameter or None expected)": (
        TypeError,
        lambda m: setattr(m, "p", 3),
    ),
    "cannot assign 'int' as child module 'a' (torch.nn.Module or None expected)": (
        TypeError,
        lambda m: setattr(m, "a", 3),
    ),
    "cannot assign 'int' as buffer 'kept'": (
        TypeError,
        lambda m: setattr(m, "kept", 3),
    ),
    "'Model' object has no attribute 'x'": (AttributeError, lambda m: m.x),
    "Linear has no attribute `x`": (AttributeError, lambda m: m.get_submodule("a.x")),
    "`p` is not an nn.Module": (AttributeError, lambda m: m.get_submodule("p")),
    "`kept` is not an nn.Parameter": (
        AttributeError,
        lambda m: m.get_parameter("kept"),
    ),
    "`p` is not a buffer": (AttributeError, lambda m: m.get_buffer("p")),
    "Cannot set the submodule without a target name!": (
        ValueError,
        lambda m: m.set_submodule("", nn.ReLU()),
    ),
    "training mode is expected to be boolean": (ValueError, lambda m: m.train(3)),
    "nn.Module.to only accepts floating point or complex dtypes": (
        TypeError,
        lambda m: m.to(np.int32),
    ),
    'Module [Module] is missing the required "forward" function': (
        NotImplementedError,
        lambda m: nn.Module()(3),
    ),
}


def nn_parameter_of_a_sum():
    p = nn.Parameter(zeros(2)) * 2
    p._is_param = True
    return p


@pytest.mark.parametrize("words", BAD)
def test_bad_input_raises_as_torch_does(words):
    kind, call = BAD[words]
    with pytest.raises(kind) as error:
        call(Model())
    assert words in str(error.value)


def test_nothing_can_be_assigned_before_init():
    class Early(nn.Module):
        def __init__(self, value):
            self.value = value

    for value, word in (
        (nn.Parameter(zeros(1)), "parameters"),
        (nn.ReLU(), "module"),
        (nn.Buffer(zeros(1)), "buffer"),
    ):
        with pytest.raises(AttributeError, match=f"cannot assign {word} before"):
            Early(value)
    assert Early(3).value == 3


def test_assignment_moves_a_name_from_one_registry_to_another():
    m = Model()
    m.kept = nn.Parameter(zeros(1))
    assert names(m.named_buffers()) == ["passing"] and "kept" in m._parameters
    m.kept = None
    assert m.kept is None and "kept" in m._parameters
    m.kept = nn.Parameter(zeros(1))
    del m.kept
    assert not hasattr(m, "kept")
    m.number = 3
    m.number = nn.Parameter(zeros(1))
    assert "number" not in m.__dict__ and "number" in dir(m)
    m.set_submodule("c.0", nn.Tanh())
    assert isinstance(m.get_submodule("c.0"), nn.Tanh)


# --- the tree -------------------------------------------------------------------------


def test_walks_yield_what_torch_yields():
    m = Model()
    assert names(m.named_modules()) == ["", "a", "c", "c.0"]
    every = ["", "a", "b", "c", "c.0", "c.1"]
    assert names(m.named_modules(remove_duplicate=False)) == every
    assert names(m.named_children()) == ["a", "c"]
    own = ["p", "a.weight", "a.bias", "c.0.weight", "c.0.bias"]
    assert names(m.named_parameters()) == own
    assert names(m.named_parameters(recurse=False)) == ["p"]
    assert names(m.named_parameters("x"))[0] == "x.p"
    assert len(names(m.named_parameters(remove_duplicate=False))) == 10
    assert names(m.named_buffers()) == ["kept", "passing"]
    assert m.get_parameter("c.0.weight") is m.c[0].weight
    assert m.get_buffer("kept") is m.kept
    assert not any(each.training for each in m.eval().modules())
    assert m.train().training
    assert not any(p.requires_grad for p in m.requires_grad_(False).parameters())
    seen = []
    assert m.apply(lambda module: seen.append(type(module).__name__)) is m
    assert seen == ["Linear", "Linear", "Linear", "Sequential", "Model"]


def test_copies_keep_what_is_shared():
    for make in (copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))):
        m = Model()
        other = make(m)
        assert other.p is other.q and other.p is not m.p
        assert other.a is other.b is other.c[1]
        assert isinstance(other.p, nn.Parameter) and other.p.requires_grad


def test_dtypes_change_under_the_same_parameters(ranks):
    def body():
        m = Model()
        m.a.weight = nn.Parameter(
            distribute_tensor(np.ones((3, 2), np.float32), line(), [Shard(0)])
        )
        before = list(m.parameters())
        m.a.bias.grad = zeros(3)
        m.register_buffer("count", as_tensor(np.zeros(1, int)))
        assert m.double() is m and m.a.weight.dtype == np.float64
        assert m.a.weight.placements == (Shard(0),) and m.count.dtype == int
        assert m.a.bias.grad.dtype == np.float64
        for change, dtype in (
            (lambda: m.half(), np.float16),
            (lambda: m.to(np.float64), np.float64),
            (lambda: m.to("cpu", "float32"), np.float32),
            (lambda: m.to(zeros(1).to(np.float64)), np.float64),
            (lambda: m.float(), np.float32),
        ):
            change()
            assert {p.dtype for p in m.parameters()} == {np.dtype(dtype)}
        assert all(p is q for p, q in zip(before, m.parameters(), strict=True))
        assert m.type(np.float64).count.dtype == np.float64
        m.zero_grad(set_to_none=False)
        assert m.a.bias.grad is not None and m.zero_grad() is None
        assert m.a.bias.grad is None

    ranks(body)


def test_repr_is_torchs():
    m = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ModuleList([nn.ReLU()] * 2))
    assert repr(m) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=False)\n"
        "  (1): ModuleList(\n"
        "    (0-1): 2 x ReLU()\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ParameterList([zeros(2, 3), 3])) == (
        "ParameterList(\n"
        "    (0): Parameter containing: [float32 of size 2x3]\n"
        "    (1): Object of type: int\n"
        ")"
    )
    assert repr(nn.Dropout()) == "Dropout(p=0.5, inplace=False)"
    assert repr(nn.GELU("tanh")) == "GELU(approximate='tanh')"
    assert repr(nn.Embedding(3, 4, padding_idx=-1)) == "Embedding(3, 4, padding_idx=2)"
    conv = nn.Conv2d(4, 8, (3, 2), 2, padding=1, groups=4, bias=False)
    assert repr(conv) == (
        "Conv2d(4, 8, kernel_size=(3, 2), stride=(2, 2), padding=(1, 1), groups=4, "
        "bias=False)"
    )


# --- containers -----------------------------------------------------------------------


def test_sequential_is_a_list_that_can_be_called():
    s = nn.Sequential({"first": nn.Linear(2, 3), "second": nn.ReLU()})
    assert s(np.ones((1, 2), np.float32)).shape == (1, 3)
    assert list(s._modules) == ["first", "second"] and s[-1] is s.second
    assert list(s[:1]._modules) == ["first"]
    s = nn.Sequential(nn.ReLU(), nn.Tanh())
    s.append(nn.GELU()).insert(0, nn.SiLU())
    assert [type(x).__name__ for x in s] == ["SiLU", "ReLU", "Tanh", "GELU"]
    assert isinstance(s.pop(1), nn.ReLU) and len(s) == 3
    del s[0]
    assert list(s._modules) == ["0", "1"] and len(s * 2) == 4 and len(s + s) == 4
    s[0] = nn.ELU()
    assert isinstance(s[0], nn.ELU)
    for kind, call in (
        (IndexError, lambda: s[5]),
        (IndexError, lambda: s.insert(9, nn.ReLU())),
        (AssertionError, lambda: s.insert(0, 3)),
        (TypeError, lambda: s.append(3)),
        (ValueError, lambda: s + [3]),
        (ValueError, lambda: s * 0),
        (TypeError, lambda: s * 1.5),
    ):
        with pytest.raises(kind):
            call()


def test_lists_and_dicts_of_modules():
    some = nn.ModuleList([nn.ReLU(), nn.Tanh()])
    some += [nn.GELU()]
    some.insert(1, nn.ELU())
    kinds = [type(x).__name__ for x in some]
    assert kinds == ["ReLU", "ELU", "Tanh", "GELU"] and len(some[1:3]) == 2
    assert len(some + [nn.ReLU()]) == 5 and isinstance(some.pop(-1), nn.GELU)
    with pytest.raises(NotImplementedError):
        some(3)
    with pytest.raises(TypeError, match="should be called with an iterable"):
        some.extend(3)
    named = nn.ModuleDict([("a", nn.ReLU())])
    named["b"] = nn.Tanh()
    named.update({"c": nn.GELU()})
    assert list(named) == ["a", "b", "c"] and "b" in named and len(named) == 3
    assert isinstance(named.pop("b"), nn.Tanh) and list(named.keys()) == ["a", "c"]
    with pytest.raises(TypeError, match="element #0 should be Iterable"):
        named.update([3])
    with pytest.raises(ValueError, match="has length 3; 2 is required"):
        named.update([(1, 2, 3)])


def test_lists_and_dicts_of_parameters():
    some = nn.ParameterList([zeros(2), "text"])
    some.append(zeros(1))
    some[0] = zeros(7)
    assert names(some.named_parameters()) == ["0", "2"] and some[1] == "text"
    assert len(some[::2]) == 2 and some[-1].shape == (1,)
    named = nn.ParameterDict({"a": zeros(2)})
    named["b"] = zeros(3)
    assert isinstance(named["b"], nn.Parameter) and named.get("z", 3) == 3
    assert named.setdefault("c", zeros(1)).shape == (1,)
    assert list(named | {"d": 3}) == ["a", "b", "c", "d"]
    assert named.popitem()[0] == "c" and named.pop("a").shape == (2,)
    assert names(named.named_parameters()) == ["b"]
    with pytest.raises(RuntimeError, match="should not be called"):
        named(3)
    with pytest.raises(TypeError, match="not a string"):
        named[3]
