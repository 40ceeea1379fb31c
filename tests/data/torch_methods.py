"""Calls of methods, and what they give: run by Python with PyTorch, prints a line each.

With `dtensor.torch` in the place of `torch` it is what the test runs.
"""

import sys

CALLS = """
x.transpose(1, 2); x.transpose(-2, -1).shape; x.permute(2, 0, 1); x.permute((1, 2, 0))
m.t(); m.T; m.mT; x.sum(0, True); x.sum(); x.sum((0, 1)); n.sum(dtype=torch.float64)
x.mean(1); x.mean((0, 2), keepdim=True); n.prod(); x.max(1); x.max(); x.min(0, True)
x.max(dim=1, keepdim=True); m.max(m + 1); x.amax((0, 1)); x.argmax(); x.argmin(1)
x.median(); x.median(1); n.mode(); n.mode(0, True); x.sort(1, descending=True)
x.sort(); x.argsort(0); x.topk(2); x.topk(1, 0, False); x.kthvalue(2)
x.kthvalue(1, 0, True); x.std(); x.std(0); x.std(0, unbiased=False)
x.std(1, correction=0); x.var(2, True, True); x.var(False); x.norm(); x.norm(1, 0)
x.norm(p=2, dim=(0, 1)); x.cumsum(1); n.cumprod(1); n.cummax(1); n.cummin(0)
x.logsumexp(0); x.softmax(-1); x.log_softmax(0); m.repeat(2, 1); m.repeat(2, 1, 2)
m.repeat_interleave(2, 0); m.expand(2, -1, -1); x.view(2, -1); x.view(-1)
x.reshape(4, 6); x.view_as(x); x.flatten(1); m.unfold(1, 2, 1); m.unsqueeze(0)
m[:, :1].squeeze(1); x.squeeze(0); x.split(2, 2); x.split([1, 3], -1); x.chunk(2, 1)
m.unbind(1); x.select(1, 0); x.narrow(2, 1, 2); n.nonzero(); n.nonzero(as_tuple=True)
m.where(m > 0, m * 0); m.where(m > 0, 1.5); m.masked_fill(m > 0, 9.0)
m.masked_select(m > 0); m.masked_scatter(m > 0, torch.arange(9.0))
m.index_select(1, i); m.index_add(1, i, m[:, :2]); m.index_fill(1, i, 7)
m.gather(1, k); m.scatter(1, k, m); m.scatter(1, k, 5.0); m.scatter_add(1, k, m)
m.scatter_reduce(1, k, m, "amax")
m.scatter_reduce(0, k * 0, m, "sum", include_self=False); m.clone().fill_(3)
m.clone().add_(1, alpha=2); m.clone().clamp_(min=0); m.clone().zero_()
m.clone().scatter_add_(1, k, m); m.clone().masked_fill_(m > 0, 1)
m.clone().t_().shape; m.new_zeros(2); m.new_ones((2, 1)); n.new_full((2,), 4)
n.new_tensor([1.0, 2.5]); n.float(); m.long(); m.double().dtype; m.half().dtype
m.int(); n.bool(); m.to(torch.int64); m.to("cpu").dtype; n.to(m).dtype; m.type()
n.type(torch.float32); n.type_as(m).dtype; m.device.type; m.is_cuda; m.is_meta
m.equal(m); m.equal(m + 1); m.size(); m.size(1); m.shape; m.stride(); m.numel()
m.element_size(); m.storage_offset(); m[0, 0].item(); m.tolist(); m.dim()
m.shape.numel(); m.add(m, alpha=2); m.sub(1); m.mul(2); m.div(n); n.div(2)
n.div(2, rounding_mode="floor"); n.div(-2, rounding_mode="trunc"); n // 2; n % 2; n**2
m.pow(2); m.eq(m); m.lt(0); m.clamp(-1, 1); m.clamp(max=0.5); m.abs(); m.sign()
m.sigmoid(); m.tanh(); m.floor(); m.round(); m.exp(); m.sqrt().isnan(); m.reciprocal()
m.lerp(m + 1, 0.5); m.frac(); m.matmul(m.T); m @ m.T; m.mm(m.T); m[0].dot(m[1])
m.tril(); m.triu(1); m.diagonal(); m.flip(0); m.flip((0, 1)); m.roll(1, 0); m.rot90()
m.all(); m.any(1); (m > 0).all(1); n.unique(); n.unique(return_counts=True)
n.view(-1); n.reshape(-1).bincount(); m.count_nonzero(); m.aminmax(); m.isnan()
m.swapaxes(0, 1); m.movedim(0, 1); m.tile((2, 2)); m.diff(); m.sum().item(); m.data
torch.Tensor([1, 2]); torch.tensor([True]).sum(); torch.Size([2, 3]).numel()
n.is_floating_point()
"""
CALLS = [call.strip() for line in CALLS.strip().split("\n") for call in line.split(";")]


def names(torch):
    """What the calls refer to."""
    x = ((torch.arange(24.0) * 7) % 11 - 4.5).reshape(2, 3, 4)
    n = (torch.arange(12) * 5 % 7).reshape(3, 4)
    m = x[0].clone()
    i = torch.tensor([0, 2])
    k = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 2, 2]])
    return {"torch": torch, "x": x, "m": m, "n": n, "i": i, "k": k}


def plain(value, torch):
    """A result as text: dtypes, and numbers to six digits."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} {list(value.shape)} {plain(value.tolist(), torch)}"
    if isinstance(value, torch.Size):
        return str(value)
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(plain(each, torch) for each in value)}]"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def answers(torch):
    """The result of each call."""
    given = names(torch)
    for call in CALLS:
        try:
            found = plain(eval(call, given), torch)
        except Exception as error:
            found = type(error).__name__
        yield call, found


if __name__ == "__main__":
    import torch

    for call, found in answers(torch):
        sys.stdout.write(f"{call}\t{found}\n")
