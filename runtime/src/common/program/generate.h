//===- generate.h - texts that a program continues --------------*- C++ -*-===//
#ifndef FFRT_COMMON_GENERATE_H
#define FFRT_COMMON_GENERATE_H

#include "common/data/source.h"
#include "common/program/initial.h"
#include "ffrt/program.h"

#include <string>
#include <vector>

namespace ffrt {

/// What to generate, as the command line says.
struct Generation {
  int64_t tokens = 0;                 ///< to add; 0: nothing is generated
  std::string prompt;                 ///< bytes are tokens; empty: not given
  std::vector<int64_t> prompt_tokens; ///< empty: not given
  /// Of the distribution that tokens are drawn from; 0: the likeliest.
  double temperature = 1.0;
  int64_t top_k = 0; ///< draws from so many of the likeliest; 0: from all
};

/// One text per sample of the batch; all begin with the prompt. A program reads
/// the last positions of each, followed by zeros if there are fewer, and
/// returns logits for what comes after every position, of which that of the
/// last token counts: what comes later must not matter to the model.
class Texts final : public Source, public Probe {
public:
  /// Throws Error if the program does not read and write texts, or the prompt
  /// is none that it can read.
  Texts(const ProgramInfo &info, const Generation &generation, uint64_t seed);

  void fill(int64_t step, std::size_t input, const Tensor &tensor) override;
  void offer(const char *name, const Tensor &tensor) override;

  /// Logits [samples, vocabulary] that were offered on this rank since the last
  /// choice; -infinity where none were.
  std::vector<float> &logits() { return values; }
  /// Adds a token to every text, by logits that have been gathered, and forgets
  /// them. Throws Error if there is nothing to choose from.
  void choose(int64_t step);

  int64_t count() const { return int64_t(texts.size()); }
  /// Token number `i` of a text as it is printed: a byte, or a number that ends
  /// with a space.
  std::string token(int64_t text, std::size_t i) const;
  std::size_t length() const { return texts.front().size(); }

private:
  const ProgramInfo &info;
  Generation generation;
  uint64_t seed;
  int64_t positions, vocabulary = 0;
  std::size_t input = 0, output = 0; ///< of tokens, of logits
  bool bytes = false;                ///< tokens are printed as such
  std::vector<std::vector<int64_t>> texts;
  std::vector<float> values;

  /// The position of the last token in what the program reads.
  int64_t last() const;
  void find_output();
  int64_t draw(const float *logits, int64_t text, int64_t step) const;
};

/// Collective. Prints the texts on rank 0: a single one token by token, several
/// one after the other at the end.
void generate(Comm &comm, const Group &world, Context &context,
              const ProgramInfo &info, const Generation &generation,
              const Saved &saved, MakeProgram make);

} // namespace ffrt

#endif // FFRT_COMMON_GENERATE_H
