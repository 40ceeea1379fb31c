"""PyTorch's context_parallel, as its page tells of it: buffers, and restored ones."""

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.nn.functional as F
from dtensor.torch.distributed.device_mesh import init_device_mesh
from dtensor.torch.distributed.tensor.experimental import context_parallel
from dtensor.torch.distributed.tensor.experimental.attention import (
    context_parallel_unshard,
)

dist.init_process_group()
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)
query, key, value = (torch.randn(1, 2, 16, 4) for _ in range(3))
labels = torch.arange(16)
expected = F.scaled_dot_product_attention(query, key, value, is_causal=True)

with context_parallel(
    mesh,
    buffers=[query, key, value, labels],
    buffer_seq_dims=[2, 2, 2, 0],
    no_restore_buffers={labels},
):
    assert query.shape == (1, 2, 16 // mesh.size(), 4)
    out = F.scaled_dot_product_attention(query, key, value, is_causal=True)

assert query.shape == (1, 2, 16, 4)
assert labels.shape == (16 // mesh.size(),)
(whole,) = context_parallel_unshard(mesh, [out], [2])
torch.testing.assert_close(whole, expected)
dist.destroy_process_group()
