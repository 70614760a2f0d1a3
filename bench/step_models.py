"""PyTorch's side of bench/step: the models that torchvision does not have.

They compute what the models of examples/generate do, written as one would for PyTorch: query,
key and value are one layer, and tables have sparse gradients.
"""

import torch
from torch import nn

# Of PyTorch 2: the fastest attention that it has.
fused_attention = getattr(nn.functional, "scaled_dot_product_attention", None)


class Attention(nn.Module):
    """[N, T, width]; `mask` is added to the scores, or None: each position sees those before."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, nn.Dropout(dropout)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask):
        samples, length, width = x.shape
        q, k, v = (part.view(samples, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(x).split(width, dim=2))
        if fused_attention:
            y = fused_attention(q, k, v, attn_mask=None if mask is None else mask.to(q.dtype),
                                dropout_p=self.dropout.p if self.training else 0.0,
                                is_causal=mask is None)
        else:
            if mask is None:
                mask = torch.full((length, length), -10000.0, device=x.device).triu(1)
            scores = q @ k.transpose(2, 3) * (width // self.heads) ** -0.5 + mask
            y = self.dropout(scores.softmax(dim=3)) @ v
        return self.proj(y.transpose(1, 2).reshape(samples, length, width))

    @staticmethod
    def product_flops(output):
        samples, length, width = output.shape
        return 4 * samples * length * length * width


class FeedForward(nn.Sequential):
    def __init__(self, width, gelu_by="none"):
        super().__init__(nn.Linear(width, 4 * width), nn.GELU(gelu_by),
                         nn.Linear(4 * width, width))


class Gpt2(nn.Module):
    """Logits [N * T, vocabulary]; the head is tied to the token embedding."""

    def __init__(self, layers=12, width=768, heads=12, positions=1024, vocabulary=50257):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.layers = nn.ModuleList(
            nn.ModuleList([nn.LayerNorm(width), Attention(width, heads, 0), nn.LayerNorm(width),
                           FeedForward(width, "tanh")]) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids, places):
        x = self.tokens(ids) + self.places(places)
        for norm1, attention, norm2, feed_forward in self.layers:
            x = x + attention(norm1(x), None)
            x = x + feed_forward(norm2(x))
        return self.head(self.norm(x)).flatten(0, 1)


class Bert(nn.Module):
    """Logits [N * T, vocabulary] of the masked language model."""

    def __init__(self, layers=12, width=768, heads=12, positions=512, vocabulary=30522,
                 dropout=0.1):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(positions, width)
        self.types, self.norm = nn.Embedding(2, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            nn.ModuleList([Attention(width, heads, dropout), nn.LayerNorm(width),
                           FeedForward(width), nn.LayerNorm(width)]) for _ in range(layers))
        self.dropout, self.head = nn.Dropout(dropout), nn.Linear(width, vocabulary)
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.head.weight = self.words.weight

    def forward(self, ids, places, types, seen):
        x = self.dropout(self.norm(self.words(ids) + self.places(places) + self.types(types)))
        mask = (1 - seen[:, None, None, :].float()) * -10000
        for attention, norm1, feed_forward, norm2 in self.layers:
            x = norm1(x + self.dropout(attention(x, mask)))
            x = norm2(x + self.dropout(feed_forward(x)))
        return self.head(self.transform(x)).flatten(0, 1)


class LstmLm(nn.Module):
    """Logits [N, vocabulary, T]."""

    def __init__(self, layers=2, width=256, vocabulary=256):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, layers)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        states, _ = self.lstm(self.table(ids.t()))
        return self.head(states.transpose(0, 1)).transpose(1, 2)


def dense(*widths):
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return layers


class Dlrm(nn.Module):
    """Prediction [N, 1]."""

    def __init__(self, tables=8, rows=1000000, width=64):
        super().__init__()
        self.bottom = nn.Sequential(*dense(64, 512, 512, width))
        self.tables = nn.ModuleList(nn.Embedding(rows, width, sparse=True) for _ in range(tables))
        self.top = nn.Sequential(*dense((tables + 1) * width, 1024, 1024, 1024, 1)[:-1])

    def forward(self, x, *indices):
        rows = [table(index) for table, index in zip(self.tables, indices)]
        return self.top(torch.cat([self.bottom(x), *rows], dim=1))


def places(batch, length):
    return torch.arange(length).expand(batch, length).contiguous()


def gpt2_batch(batch, length=64):
    ids = torch.randint(50257, (batch, length))
    return ({"input_ids": ids, "position_ids": places(batch, length)},
            torch.randint(50257, (batch * length,)))


def bert_batch(batch, length=128):
    ids = torch.randint(30522, (batch, length))
    return ({"input_ids": ids, "position_ids": places(batch, length),
             "token_type_ids": torch.zeros_like(ids), "attention_mask": torch.ones_like(ids)},
            torch.randint(30522, (batch * length,)))


def lstm_batch(batch, length=64):
    return ({"ids": torch.randint(256, (batch, length))}, torch.randint(256, (batch, length)))


def dlrm_batch(batch):
    inputs = {"dense": torch.randn(batch, 64)}
    inputs.update((f"sparse{i}", torch.randint(1000000, (batch,))) for i in range(1, 9))
    return inputs, torch.rand(batch, 1)


# Name: the model, its batch, the loss, the momentum.
MODELS = {
    "gpt2": (Gpt2, gpt2_batch, nn.CrossEntropyLoss, 0.9),
    "bert_base": (Bert, bert_batch, nn.CrossEntropyLoss, 0.9),
    "lstm_lm": (LstmLm, lstm_batch, nn.CrossEntropyLoss, 0.9),
    "dlrm": (Dlrm, dlrm_batch, nn.MSELoss, 0),
}
