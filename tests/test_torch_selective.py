"""Selective checkpoints, and the smaller names of torch.utils.checkpoint."""

import functools
from functools import partial
from itertools import product

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.torch.utils.checkpoint import (
    CheckpointError,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    check_backward_validity,
    checkpoint,
    create_selective_checkpoint_contexts,
    detach_variable,
    get_device_states,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
    set_device_states,
)

aten = torch.ops.aten
A = np.random.default_rng(5).normal(size=(4, 4))
calls = []


def block(x, w):
    calls.append(1)
    y = (x @ w).sin()
    return ((y @ w).sin() @ w).exp()


def gradients(run, place=torch.tensor):
    calls.clear()
    x, w = (place(n * A).requires_grad_() for n in (1, 0.5))
    run(x, w).sum().backward()
    whole = [
        g.full_tensor() if hasattr(g, "full_tensor") else g for g in (x.grad, w.grad)
    ]
    return [np.asarray(g) for g in whole]


def selective(policy, **options):
    context = functools.partial(create_selective_checkpoint_contexts, policy, **options)
    return functools.partial(checkpoint, block, use_reentrant=False, context_fn=context)


def keep(*ops):
    def policy(ctx, op, *args, **kwargs):
        assert isinstance(ctx, SelectiveCheckpointContext) and not ctx.is_recompute
        if op in ops:
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE

    return policy


@pytest.mark.parametrize(
    ("policy", "count"),
    [
        ([], 2),
        ([aten.mm.default], 2),
        (keep(aten.mm.default), 2),
        (keep(aten.mm.default, aten.sin.default, aten.exp.default), 1),
        (lambda ctx, op, *args, **kwargs: True, 1),
        (lambda ctx, op, *args, **kwargs: CheckpointPolicy.MUST_CPU_OFFLOAD, 1),
        (lambda ctx, op, *args, **kwargs: CheckpointPolicy.MUST_RECOMPUTE, 2),
    ],
)
def test_gradients_are_the_same_whatever_is_kept(ranks, policy, count):
    plain = gradients(block)
    found = gradients(selective(policy))
    assert len(calls) == count  # once, if all that backward needs is kept
    assert all(map(np.array_equal, plain, found))

    def body():
        mesh = line()
        found = gradients(
            selective(policy),
            lambda x: distribute_tensor(x, mesh, [Shard(0)]).as_torch(),
        )
        assert all(map(np.allclose, plain, found))

    ranks(body)


def test_a_policy_is_asked_of_each_operator():
    seen = []

    def policy(ctx, op, *args, **kwargs):
        seen.append((op, np.shape(ctx.op_output)))
        return CheckpointPolicy.PREFER_RECOMPUTE

    gradients(selective(policy))
    names = [aten.mm, aten.sin, aten.mm, aten.sin, aten.mm, aten.exp]
    assert seen == [(name.default, (4, 4)) for name in names]
    assert aten.linear.default == aten.mm.default != aten.sin.default


def test_second_calls_end_where_the_rest_is_kept():
    """The last operator is kept: the function runs up to the second sine."""
    seen = []

    def run(x, w):
        y = (x @ w).sin()
        seen.append(1)
        z = y.exp()
        seen.append(2)
        return z

    x, w = (torch.tensor(A, requires_grad=True) for _ in range(2))
    context = functools.partial(
        create_selective_checkpoint_contexts, [aten.exp.default, aten.sin.default]
    )
    checkpoint(run, x, w, use_reentrant=False, context_fn=context).sum().backward()
    assert seen == [1, 2]


def test_writing_to_what_is_kept_is_an_error_unless_it_is_allowed():
    def run(x):
        y = x.sin()
        z = y.exp()
        kept.append(y)
        return z * y

    for options, raises in (({}, True), ({"allow_cache_entry_mutation": True}, False)):
        kept = []
        context = functools.partial(
            create_selective_checkpoint_contexts,
            [aten.sin.default, aten.exp.default],
            **options,
        )
        x = torch.tensor(A, requires_grad=True)
        y = checkpoint(run, x, use_reentrant=False, context_fn=context)
        with torch.no_grad():
            kept[0].detach().mul_(1)
        if raises:
            with pytest.raises(RuntimeError, match="allow_cache_entry_mutation"):
                y.sum().backward()
        else:
            y.sum().backward()


def test_what_is_no_policy_is_refused():
    with pytest.raises(TypeError, match="either a function or a list of ops"):
        create_selective_checkpoint_contexts(3)
    with pytest.raises(ValueError, match="to be an OpOverload but got: mm"):
        create_selective_checkpoint_contexts(["mm"])


# --- the rest of the module -----------------------------------------------------------


def test_errors_are_checkpoint_errors_and_tell_the_operators():
    def differ(x):
        turn.append(1)
        return (x * x * x if len(turn) == 1 else x * x).sin()

    for context, match in (
        (set_checkpoint_debug_enabled(True), "operators of the first call: .*sin"),
        (set_checkpoint_debug_enabled(None), "debug=True"),
    ):
        turn = []
        x = torch.tensor(A, requires_grad=True)
        with context:
            y = checkpoint(differ, x, use_reentrant=False)
        with pytest.raises(CheckpointError, match=match):
            y.sum().backward()
    assert issubclass(CheckpointError, RuntimeError)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(differ, x, use_reentrant=True, debug=True)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(differ, x, use_reentrant=False, determinism_check="x")


def test_early_stop_can_be_set_from_outside():
    def run(x):
        y = x.sin().exp()
        done.append(1)
        return y

    for early, count in ((True, 1), (False, 2)):
        done = []
        x = torch.tensor(A, requires_grad=True)
        with set_checkpoint_early_stop(early):
            y = checkpoint(run, x, use_reentrant=False, early_stop=not early)
        y.sum().backward()
        assert len(done) == count


def test_older_helpers():
    x, y = torch.ones(2), torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        check_backward_validity([x, 3])
    check_backward_validity([x, y])
    first, number, second = detach_variable((x, 3, y))
    assert number == 3 and second is not y
    assert not first.requires_grad and second.requires_grad and second.is_leaf
    with pytest.raises(RuntimeError, match="Only tuple of tensors"):
        detach_variable([x])
    assert get_device_states(x) == ([], [])
    set_device_states([], [])
    with pytest.raises(RuntimeError, match="no devices"):
        set_device_states([0], [x])


@pytest.mark.parametrize("kept", ["mm", "relu", "tanh"])
def test_ranks_keep_alike_where_parts_are_empty_or_contiguous_by_chance(ranks, kept):
    def policy(_context, op, *_args, **_options):
        saves = kept in str(op)
        return (CheckpointPolicy.PREFER_RECOMPUTE, CheckpointPolicy.MUST_SAVE)[saves]

    def function(x, w):
        y = torch.relu(x @ w)
        z = (y.reshape(-1) * 2).reshape(*y.shape)
        return torch.tanh(z @ w).t() @ x

    def differentiated(shape, placements, run):
        rng = np.random.default_rng(0)
        arrays = rng.standard_normal(shape), rng.standard_normal((shape[1], shape[1]))
        x, w = (
            distribute_tensor(torch.tensor(a), line(), [p]).requires_grad_()
            for a, p in zip(arrays, placements, strict=True)
        )
        run(x, w).sum().backward()
        return [g.full_tensor().numpy() for g in (x.grad, w.grad)]

    def body():
        contexts = partial(create_selective_checkpoint_contexts, policy)
        again = partial(checkpoint, function, use_reentrant=False, context_fn=contexts)
        for shape in ((4, 4), (2, 5)):
            for placements in product([Shard(0), Shard(1), Replicate()], repeat=2):
                want = differentiated(shape, placements, function)
                found = differentiated(shape, placements, again)
                np.testing.assert_allclose(found[0], want[0], 1e-12)
                np.testing.assert_allclose(found[1], want[1], 1e-12)

    ranks(body)
