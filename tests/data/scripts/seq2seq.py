"""A CTC recognizer with BiLSTM and an attention seq2seq model with beam search."""

import heapq
import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor, optim
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts

random.seed(0)
rng = np.random.RandomState(5)
PAD, BOS, EOS, V = 0, 1, 2, 12


def reset(module):
    for p in module.parameters():
        p.data = torch.from_numpy(rng.uniform(-0.25, 0.25, tuple(p.size()))).to(p.dtype)


class Recognizer(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv1d(8, 16, 5, stride=2, padding=2),
            nn.BatchNorm1d(16),
            nn.ReLU(True),
            nn.Conv1d(16, 16, 3, padding="same"),
            nn.GELU(approximate="tanh"),
        )
        self.rnn = nn.LSTM(16, 12, bidirectional=True, num_layers=2, dropout=0.0)
        self.fc = nn.Linear(24, classes)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        x = self.cnn(x.transpose(1, 2)).permute(2, 0, 1)
        lengths = torch.div(lengths + 1, 2, rounding_mode="floor")
        packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
        x, _ = pad_packed_sequence(self.rnn(packed)[0])
        return F.log_softmax(self.fc(x), dim=2), lengths


model = Recognizer()
reset(model)
xs = torch.from_numpy(rng.randn(3, 20, 8).astype("float32"))
lengths = torch.tensor([20, 17, 14])
targets = torch.tensor([1, 2, 3, 3, 4, 5, 1, 1, 2])
tlengths = torch.tensor([4, 3, 2])
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
opt = optim.NAdam(model.parameters(), lr=5e-3)
for step in range(5):
    logp, out_lengths = model(xs, lengths)
    loss = ctc(logp, targets, out_lengths, tlengths)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print("ctc %d %.5f" % (step, loss))  # noqa: UP031
model.eval()
with torch.no_grad():
    logp, out_lengths = model(xs, lengths)
    for b in range(3):
        best = logp[: out_lengths[b], b].argmax(-1)
        best = torch.unique_consecutive(best)
        print(
            [i.item() for i in best if i != 0],
            logp[:, b].exp().max(dim=-1)[0].prod().item() > 0,
        )


class Encoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.emb = nn.Embedding(V, h, padding_idx=PAD)
        self.gru = nn.GRU(h, h, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * h, h)

    def forward(self, src):
        out, h = self.gru(self.emb(src))
        return out, torch.tanh(self.bridge(torch.cat((h[-2], h[-1]), dim=1)))


class Attention(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.W, self.v = nn.Linear(3 * h, h), nn.Parameter(torch.rand(h))

    def forward(self, hidden, enc, mask):
        h = hidden.unsqueeze(1).repeat(1, enc.shape[1], 1)
        energy = self.W(torch.cat([h, enc], 2)).tanh().matmul(self.v)
        energy = energy.masked_fill(mask == 0, -1e10)
        return energy.softmax(1)


class Decoder(nn.Module):
    def __init__(self, h):
        super().__init__()
        self.emb, self.attn = nn.Embedding(V, h), Attention(h)
        self.cell = nn.GRUCell(3 * h, h)
        self.out = nn.Linear(4 * h, V)

    def forward(self, tok, hidden, enc, mask):
        e = self.emb(tok)
        a = self.attn(hidden, enc, mask)
        ctx = torch.bmm(a.unsqueeze(1), enc).squeeze(1)
        hidden = self.cell(torch.cat((e, ctx), -1), hidden)
        return self.out(torch.hstack([hidden, ctx, e])), hidden, a


class Seq2Seq(nn.Module):
    def __init__(self, h=10):
        super().__init__()
        self.encoder, self.decoder = Encoder(h), Decoder(h)

    def forward(self, src, trg, teacher=0.5):
        B, T = trg.shape
        outputs = torch.zeros(T, B, V, device=src.device)
        enc, hidden = self.encoder(src)
        mask = src.ne(PAD)
        tok = trg[:, 0]
        for t in range(1, T):
            outputs[t], hidden, _ = self.decoder(tok, hidden, enc, mask)
            tok = trg[:, t] if random.random() < teacher else outputs[t].argmax(1)
        return outputs

    @torch.no_grad()
    def beam(self, src, width=3, limit=8):
        enc, hidden = self.encoder(src)
        beams = [(0.0, [BOS], hidden)]
        done: list[tuple[float, list[int]]] = []
        for _ in range(limit):
            toks = torch.tensor([b[1][-1] for b in beams])
            hs = torch.cat([b[2] for b in beams])
            n = len(beams)
            logits, hs, _ = self.decoder(
                toks, hs, enc.expand(n, -1, -1), src.ne(PAD).expand(n, -1)
            )
            logp = logits.log_softmax(-1) + torch.tensor(
                [b[0] for b in beams]
            ).unsqueeze(1)
            scores, flat = logp.view(-1).topk(width)
            new = []
            for s, i in zip(scores.tolist(), flat.tolist()):  # noqa: B905
                k, tok = divmod(i, V)
                seq = beams[k][1] + [tok]
                if tok == EOS:
                    heapq.heappush(done, (-s / len(seq), seq))
                else:
                    new.append((s, seq, hs[k : k + 1]))
            if not new:
                break
            beams = new
        for s, seq, _ in beams:
            heapq.heappush(done, (-s / len(seq), seq))
        return heapq.heappop(done)


net = Seq2Seq()
reset(net)
src = torch.from_numpy(rng.randint(3, V, (6, 7)))
src[torch.arange(7) >= torch.from_numpy(rng.randint(4, 8, (6, 1)))] = PAD
trg = torch.cat([torch.full((6, 1), BOS), src.flip(1), torch.full((6, 1), EOS)], 1)
opt = optim.RAdam(net.parameters(), lr=0.02, weight_decay=1e-4)
sched = CosineAnnealingWarmRestarts(opt, T_0=3, T_mult=2)
criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.05)
for epoch in range(6):
    opt.zero_grad()
    out = net(src, trg)
    loss = criterion(out[1:].reshape(-1, V), trg[:, 1:].t().reshape(-1))
    loss.backward()
    total = nn.utils.clip_grad_norm_(
        net.parameters(), max_norm=1.0, norm_type=2, error_if_nonfinite=True
    )
    opt.step()
    sched.step()
    print(
        f"{epoch} {loss.item():.5f} {total.item():.5f} {sched.get_last_lr()[0]:.6f}",
        f"{out.argmax(-1).eq(trg.t()).float().mean():.3f}",
    )
net.eval()
for k in range(2):
    score, seq = net.beam(src[k : k + 1])
    print(round(score, 4), seq)
mask = torch.triu(torch.full((4, 4), float("-inf")), diagonal=1)
print(mask, torch.equal(mask, nn.Transformer.generate_square_subsequent_mask(4)))
bleu = torch.tensor([0.5, 0.25, 0.125]).log().mean().exp()
print(bleu, math.isclose(bleu, 0.25, rel_tol=1e-5))
