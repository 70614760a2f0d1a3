//===- Optimizers.cpp - the optimizers that ffc knows ---------------------===//

#include "ffc/IR/Optimizers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ffc;
using namespace ffc::ff;

using Range = Hyperparameter::Range;

/// Numbers and learning rates are those of PyTorch, of LAMB and Lion those of
/// their papers (You et al., ICLR 2020; Chen et al., NeurIPS 2023), of hf_adamw
/// those of Hugging Face's Transformers.
static const std::vector<OptimizerInfo> &table() {
  auto moments = [](double epsilon) -> std::vector<Hyperparameter> {
    return {{"beta1", 0.9, Range::Fraction},
            {"beta2", 0.999, Range::Fraction},
            {"epsilon", epsilon, Range::Positive}};
  };
  static const std::vector<OptimizerSlot> twoMoments = {{"first_moment"},
                                                        {"second_moment"}};
  // In the order of OptimizerKind.
  static const std::vector<OptimizerInfo> table = {
      {OptimizerKind::Sgd,
       {"sgd_update"},
       "sgd_update_rows",
       {{"momentum", 0.9, Range::Fraction}, {"nesterov", 0, Range::Flag}},
       {{"momentum", 0}},
       0.01,
       6},
      {OptimizerKind::Adam,
       {"adam_update"},
       nullptr,
       moments(1e-8),
       twoMoments,
       0.001,
       16},
      {OptimizerKind::AdamW,
       {"adamw_update"},
       nullptr,
       moments(1e-8),
       twoMoments,
       0.001,
       16},
      {OptimizerKind::Adagrad,
       {"adagrad_update"},
       "adagrad_update_rows",
       {{"epsilon", 1e-10, Range::Positive}},
       {{"square_sum"}},
       0.01,
       9},
      {OptimizerKind::RmsProp,
       {"rmsprop_update"},
       nullptr,
       {{"alpha", 0.99, Range::Fraction},
        {"epsilon", 1e-8, Range::Positive},
        {"momentum", 0, Range::Fraction}},
       {{"square_mean"}, {"momentum", 2}},
       0.01,
       13},
      {OptimizerKind::Lamb,
       {"lamb_direction", "lamb_update"},
       nullptr,
       moments(1e-6),
       twoMoments,
       0.001,
       20},
      {OptimizerKind::HfAdamW,
       {"hf_adamw_update"},
       nullptr,
       moments(1e-6),
       twoMoments,
       0.001,
       17},
      {OptimizerKind::Lion,
       {"lion_update"},
       nullptr,
       {{"beta1", 0.9, Range::Fraction}, {"beta2", 0.99, Range::Fraction}},
       {{"first_moment"}},
       0.0001,
       12},
      {OptimizerKind::Ema,
       {"ema_update"},
       nullptr,
       {{"decay", 0.999, Range::Fraction}},
       {},
       0,
       3}};
  return table;
}

/// Without what follows a parameter that another one updates.
static auto optimizers() {
  return make_filter_range(table(), [](const OptimizerInfo &info) {
    return info.kind != OptimizerKind::Ema;
  });
}

const OptimizerInfo &ff::optimizerInfo(OptimizerKind kind) {
  return table()[static_cast<size_t>(kind)];
}

Optimizer::Optimizer(OptimizerKind kind) : kind(kind) {
  for (const Hyperparameter &one : info().hyper)
    hyper.push_back(one.standard);
}

double &Optimizer::number(StringRef name) {
  for (auto [one, value] : zip_equal(info().hyper, hyper))
    if (name == one.name)
      return value;
  llvm_unreachable("the optimizer does not have the number");
}

std::vector<const char *> Optimizer::slots() const {
  std::vector<const char *> names;
  for (const OptimizerSlot &slot : info().slots)
    if (slot.unlessZero < 0 || hyper[slot.unlessZero] != 0)
      names.push_back(slot.name);
  return names;
}

bool Optimizer::updatesRows() const {
  return info().rowKernel && !hasNarrowSlots &&
         all_of(zip_equal(info().hyper, hyper), [](const auto &one) {
           return std::get<0>(one).range == Range::Positive ||
                  std::get<1>(one) == 0;
         });
}

mlir::DictionaryAttr Optimizer::kernelArgs(mlir::MLIRContext *context,
                                           bool ofRows) const {
  mlir::Builder builder(context);
  SmallVector<mlir::NamedAttribute> args;
  for (auto [one, value] : zip_equal(info().hyper, hyper))
    if (!ofRows || one.range == Range::Positive)
      args.push_back(builder.getNamedAttr(
          one.name, one.range == Range::Flag
                        ? mlir::Attribute(builder.getI64IntegerAttr(value != 0))
                        : builder.getF64FloatAttr(value)));
  return builder.getDictionaryAttr(args);
}

std::string Optimizer::caution() const {
  // Less than a 512th of a number in bf16 leaves it as it is.
  constexpr double kMost = 0.99;
  std::string text;
  for (auto [one, value] : zip_equal(info().hyper, hyper))
    if (hasNarrowSlots && StringRef(one.name) == "beta2" && value > kMost)
      raw_string_ostream(text)
          << "slots=bf16: second moments grow, but do not fall with beta2="
          << format("%g", value) << "; expected at most "
          << format("%g", kMost);
  return text;
}

std::string Optimizer::str() const {
  std::string text;
  raw_string_ostream stream(text);
  stream << stringifyOptimizerKind(kind);
  char before = ':';
  for (auto [one, value] : zip_equal(info().hyper, hyper)) {
    stream << before << one.name << "=" << format("%.17g", value);
    before = ',';
  }
  if (hasNarrowSlots)
    stream << before << "slots=bf16";
  return text;
}

std::string ff::describeOptimizers() {
  std::string text;
  raw_string_ostream stream(text);
  for (auto [i, info] : enumerate(optimizers())) {
    stream << (i ? "; " : "") << stringifyOptimizerKind(info.kind);
    for (auto [h, one] : enumerate(info.hyper))
      stream << (h ? "," : ":") << one.name << "="
             << format("%g", one.standard);
    stream << " with --lr " << format("%g", info.learningRate);
  }
  stream << "; slots=bf16 rounds what any of them keeps of a parameter";
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// "a, b or c".
template <class List, class NameOf>
static std::string oneOf(const List &list, NameOf nameOf) {
  std::string text;
  for (auto [i, entry] : enumerate(list))
    text += (i == 0                 ? ""
             : i + 1 == list.size() ? " or "
                                    : ", ") +
            std::string(nameOf(entry));
  return text;
}

std::string ff::namesOfRowOptimizers() {
  SmallVector<StringRef> names;
  for (const OptimizerInfo &info : table())
    if (info.rowKernel)
      names.push_back(stringifyOptimizerKind(info.kind));
  return oneOf(names, [](StringRef name) { return name; });
}

static Error wrong(const Twine &what, const Twine &expected, StringRef found) {
  return createStringError(what + "expected " + expected + ", found '" + found +
                           "'");
}

static bool isIn(Range range, double value) {
  switch (range) {
  case Range::Fraction:
    return value >= 0 && value < 1;
  case Range::Positive:
    return value > 0;
  case Range::Flag:
    return value == 0 || value == 1;
  }
  llvm_unreachable("unknown range");
}

static const char *describe(Range range) {
  switch (range) {
  case Range::Fraction:
    return "a number from 0 to below 1";
  case Range::Positive:
    return "a number over 0";
  case Range::Flag:
    return "0 or 1";
  }
  llvm_unreachable("unknown range");
}

Expected<Optimizer> Optimizer::parse(StringRef text) {
  auto [name, numbers] = text.split(':');
  std::optional<OptimizerKind> kind = symbolizeOptimizerKind(name);
  if (!kind || kind == OptimizerKind::Ema) {
    SmallVector<StringRef> known;
    for (const OptimizerInfo &info : optimizers())
      known.push_back(stringifyOptimizerKind(info.kind));
    return wrong("", oneOf(known, [](StringRef word) { return word; }), name);
  }
  Optimizer optimizer(*kind);
  const std::vector<Hyperparameter> &known = optimizer.info().hyper;
  SmallVector<StringRef> assignments;
  if (name.size() < text.size())
    numbers.split(assignments, ',');
  for (StringRef assignment : assignments) {
    auto [key, value] = assignment.split('=');
    if (key == "slots") {
      if (value != "bf16" && value != "f32")
        return wrong(name + ": slots: ", "f32 or bf16", value);
      optimizer.hasNarrowSlots = value == "bf16";
      continue;
    }
    auto one = find_if(known, [key = key](const Hyperparameter &candidate) {
      return key == candidate.name;
    });
    if (one == known.end())
      return wrong(
          name + ": ",
          oneOf(known, [](const Hyperparameter &h) { return h.name; }) +
              " before '=', or slots=bf16",
          key);
    double number = 0;
    if (value.getAsDouble(number) || !isIn(one->range, number))
      return wrong(name + ": " + key + ": ", describe(one->range), value);
    optimizer.hyper[one - known.begin()] = number;
  }
  return optimizer;
}
