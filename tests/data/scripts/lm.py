"""A word-level LSTM language model: packed sequences, tied weights."""

import io
import math
from collections import Counter, OrderedDict

import numpy as np
import torch
from torch import nn, optim
from torch.nn.utils.rnn import (
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
)
from torch.utils.data import DataLoader, Dataset, Subset, random_split

TEXT = """the cat sat on the mat . the dog ate the bone . a bird sang in the tree
while the cat slept . rain fell on the roof and the dog barked at the bird . the tree
grew . a cat and a dog ran . the bird flew away ."""
rng = np.random.default_rng(3)


class Vocab:
    def __init__(self, words):
        counts = Counter(words)
        self.itos = ["<pad>", "<eos>"] + sorted(counts, key=lambda w: (-counts[w], w))
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)


class Sentences(Dataset):
    def __init__(self, text, vocab):
        self.rows = [
            [vocab.stoi[w] for w in s.split()] + [1]
            for s in text.split(" .")
            if s.split()
        ]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.tensor(self.rows[i], dtype=torch.long)


def collate(batch):
    batch.sort(key=len, reverse=True)
    lengths = torch.tensor([len(x) - 1 for x in batch])
    padded = pad_sequence(batch, batch_first=True, padding_value=0)
    return padded[:, :-1], padded[:, 1:], lengths


class LM(nn.Module):
    def __init__(self, ntoken, ninp, nlayers, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp, padding_idx=0)
        self.rnn = nn.LSTM(ninp, ninp, nlayers, dropout=dropout, batch_first=True)
        self.decoder = nn.Linear(ninp, ntoken)
        self.decoder.weight = self.encoder.weight
        self.init_weights()

    def init_weights(self):
        with torch.no_grad():
            for name, p in self.named_parameters():  # noqa: B007
                p.copy_(torch.from_numpy(rng.uniform(-0.2, 0.2, p.shape)))
            self.encoder.weight[self.encoder.padding_idx].fill_(0)

    def forward(self, x, lengths, hidden=None):
        emb = self.drop(self.encoder(x))
        packed = pack_padded_sequence(
            emb, lengths.cpu(), batch_first=True, enforce_sorted=True
        )
        out, hidden = self.rnn(packed, hidden)
        out, _ = pad_packed_sequence(out, batch_first=True, total_length=x.size(1))
        return self.decoder(self.drop(out)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(2, bsz, 12), weight.new_zeros(2, bsz, 12))


vocab = Vocab(TEXT.split())
data = Sentences(TEXT, vocab)
train, test = random_split(
    data, [len(data) - 2, 2], generator=torch.Generator().manual_seed(0)
)
train, test = (
    Subset(data, range(len(data) - 2)),
    Subset(data, [len(data) - 2, len(data) - 1]),
)
model = LM(len(vocab), 12, 2)
criterion = nn.CrossEntropyLoss(ignore_index=0, reduction="sum")
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
sched = optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", factor=0.5, patience=0)
print(model)


@torch.no_grad()
def evaluate(ds):
    model.eval()
    total, n = 0.0, 0
    for x, y, lengths in DataLoader(ds, batch_size=2, collate_fn=collate):
        out, _ = model(x, lengths, model.init_hidden(x.size(0)))
        total += criterion(out.reshape(-1, len(vocab)), y.reshape(-1)).item()
        n += lengths.sum().item()
    model.train()
    return total / n


best = None
for epoch in range(4):
    for x, y, lengths in DataLoader(
        train, batch_size=3, shuffle=False, collate_fn=collate
    ):
        optimizer.zero_grad()
        out, (h, c) = model(x, lengths)
        loss = (
            criterion(out.view(-1, out.size(-1)), y.contiguous().view(-1))
            / lengths.sum()
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
    val = evaluate(test)
    sched.step(val)
    print(
        f"| epoch {epoch:3d} | loss {loss:5.4f} | ppl {math.exp(val):8.3f} "
        f"| lr {optimizer.param_groups[0]['lr']}"
    )
    if best is None or val < best:
        best = val
        buffer = io.BytesIO()
        torch.save(
            {"model": model.state_dict(), "epoch": epoch, "vocab": vocab.itos}, buffer
        )
buffer.seek(0)
state = torch.load(buffer, map_location="cpu")
print(
    model.load_state_dict(state["model"]),
    state["epoch"],
    len(state["vocab"]),
    list(state["model"]),
)
print(isinstance(model.state_dict(), OrderedDict))

# greedy and temperature generation, token by token
word = torch.LongTensor([[vocab.stoi["the"]]])
hidden, words = model.init_hidden(1), []
model.eval()
with torch.no_grad():
    for _ in range(8):
        out, hidden = model(word, torch.tensor([1]), hidden)
        weights = out.squeeze().div(0.8).exp()
        word = weights.argmax().view(1, 1)
        words.append(vocab.itos[word.item()])
        top = torch.topk(weights, 3)
        print(top.indices.tolist(), [round(v, 4) for v in top.values.tolist()])
print(" ".join(words))
packed = pack_sequence([torch.arange(4.0), torch.arange(2.0)])
print(packed.data, packed.batch_sizes)
print(repr(packed.batch_sizes.dtype), pad_packed_sequence(packed)[0].T)
