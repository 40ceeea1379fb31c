"""A small Llama-style model, trained by fsdp_and_tensor_parallel.py.

Rotary positions, RMSNorm before each block, gated feed-forward. Its module names are
those of PyTorch's "llama2_model", so that the plans of the tutorial fit.
"""

from dataclasses import dataclass

import dtensor.torch as torch
import dtensor.torch.nn as nn
import dtensor.torch.nn.functional as F


@dataclass
class ModelArgs:
    dim: int = 32
    n_layers: int = 2
    n_heads: int = 4
    vocab_size: int = 64
    max_seq_len: int = 16

    @property
    def head_dim(self):
        return self.dim // self.n_heads


def rotations(args, base=10000.0):
    """Unit complex numbers, one row per position and one column per pair."""
    steps = torch.arange(0, args.head_dim, 2) / args.head_dim
    angles = torch.outer(torch.arange(args.max_seq_len).float(), base**-steps)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x, freqs_cis):
    """Rotate the pairs in the last dim of (batch, sequence, heads, head_dim)."""
    pairs = torch.view_as_complex(torch.unflatten(x, -1, (-1, 2)))
    turned = pairs * torch.unsqueeze(freqs_cis, 1)
    return torch.flatten(torch.view_as_real(turned), 3).type_as(x)


class Attention(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.n_heads, self.head_dim = args.n_heads, args.head_dim
        self.wq = nn.Linear(args.dim, args.dim, bias=False)
        self.wk = nn.Linear(args.dim, args.dim, bias=False)
        self.wv = nn.Linear(args.dim, args.dim, bias=False)
        self.wo = nn.Linear(args.dim, args.dim, bias=False)

    def forward(self, x, freqs_cis):
        shape = (*x.shape[:2], self.n_heads, self.head_dim)
        q, k, v = (layer(x).view(*shape) for layer in (self.wq, self.wk, self.wv))
        q, k = rotate(q, freqs_cis), rotate(k, freqs_cis)
        q, k, v = (torch.transpose(each, 1, 2) for each in (q, k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(torch.flatten(torch.transpose(mixed, 1, 2), 2))


class FeedForward(nn.Module):
    def __init__(self, args):
        super().__init__()
        hidden = 3 * args.dim
        self.w1 = nn.Linear(args.dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, args.dim, bias=False)
        self.w3 = nn.Linear(args.dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.attention = Attention(args)
        self.feed_forward = FeedForward(args)
        self.attention_norm = nn.RMSNorm(args.dim)
        self.ffn_norm = nn.RMSNorm(args.dim)

    def forward(self, x, freqs_cis):
        x = x + self.attention(self.attention_norm(x), freqs_cis)
        return x + self.feed_forward(self.ffn_norm(x))


class Transformer(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.tok_embeddings = nn.Embedding(args.vocab_size, args.dim)
        self.layers = nn.ModuleList(
            TransformerBlock(args) for _ in range(args.n_layers)
        )
        self.norm = nn.RMSNorm(args.dim)
        self.output = nn.Linear(args.dim, args.vocab_size, bias=False)
        self.register_buffer("freqs_cis", rotations(args), persistent=False)

    def forward(self, tokens):
        freqs_cis = self.freqs_cis[: tokens.shape[1]]
        h = self.tok_embeddings(tokens)
        for layer in self.layers:
            h = layer(h, freqs_cis)
        return self.output(self.norm(h))
