"""Expressions whose gradients are PyTorch's on one process, whatever the layout.

python torch_gradients.py OUT, by a Python with torch: writes values and gradients of
all rows as an npz file.
"""

import sys
from typing import Any

import numpy as np

# name, the expression in PyTorch, the same here ("": the same text), shapes of a, b, c.
A, B, C = (4, 6), (4, 6), (6,)
ROWS: list[tuple[str, str, str, tuple[tuple[int, ...], ...]]] = [
    ("add broadcast", "a + c", "", (A, B, C)),
    ("multiply", "a * b * c", "", (A, B, C)),
    ("divide", "a / (b * b + 1)", "", (A, B)),
    ("power", "(a * a + 1) ** b", "", (A, B)),
    ("maximum", "t.maximum(a, b)", "", (A, B)),
    ("where", "t.where(a > 0, a * a, b)", "", (A, B)),
    ("clip", "t.clip(a, -0.5, 0.5)", "", (A,)),
    ("exp log", "t.log(t.exp(a) + 1)", "", (A,)),
    ("tanh", "t.tanh(a) * t.sigmoid(b)", "", (A, B)),
    ("sin cos", "t.sin(a) * t.cos(b)", "", (A, B)),
    ("arctan2", "t.arctan2(a, b)", "", (A, B)),
    ("hypot", "t.hypot(a, b)", "", (A, B)),
    ("abs sqrt", "t.sqrt(t.abs(a) + 1)", "", (A,)),
    ("logaddexp", "t.logaddexp(a, b)", "", (A, B)),
    ("sum", "a.sum(0)", "", (A,)),
    ("mean", "a.mean(1)", "", (A,)),
    ("prod", "a.prod(1)", "", (A,)),
    ("var", "a.var(1)", "a.var(1, ddof=1)", (A,)),
    ("std", "a.std(0)", "a.std(0, ddof=1)", (A,)),
    ("amax", "t.amax(a, 1)", "a.max(1)", (A,)),
    ("amin", "t.amin(a, 0)", "a.min(0)", (A,)),
    ("logsumexp", "t.logsumexp(a, 1)", "", (A,)),
    ("cumsum", "a.cumsum(1)", "", (A,)),
    ("cumprod", "a.cumprod(0)", "", (A,)),
    ("median", "a.median(1).values", "t.sort(a, 1)[:, 2]", (A,)),
    ("norm", "t.linalg.norm(a)", "", (A,)),
    ("matmul", "a @ b.T", "", (A, B)),
    ("matvec", "a @ c", "", (A, B, C)),
    ("batched matmul", "a @ b", "", ((3, 4, 6), (3, 6, 2))),
    ("einsum", "t.einsum('bij,bjk->ik', a, b)", "", ((3, 4, 6), (3, 6, 2))),
    ("tensordot", "t.tensordot(a, b, 2)", "", ((3, 4, 6), (4, 6, 2))),
    ("reshape", "a.reshape(3, 8) * 2", "", (A,)),
    ("transpose", "a.T * c[:4]", "", (A, B, C)),
    ("slice", "a[1:3, ::2] * 3", "", (A,)),
    ("index", "a[[0, 2, 0]] * 2", "", (A,)),
    ("mask", "a[a > 0] * 2", "", (A,)),
    ("concatenate", "t.concatenate([a, b], 1) * 2", "", (A, B)),
    ("stack", "t.stack([a, b]) * 2", "", (A, B)),
    ("flip", "t.flip(a, (1,)) * b", "", (A, B)),
    ("roll", "t.roll(a, 2, 1) * b", "", (A, B)),
    ("tril", "t.tril(a) * b", "", (A, B)),
    ("sort", "t.sort(a, 1).values * b", "t.sort(a, 1) * b", (A, B)),
    ("kron", "t.kron(a, c)", "t.kron(a, c[None])", (A, B, C)),
    ("inv", "t.linalg.inv(a @ a.T + 3 * I)", "", (A,)),
    ("solve", "t.linalg.solve(a @ a.T + 3 * I, b)", "", (A, B)),
    ("det", "t.linalg.det(a @ a.T + 3 * I)", "", (A,)),
    ("cholesky", "t.linalg.cholesky(a @ a.T + 3 * I)", "", (A,)),
    ("softmax", "F.softmax(a, 1) * b", "", (A, B)),
    ("log_softmax", "F.log_softmax(a, 0) * b", "", (A, B)),
    ("gelu", "F.gelu(a)", "", (A,)),
    ("gelu tanh", "F.gelu(a, approximate='tanh')", "", (A,)),
    ("silu", "F.silu(a)", "", (A,)),
    ("relu", "F.relu(a)", "", (A,)),
    ("softplus", "F.softplus(a)", "", (A,)),
    ("layer_norm", "F.layer_norm(a, (6,), c, b[0]) * b", "", (A, B, C)),
    ("rms_norm", "F.rms_norm(a, (6,), c) * b", "", (A, B, C)),
    ("linear", "F.linear(a, b, c[:4])", "", (A, B, C)),
    ("cross_entropy", "F.cross_entropy(a, k)", "", (A,)),
    ("smoothed", "F.cross_entropy(a, k, label_smoothing=0.1)", "", (A,)),
    ("soft labels", "F.cross_entropy(a, F.softmax(b, 1))", "", (A, B)),
    ("mse_loss", "F.mse_loss(a, b)", "", (A, B)),
    ("huber_loss", "F.huber_loss(a, b)", "", (A, B)),
    ("bce", "F.binary_cross_entropy_with_logits(a, t.sigmoid(b))", "", (A, B)),
    ("embedding", "F.embedding(k, a) * 2", "", (A,)),
    (
        "attention",
        "F.scaled_dot_product_attention(a, b, b, is_causal=True)",
        "",
        ((2, 3, 5, 4), (2, 3, 5, 4)),
    ),
    ("conv1d", "F.conv1d(a, b, padding=1)", "", ((2, 3, 8), (4, 3, 3))),
    ("conv2d", "F.conv2d(a, b, stride=2)", "", ((2, 3, 7, 7), (4, 3, 3, 3))),
    ("max_pool1d", "F.max_pool1d(a, 3, 2, 1, ceil_mode=True)", "", ((2, 3, 8),)),
    ("max_pool2d", "F.max_pool2d(a, (3, 2), 1, 1)", "", ((2, 3, 5, 4),)),
    ("avg_pool1d", "F.avg_pool1d(a, 3, 2, 1, True, False)", "", ((2, 3, 8),)),
    ("avg_pool2d", "F.avg_pool2d(a, (3, 2), 1, 1)", "", ((2, 3, 5, 4),)),
    ("adaptive_avg_pool2d", "F.adaptive_avg_pool2d(a, (3, 2))", "", ((2, 3, 5, 4),)),
    (
        "batch_norm",
        "F.batch_norm(a, None, None, b, c, True)",
        "",
        ((4, 3, 5, 2), (3,), (3,)),
    ),
    (
        "batch_norm eval",
        "F.batch_norm(a, b.detach(), (c * c).detach(), b, c)",
        "",
        ((4, 3, 5), (3,), (3,)),
    ),
]


def inputs(shapes: tuple[tuple[int, ...], ...], seed: int) -> list[np.ndarray]:
    """Return a, b, c."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def seed_of(shape: tuple[int, ...]) -> np.ndarray:
    """Return the gradient of a result: no two elements alike."""
    size = int(np.prod(shape))
    return np.cos(np.arange(size, dtype=float)).reshape(shape)


def evaluate(text: str, arrays: list[Any], names: dict[str, Any]) -> Any:
    """Return the value of a row's text."""
    return eval(text, names | dict(zip("abc", arrays, strict=False)))


def main() -> None:
    import torch
    from torch.nn import functional

    torch.set_default_dtype(torch.float64)
    found: dict[str, np.ndarray] = {}
    for number, (name, text, _, shapes) in enumerate(ROWS):
        arrays = [torch.tensor(x, requires_grad=True) for x in inputs(shapes, number)]
        names = {"t": torch, "F": functional, "I": torch.eye(4)}
        names["k"] = torch.tensor([1, 0, 3, 2])
        value = evaluate(text, arrays, names)
        value.backward(torch.tensor(seed_of(tuple(value.shape))))
        found[f"{name}/value"] = value.detach().numpy()
        for letter, x in zip("abc", arrays, strict=False):
            if x.grad is not None:
                found[f"{name}/{letter}"] = x.grad.numpy()
    np.savez(sys.argv[1], **found)


if __name__ == "__main__":
    main()
