"""Exports modules with the PyTorch that is here and trains them with ffc's default command.

Losses of five steps, gradients of the first and parameters after the last are PyTorch's in
double precision: the first loss within 1e-5 and all within 1e-4 relative, tensors by the rule of
compare_runs.py. What is trained is exactly what the module trains. Without torch, or without
transformers for models of theirs, the status is 77, "skipped".
"""

import argparse
import copy
import os
import sys
import warnings

import numpy as np

from compare_runs import judge, norm
from exported_parameters import listed
from programs import (Failure, compile_program, file_name, fresh_folder, run_program,
                      write_inputs)

SKIPPED = 77
STEPS, RATE, MOMENTUM = 5, 0.01, 0.9
FIRST_LOSS, LOSSES = 1e-5, 1e-4
BATCH, LENGTH, WORDS, CLASSES, WIDTH = 4, 6, 50, 5, 32

try:
    import torch
    from torch import nn
except ImportError:
    print("torch_exports: no torch")
    sys.exit(SKIPPED)


def words():
    return torch.randint(0, WORDS, (BATCH, LENGTH))


class Bags(nn.Module):
    """Bags of words of different lengths, whose beginnings are an input."""

    def __init__(self, mode):
        super().__init__()
        self.table = nn.EmbeddingBag(WORDS, WIDTH, mode=mode)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, ids, offsets):
        return self.head(self.table(ids, offsets))


def bags(mode):
    return Bags(mode), {"ids": torch.randint(0, WORDS, (20,)),
                        "offsets": torch.tensor([0, 4, 9, 15])}


class WeightNorm(nn.Module):
    """Convolutions whose weights are directions and lengths."""

    def __init__(self):
        super().__init__()
        norm_of = nn.utils.parametrizations.weight_norm
        self.first = norm_of(nn.Conv1d(3, 8, 3, padding=1))
        self.second = norm_of(nn.Conv1d(8, 8, 3, padding=1))
        self.head = nn.Linear(8, CLASSES)

    def forward(self, x):
        return self.head(torch.relu(self.second(torch.relu(self.first(x)))).mean(2))


def weight_norm():
    return WeightNorm(), {"x": torch.randn(BATCH, 3, 16)}


class Adapted(nn.Module):
    """A linear layer that stays as it is, and a product of two small ones beside it."""

    def __init__(self, ins, outs, rank=4):
        super().__init__()
        self.base = nn.Linear(ins, outs)
        self.lora_a, self.lora_b = nn.Linear(ins, rank, False), nn.Linear(rank, outs, False)
        self.base.requires_grad_(False)

    def forward(self, x):
        return self.base(x) + self.lora_b(self.lora_a(x))


def lora():
    return nn.Sequential(Adapted(WIDTH, WIDTH), nn.ReLU(), Adapted(WIDTH, CLASSES)), {
        "input": torch.randn(BATCH, WIDTH)}


class Headed(nn.Module):
    """A model of transformers, and a linear layer on the mean of its positions."""

    def __init__(self, model, width, name):
        super().__init__()
        self.model, self.name = model, name
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        found = self.model(**{self.name: x}).last_hidden_state
        return self.head(found.mean(1))


def t5():
    from transformers import T5Config, T5EncoderModel
    return Headed(T5EncoderModel(T5Config(
        vocab_size=WORDS, d_model=WIDTH, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        relative_attention_num_buckets=8, relative_attention_max_distance=16, dropout_rate=0,
        attn_implementation="eager")),
        WIDTH, "input_ids"), {"x": words()}


def albert():
    from transformers import AlbertConfig, AlbertModel
    return Headed(AlbertModel(AlbertConfig(
        vocab_size=WORDS, embedding_size=16, hidden_size=WIDTH, num_hidden_layers=3,
        num_attention_heads=4, intermediate_size=64, max_position_embeddings=LENGTH,
        hidden_dropout_prob=0, attention_probs_dropout_prob=0), add_pooling_layer=False),
        WIDTH, "input_ids"), {"x": words()}


def mixtral():
    from transformers import MixtralConfig, MixtralModel
    config = MixtralConfig(
        vocab_size=WORDS, hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2,
        max_position_embeddings=LENGTH, use_cache=False)
    config._experts_implementation = "batched_mm"
    return Headed(MixtralModel(config), WIDTH, "input_ids"), {"x": words()}


def whisper():
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder
    return Headed(WhisperEncoder(WhisperConfig(
        vocab_size=WORDS, d_model=WIDTH, encoder_layers=2, encoder_attention_heads=4,
        encoder_ffn_dim=64, decoder_layers=1, num_mel_bins=8, max_source_positions=12,
        dropout=0, attention_dropout=0, activation_dropout=0, pad_token_id=0)),
        WIDTH, "input_features"), {"x": torch.randn(BATCH, 8, 24)}


class Case:
    """A module and its inputs; flags of ffc. Not `optimize`: the exporter would fold parameters
    into others, or slices of them, which ffc lists as missing."""

    def __init__(self, make, *flags, optimize=True):
        self.make, self.flags, self.optimize = make, list(flags), optimize


CASES = {
    "bag-sum": Case(lambda: bags("sum")),
    "bag-mean": Case(lambda: bags("mean")),
    "weight-norm": Case(weight_norm, optimize=False),
    "lora": Case(lora, "--freeze", "*", "--train", "*lora_*"),
    "t5": Case(t5, optimize=False),
    "albert": Case(albert, optimize=False),
    "mixtral": Case(mixtral),
    "whisper": Case(whisper),
}


def train(module, inputs, target):
    """Losses, gradients of the first step, and parameters after the last, in doubles."""
    module = copy.deepcopy(module).double()
    inputs = [x.double() if x.is_floating_point() else x for x in inputs.values()]
    optimizer = torch.optim.SGD([p for p in module.parameters() if p.requires_grad], lr=RATE,
                                momentum=MOMENTUM)
    losses, gradients = [], {}
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(module(*inputs), target)
        loss.backward()
        if step == 0:
            gradients = {name: p.grad.numpy().copy() for name, p in module.named_parameters()
                         if p.grad is not None}
        losses.append(float(loss.detach()))
        optimizer.step()
    return losses, gradients, {name: p.detach().numpy() for name, p in module.named_parameters()
                               if name in gradients}


def export(module, inputs, path, optimize):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, tuple(inputs.values()), path, input_names=list(inputs),
                          dynamo=True, optimize=optimize, verbose=False, external_data=False)


def names_of(module):
    """Of each parameter: all names, since exporters take any of those that are tied."""
    every = list(module.named_parameters(remove_duplicate=False))
    return {name: [other for other, same in every if same is parameter]
            for name, parameter in module.named_parameters()}


def compare(what, folder, expected, names, values):
    """`values`: what the file calls parameters of the module, which may be turned there."""
    total = norm([norm(value) for value in expected.values()])
    for name, value in expected.items():
        paths = [os.path.join(folder, file_name(values.get(other, other)) + ".npy")
                 for other in names[name]]
        paths = [path for path in paths if os.path.exists(path)]
        if len(paths) != 1:
            raise Failure(f"expected one {what} of {name}, found {len(paths)}")
        found = np.load(paths[0])
        ways = [way for way in (found, found.T) if way.shape == value.shape] or [
            found.reshape(value.shape)]
        judge(f"{what} {name}", min(norm(way - value) for way in ways), norm(value), total)


def check(ffc, name, ranks, work):
    torch.manual_seed(7)
    case = CASES[name]
    module, inputs = case.make()
    module.eval()
    target = torch.randint(0, CLASSES, (BATCH,))
    losses, gradients, final = train(module, inputs, target)
    names = names_of(module)
    fresh_folder(work)
    model = os.path.join(work, "model.onnx")
    export(module, inputs, model, case.optimize)
    trained, missing, values = listed(ffc, model, case.flags)
    if missing or len(trained) != len(gradients):
        raise Failure(f"expected {len(gradients)} values trained, found {len(trained)}; missing: "
                      f"{', '.join(sorted(missing)) or 'none'}")
    program = os.path.join(work, "train")
    compile_program(ffc, model, f"cpu:{ranks}", program, case.flags)
    write_inputs(os.path.join(work, "in"),
                 {**{key: value.numpy() for key, value in inputs.items()},
                  "target": target.numpy()})
    for steps in 1, STEPS:
        run_program(program, ranks, ["--steps", str(steps), "--lr", str(RATE), "--inputs",
                                     os.path.join(work, "in"), "--dump",
                                     os.path.join(work, f"step{steps}")])
    found = np.load(os.path.join(work, f"step{STEPS}", "loss.npy")).ravel()
    off = np.abs(found - losses) / np.abs(losses)
    if not (off[0] <= FIRST_LOSS and off.max() <= LOSSES):
        raise Failure(f"expected losses {losses}, found {found.tolist()}")
    compare("gradient", os.path.join(work, "step1", "grad"), gradients, names, values)
    compare("parameter", os.path.join(work, f"step{STEPS}", "param"), final, names, values)
    return f"{len(trained)} parameters, losses within {off.max():.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("case", nargs="*", default=list(CASES))
    arguments = parser.parse_args()
    failed = skipped = 0
    for name in arguments.case:
        try:
            print(f"{name}: "
                  + check(arguments.ffc, name, arguments.ranks,
                          os.path.join(arguments.work, name)), flush=True)
        except ImportError as missing:
            print(f"{name}: not run: {missing}")
            skipped += 1
        except Failure as failure:
            print(f"{name}: failed: {failure}", flush=True)
            failed += 1
    if failed:
        sys.exit(1)
    sys.exit(SKIPPED if skipped == len(arguments.case) else 0)


if __name__ == "__main__":
    main()
