"""``torch.distributed.algorithms.ddp_comm_hooks.default_hooks``."""

from collections.abc import Callable
from typing import Any

from dtensor.fsdp._bucket import GradBucket
from dtensor.torch.distributed._collectives import all_reduce
from dtensor.torch.distributed._groups import Group, mesh_of
from dtensor.torch.futures import Future

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]

Hook = Callable[[Any, GradBucket], Future[Any]]


def allreduce_hook(process_group: Group, bucket: GradBucket) -> Future[Any]:
    """Average the gradients of the ranks of a group; default: of all.

    Collective, as all hooks here: one all_reduce of the bucket.
    """
    return _averaged(process_group, bucket.buffer(), bucket.buffer())


def fp16_compress_hook(process_group: Group, bucket: GradBucket) -> Future[Any]:
    """Average the gradients as float16, which halves what is sent of float32."""
    buffer = bucket.buffer()
    return _averaged(process_group, buffer.astype("float16"), buffer)


def bf16_compress_hook(process_group: Group, bucket: GradBucket) -> Future[Any]:
    """Average the gradients as bfloat16, which halves what is sent of float32."""
    buffer = bucket.buffer()
    return _averaged(process_group, buffer.astype("bfloat16"), buffer)


def _averaged(group: Group, sent: Any, into: Any) -> Future[Any]:
    """Average a tensor, which is changed, and copy the average into another."""
    sent /= mesh_of(group).size()
    work = all_reduce(sent, group=group, async_op=True)
    assert work is not None
    return work.get_future().then(lambda future: _copied(into, future.value()[0]))


def _copied(into: Any, value: Any) -> Any:
    into[...] = value
    return into


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """Return a hook whose buckets are cast to float16 for the one that is given."""
    return _wrapped(hook, "float16")


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """Return a hook whose buckets are cast to bfloat16 for the one that is given."""
    return _wrapped(hook, "bfloat16")


def _wrapped(hook: Hook, dtype: str) -> Hook:
    def wrapped(state: Any, bucket: GradBucket) -> Future[Any]:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.astype(dtype))
        return hook(state, bucket).then(lambda future: _copied(buffer, future.value()))

    return wrapped
