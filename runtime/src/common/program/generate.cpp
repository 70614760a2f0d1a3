//===- generate.cpp - texts that a program continues ----------------------===//
//
// Every rank holds all texts. Logits are gathered by a maximum over all ranks,
// whatever parts of them a rank has, and every rank draws the same tokens from
// them: random numbers depend on seed, text and step alone.
//
//===----------------------------------------------------------------------===//
#include "common/program/generate.h"

#include "common/data/load.h"
#include "common/data/text_inputs.h"
#include "common/device/host_tensor.h"
#include "common/kernels/check.h"
#include "common/program/instance.h"
#include "common/program/together.h"
#include "ffrt/error.h"
#include "ffrt/hash.h"
#include "ffrt/philox.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace ffrt {

namespace {
constexpr float kAbsent = -std::numeric_limits<float>::infinity();
/// Vocabularies that are bytes.
constexpr int64_t kBytes = 256;
} // namespace

Texts::Texts(const ProgramInfo &info, const Generation &generation,
             uint64_t seed)
    : info(info), generation(generation), seed(seed) {
  const TextInputs inputs(info, "--generate");
  positions = inputs.length;
  input = inputs.tokens;
  find_output();
  std::vector<int64_t> prompt = generation.prompt_tokens;
  bytes = prompt.empty();
  if (bytes) {
    if (vocabulary > kBytes)
      throw Error("--generate: expected --prompt-tokens for a vocabulary of " +
                  std::to_string(vocabulary) + " tokens, found none");
    const std::string &text =
        generation.prompt.empty() ? std::string("\n") : generation.prompt;
    for (char byte : text)
      prompt.push_back(static_cast<unsigned char>(byte));
  }
  for (std::size_t i = 0; i < prompt.size(); ++i)
    if (prompt[i] >= vocabulary)
      throw Error(std::string(bytes ? "--prompt" : "--prompt-tokens") +
                  ": expected tokens below " + std::to_string(vocabulary) +
                  ", found " + std::to_string(prompt[i]) + " as number " +
                  std::to_string(i + 1));
  texts.assign(std::size_t(info.batch), prompt);
  values.assign(std::size_t(info.batch * vocabulary), kAbsent);
}

void Texts::find_output() {
  const int64_t samples = info.batch;
  int found = 0;
  for (const OutputInfo &o : info.outputs) {
    const bool rows = o.rank == 2 && o.shape[0] == samples * positions,
               positioned = o.rank == 3 && o.shape[0] == samples &&
                            o.shape[1] == positions;
    if (o.type != kReal || !(rows || positioned))
      continue;
    output = std::size_t(&o - info.outputs.data());
    vocabulary = o.shape[o.rank - 1];
    ++found;
  }
  if (found != 1)
    throw Error("--generate: expected one output of shape " +
                to_string(2, {samples, positions}) +
                " and a vocabulary as third dimension, or of rank 2 and as "
                "many rows, found " +
                std::to_string(found));
}

int64_t Texts::last() const {
  return std::min(int64_t(length()), positions) - 1;
}

void Texts::fill(int64_t, std::size_t which, const Tensor &tensor) {
  std::vector<int64_t> window(std::size_t(count() * positions));
  for (int64_t text = 0; text < count(); ++text) {
    int64_t *row = window.data() + text * positions;
    if (which == input)
      std::copy_n(texts[std::size_t(text)].end() - (last() + 1), last() + 1,
                  row);
    else
      std::iota(row, row + positions, 0);
  }
  load_box(tensor, window.data(), DType::i64);
}

void Texts::offer(const char *name, const Tensor &on_device) {
  const OutputInfo &wanted = info.outputs[output];
  if (std::string(name) != wanted.name || !on_device.data)
    return;
  const HostTensor copy(on_device, HostTensor::Contents::copied);
  const Tensor &t = copy.tensor();
  const Index strides = t.strides();
  const int v = t.rank - 1;
  for (int64_t text = 0; text < count(); ++text) {
    // Where the row begins in the tensor, if it is in its box.
    int64_t from = 0;
    bool inside = true;
    auto along = [&](int d, int64_t at) {
      inside &= at >= t.lo[d] && at < t.lo[d] + t.shape[d];
      from += (at - t.lo[d]) * strides[d];
    };
    if (t.rank == 2)
      along(0, text * positions + last());
    else {
      along(0, text);
      along(1, last());
    }
    for (int64_t i = 0; inside && i < t.shape[v]; ++i)
      values[std::size_t(text * vocabulary + t.lo[v] + i)] =
          static_cast<float>(t.as<Real>()[from + i * strides[v]]);
  }
}

void Texts::choose(int64_t step) {
  for (int64_t text = 0; text < count(); ++text)
    texts[std::size_t(text)].push_back(
        draw(values.data() + text * vocabulary, text, step));
  std::fill(values.begin(), values.end(), kAbsent);
}

int64_t Texts::draw(const float *logits, int64_t text, int64_t step) const {
  std::vector<int64_t> order(static_cast<std::size_t>(vocabulary));
  std::iota(order.begin(), order.end(), 0);
  const int64_t kept = generation.temperature == 0.0 ? 1
                       : generation.top_k > 0
                           ? std::min(generation.top_k, vocabulary)
                           : vocabulary;
  std::partial_sort(order.begin(), order.begin() + kept, order.end(),
                    [&](int64_t a, int64_t b) {
                      return logits[a] != logits[b] ? logits[a] > logits[b]
                                                    : a < b;
                    });
  const double most = logits[order[0]];
  if (!std::isfinite(most))
    throw Error("expected finite logits, found " + std::to_string(most));
  std::vector<double> sums;
  double sum = 0;
  for (int64_t i = 0; i < kept; ++i) {
    const double below = logits[order[std::size_t(i)]] - most;
    sum += kept == 1 ? 1.0 : std::exp(below / generation.temperature);
    sums.push_back(sum);
  }
  const uint64_t key = seed ^ hash_name("generate");
  const double at =
      sum * unit_interval(philox_word(key, uint64_t(text), uint64_t(step)));
  const auto chosen = std::upper_bound(sums.begin(), sums.end(), at);
  return order[std::size_t(std::min(chosen, sums.end() - 1) - sums.begin())];
}

std::string Texts::token(int64_t text, std::size_t i) const {
  const int64_t value = texts[std::size_t(text)][i];
  return bytes ? std::string(1, char(value)) : std::to_string(value) + " ";
}

/// Prints tokens of a text from number `first` on.
static void print(const Texts &texts, int64_t text, std::size_t first) {
  std::string part;
  for (std::size_t i = first; i < texts.length(); ++i)
    part += texts.token(text, i);
  std::fwrite(part.data(), 1, part.size(), stdout);
  std::fflush(stdout);
}

void generate(Comm &comm, const Group &world, Context &context,
              const ProgramInfo &info, const Generation &generation,
              const Saved &saved, MakeProgram make) {
  std::unique_ptr<Texts> texts;
  together(comm, world, "generate", [&] {
    texts = std::make_unique<Texts>(info, generation, context.seed);
  });
  Instance instance(context, comm, world, *texts, info, make);
  instance.initialise(saved);
  const bool prints = comm.rank() == 0, streams = texts->count() == 1;
  if (prints && streams)
    print(*texts, 0, 0);
  for (int64_t step = 0; step < generation.tokens; ++step) {
    context.step = step;
    for (std::size_t i = 0; i < instance.inputs().size(); ++i) {
      const HostTensor copy(instance.inputs()[i].tensor,
                            HostTensor::Contents::none);
      texts->fill(step, instance.input_numbers()[i], copy.tensor());
      copy.write_back();
    }
    RankProgram &program = instance.program();
    program.begin(StepPart::micro_batch);
    program.step();
    program.end(StepPart::micro_batch);
    program.end(StepPart::update);
    std::vector<float> &logits = texts->logits();
    comm.wait(
        comm.all_reduce("generate", world,
                        flat(logits.data(), DType::f32, int64_t(logits.size())),
                        ReduceOp::max));
    together(comm, world, "generate", [&] { texts->choose(step); });
    if (prints && streams)
      print(*texts, 0, texts->length() - 1);
  }
  instance.check_guards();
  if (!prints)
    return;
  for (int64_t text = 0; text < texts->count(); ++text) {
    if (!streams) {
      std::printf("--- %lld\n", static_cast<long long>(text + 1));
      print(*texts, text, 0);
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

} // namespace ffrt
