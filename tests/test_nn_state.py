"""What a module saves, loads, and calls before and after forward and backward."""

import warnings

import numpy as np
import pytest
from meshes import line

from dtensor import DTensor, Shard, as_tensor, distribute_tensor, nn, no_grad, tensor


def zeros(*shape):
    return as_tensor(np.zeros(shape, np.float32))


# --- state ----------------------------------------------------------------------------


def test_a_state_goes_from_one_module_to_another(ranks):
    def body():
        rng = np.random.default_rng(0)
        values = rng.standard_normal((3, 2)).astype(np.float32)
        one, other = (nn.Sequential(nn.Linear(2, 3)) for _ in range(2))
        for module, placements in ((one, [Shard(0)]), (other, [Shard(1)])):
            weight = distribute_tensor(values * 0, line(), placements)
            module[0].weight = nn.Parameter(weight)
        one[0].weight.data = distribute_tensor(values, line(), [Shard(0)])
        kept = other[0].weight
        state = one.state_dict()
        assert list(state) == ["0.weight", "0.bias"]
        assert isinstance(state["0.weight"], DTensor)
        assert not state["0.weight"].requires_grad
        assert one.state_dict(keep_vars=True)["0.weight"] is one[0].weight
        assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
        assert other[0].weight is kept and kept.placements == (Shard(1),)
        assert np.array_equal(kept.detach().full_tensor(), values)
        other.load_state_dict(state, assign=True)
        assert other[0].weight.placements == (Shard(0),)
        assert isinstance(other[0].weight, nn.Parameter)

    ranks(body)


def test_buffers_are_saved_if_they_are_persistent():
    m = nn.Module()
    m.register_buffer("a", zeros(1))
    m.b = nn.Buffer(zeros(1), persistent=False)
    assert list(m.state_dict(prefix="x.")) == ["x.a"]
    assert m.state_dict()._metadata == {"": {"version": 1}}
    m.b = zeros(2)
    assert list(m.state_dict()) == ["a"]
    m.register_buffer("b", zeros(2))
    assert list(m.state_dict()) == ["a", "b"]


def test_what_does_not_fit_is_told_at_once_and_the_rest_is_loaded():
    m = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1, bias=False))
    state = {
        "0.weight": zeros(4, 2),
        "0.bias": as_tensor(np.full(3, 7, np.float32)),
        "1.weight": 3,
        "1.bias": zeros(1),
        "z.a": zeros(1),
    }
    with pytest.raises(RuntimeError) as error:
        m.load_state_dict(state)
    assert str(error.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tUnexpected key(s) in state_dict: "z.a", "1.bias". \n'
        "\tsize mismatch for 0.weight: copying a param with shape (4, 2) from "
        "checkpoint, the shape in current model is (3, 2).\n"
        '\tWhile copying the parameter named "1.weight", expected torch.Tensor or '
        "Tensor-like object from checkpoint but received <class 'int'>"
    )
    assert m[0].bias.detach().tolist() == [7, 7, 7]
    with pytest.raises(RuntimeError, match='Missing key.s. in state_dict: "0.bias", '):
        m.load_state_dict({"0.weight": zeros(3, 2)})
    result = m.load_state_dict({"x": zeros(1)}, strict=False)
    assert result.unexpected_keys == ["x"]
    assert result.missing_keys == ["0.weight", "0.bias", "1.weight"]
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
        m.load_state_dict(3)


def test_extra_state_is_saved_and_loaded():
    class Counted(nn.Module):
        count = 0

        def get_extra_state(self):
            return self.count

        def set_extra_state(self, state):
            self.count = state

    one, other = Counted(), nn.Sequential(Counted())
    one.count = 5
    state = nn.Sequential(one).state_dict()
    assert list(state) == ["0._extra_state"]
    other.load_state_dict(state)
    assert other[0].count == 5
    with pytest.raises(RuntimeError, match="Missing key"):
        other.load_state_dict({})


def test_hooks_see_states_as_they_go():
    m, log = nn.Sequential(nn.Linear(2, 3)), []
    m.register_state_dict_pre_hook(lambda mod, prefix, keep: log.append(prefix + "<"))
    m[0].register_state_dict_post_hook(
        lambda mod, state, prefix, meta: log.append(list(state))
    )
    m[0].register_load_state_dict_pre_hook(
        lambda mod, state, prefix, *rest: log.append((mod is m[0], prefix))
    )
    m.register_load_state_dict_post_hook(
        lambda mod, keys: log.append(list(keys.missing_keys))
    )
    handle = m[0].register_load_state_dict_post_hook(
        lambda mod, keys: keys.missing_keys.remove("0.bias")
    )
    state = m.state_dict()
    del state["0.bias"]
    m.load_state_dict(state)
    assert log == ["<", ["0.weight", "0.bias"], (True, "0."), []]
    handle.remove()
    with pytest.raises(RuntimeError, match="Missing"):
        m.load_state_dict(state)
    m[0].register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        m.state_dict()


# --- forward hooks --------------------------------------------------------------------


class Add(nn.Module):
    def forward(self, x, y=0):
        return x + y


def test_forward_hooks_run_in_order_and_change_what_goes_through():
    m, log = Add(), []
    m.register_forward_pre_hook(lambda mod, args: log.append(("pre", args)))
    m.register_forward_pre_hook(
        lambda mod, args, kwargs: ((args[0] + 1,), {"y": 5}), with_kwargs=True
    )
    m.register_forward_pre_hook(lambda mod, args: log.append("first"), prepend=True)
    m.register_forward_hook(
        lambda mod, args, kwargs, out: log.append((args, kwargs, out)), with_kwargs=True
    )
    double = m.register_forward_hook(lambda mod, args, out: out * 2)
    assert m(1, y=2) == 14
    assert log == ["first", ("pre", (1,)), ((2,), {"y": 5}, 7)]
    double.remove()
    double.remove()
    assert m(1) == 7
    with m.register_forward_hook(lambda mod, args, out: 0):
        assert m(1) == 0
    assert m(1) == 7
    m = Add()
    m.register_forward_pre_hook(lambda mod, args: args[0] + 1)
    assert m(1) == 2
    m.register_forward_pre_hook(lambda mod, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        m(1)


def test_some_hooks_are_called_also_where_forward_raises():
    m, seen = Add(), []
    m.register_forward_hook(lambda mod, args, out: seen.append(out), always_call=True)
    with pytest.raises(TypeError):
        m(1, "a")
    assert seen == [None]

    def fails(mod, args, out):
        raise ValueError("in the hook")

    m.register_forward_hook(fails, always_call=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(TypeError):
            m(1, "a")
    assert "in the hook" in str(caught[0].message)


def test_hooks_of_all_modules():
    log = []
    pre = nn.register_module_forward_pre_hook(
        lambda mod, args: log.append(type(mod).__name__)
    )
    post = nn.register_module_forward_hook(lambda mod, args, out: log.append("done"))
    with pre, post:
        nn.Sequential(nn.ReLU())(np.ones(2))
    nn.ReLU()(np.ones(2))
    assert log == ["Sequential", "ReLU", "done", "done"]


# --- backward hooks -------------------------------------------------------------------


def layer():
    m = nn.Linear(2, 2)
    m.weight.data, m.bias.data = tensor([[1.0, 2], [3, 4]]), tensor([0.5, 0.25])
    return m


def plain(grads):
    return [None if grad is None else grad.tolist() for grad in grads]


def test_backward_hooks_see_and_change_gradients():
    m, log = layer(), []
    m.register_full_backward_pre_hook(lambda mod, out: (out[0] * 2,))
    m.register_full_backward_hook(
        lambda mod, grads, out: log.append((plain(grads), plain(out)))
    )
    m.register_full_backward_hook(lambda mod, grads, out: (grads[0] * 10,))
    x = tensor([[1.0, 2.0]], requires_grad=True)
    (m(x) * np.array([[1, 2]], np.float32)).sum().backward()
    assert log == [([[[14, 20]]], [[[2, 4]]])]
    assert x.grad.tolist() == [[140, 200]]
    assert m.weight.grad.tolist() == [[2, 4], [4, 8]]


def test_backward_hooks_of_several_inputs_and_outputs():
    class Two(nn.Module):
        def forward(self, a, text, b):
            return a + b, text, b * 2

    m, log = Two(), []
    m.register_full_backward_hook(lambda mod, *both: log.append([*map(plain, both)]))
    a, b = (tensor([1.0], requires_grad=True) for _ in range(2))
    first, text, second = m(a, "text", b)
    (first + second * 3).sum().backward()
    assert text == "text" and log == [[[[1], None, [7]], [[1], None, [3]]]]


def test_backward_hooks_where_no_input_requires_a_gradient():
    m, log = layer(), []
    m.register_full_backward_hook(lambda mod, *both: log.append([*map(plain, both)]))
    m(tensor([[1.0, 2.0]])).sum().backward()
    assert log == [[[None], [[[1, 1]]]]]
    m.register_full_backward_hook(lambda mod, grads, out: out)
    with pytest.raises(RuntimeError, match="should always return None"):
        m(tensor([[1.0, 2.0]])).sum().backward()
    with no_grad():
        assert not m(tensor([[1.0, 2.0]])).requires_grad


def test_a_backward_hook_returns_as_many_gradients_as_there_are():
    m = layer()
    m.register_full_backward_hook(lambda mod, grads, out: grads * 2)
    with pytest.raises(RuntimeError, match="got 2, but expected 1"):
        m(tensor([[1.0, 2.0]], requires_grad=True)).sum().backward()
