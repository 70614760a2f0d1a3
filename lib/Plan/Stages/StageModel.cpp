//===- StageModel.cpp - a model as a chain of measured operators ----------===//

#include "ffc/Plan/StageModel.h"

#include "Text/Text.h"

#include <algorithm>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

bool StageLayout::operator==(const StageLayout &o) const {
  return copies == o.copies && isAny == o.isAny &&
         std::equal(splits, splits + 3, o.splits);
}

StageLayout ffc::plan::layoutOf(LayoutRule rule, int tensor, int data,
                                int algorithm, bool isInput) {
  const StageLayout any = {1, {1, 1, 1}, true};
  const StageLayout whole = {tensor, {1, data, 1}};
  const StageLayout columns = {1, {1, data, tensor}};
  const StageLayout heads = {1, {data, tensor, 1}};
  const StageLayout samples = {tensor, {data, 1, 1}};
  switch (rule) {
  case LayoutRule::Embedding:
    return isInput ? any : whole;
  case LayoutRule::AlongSequence:
    return whole;
  case LayoutRule::SplitColumns:
    return isInput == (algorithm == 0) ? whole : columns;
  case LayoutRule::SplitRows:
    return isInput == (algorithm == 0) ? columns : whole;
  case LayoutRule::Scores:
    return isInput ? columns : heads;
  case LayoutRule::Heads:
    return heads;
  case LayoutRule::Context:
    return isInput ? heads : columns;
  case LayoutRule::Elementwise:
    return columns;
  case LayoutRule::FinalNorm:
    return isInput ? whole : samples;
  case LayoutRule::Loss:
    return isInput ? samples : any;
  case LayoutRule::Samples:
    return samples;
  }
  return any;
}

/// Of a transformer's operator by its name.
static LayoutRule ruleOf(const std::string &name) {
  static const std::pair<const char *, LayoutRule> words[] = {
      {"embedding", LayoutRule::Embedding},
      {"final-layernorm", LayoutRule::FinalNorm},
      {"post-process", LayoutRule::Loss},
      {"layernorm", LayoutRule::AlongSequence},
      {"-post-", LayoutRule::AlongSequence},
      {"qkv", LayoutRule::SplitColumns},
      {"GEMM-1", LayoutRule::SplitColumns},
      {"dense", LayoutRule::SplitRows},
      {"GEMM-2", LayoutRule::SplitRows},
      {"score", LayoutRule::Scores},
      {"context", LayoutRule::Context},
      {"gelu", LayoutRule::Elementwise}};
  for (auto [word, rule] : words)
    if (name.find(word) != std::string::npos)
      return rule;
  return LayoutRule::Heads;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static bool contains(const std::string &name, const char *part) {
  return name.find(part) != std::string::npos;
}

static StageOperator operatorOf(const std::string &name, int row,
                                bool isTransformer) {
  StageOperator op;
  op.row = row;
  op.name = name;
  op.rule = isTransformer ? ruleOf(name) : LayoutRule::Samples;
  if (name == "enc-attention-dropout") {
    op.kept = 1.5;
    op.isShared = true;
  } else if (name == "enc-attention-softmax" || name == "bn1" ||
             contains(name, "-bn3") ||
             (contains(name, "-downsample") && !contains(name, "0-0"))) {
    op.kept = 0;
    op.isShared = true;
  }
  op.startsBlock = name == "enc-1st-layernorm" || contains(name, "-conv1");
  op.startsPart = op.startsBlock || contains(name, "1st-layernorm") ||
                  contains(name, "-relu");
  return op;
}

namespace {

/// Rows of a table that follow each other, once or once per layer.
struct RowRange {
  int begin, end;
  bool perLayer;
};

struct KnownSize {
  const char *size, *tables;
  int layers;
};

struct Family {
  const char *name;
  bool isTransformer;
  double masterCopies, optimizerStates;
  bool hasLayouts;
  std::vector<RowRange> rows; ///< empty: every row once
  std::vector<KnownSize> sizes;
};

} // namespace

/// Adam: two states in full precision; narrow parameters have a copy in full
/// precision beside them.
static const std::vector<Family> &families() {
  static const std::vector<Family> table = {
      {"gpt",
       true,
       2,
       4,
       true,
       {{0, 1, false}, {1, 14, true}, {14, 16, false}},
       {{"350M", "350M", 24},
        {"1_3B", "1_3B", 24},
        {"2_6B", "2_6B", 32},
        {"6_7B", "6_7B", 32},
        {"13B", "13B", 40}}},
      {"t5",
       true,
       2,
       4,
       false,
       {{0, 1, false},
        {1, 14, true},
        {14, 16, false},
        {16, 37, true},
        {37, 39, false}},
       {{"770M", "770M", 24},
        {"3B", "3B", 24},
        {"6B", "6B", 24},
        {"11B", "11B", 24},
        {"22B", "11B", 48}}},
      {"resnet", false, 0, 2, true, {}, {}}};
  return table;
}

std::optional<StageModel> StageModel::named(const std::string &word,
                                            std::string &error) {
  std::vector<std::string> known;
  for (const Family &family : families())
    known.push_back(family.name);
  const size_t end = word.find_first_of("-_");
  const std::string kind = word.substr(0, end);
  std::string size = end == std::string::npos ? "" : word.substr(end + 1);
  std::replace(size.begin(), size.end(), '.', '_');
  for (const Family &family : families()) {
    if (family.name != kind || size.empty())
      continue;
    StageModel model;
    model.name = model.tables = kind + "_" + size;
    model.masterCopies = family.masterCopies;
    model.optimizerStates = family.optimizerStates;
    model.hasLayouts = family.hasLayouts;
    for (const KnownSize &each : family.sizes)
      if (each.size == size) {
        model.tables = kind + "_" + each.tables;
        model.layers = each.layers;
      }
    return model;
  }
  error = "expected a model such as 'gpt-1.3B', of one of " + joined(known) +
          ", found " + quoted(word);
  return std::nullopt;
}

/// Of a model's name, which has one.
static const Family &familyOf(const std::string &name) {
  return *std::find_if(families().begin(), families().end(),
                       [&](const Family &each) {
                         return name.compare(0, name.find('_'), each.name) == 0;
                       });
}

bool StageModel::hasFixedLayers() const { return familyOf(name).rows.empty(); }

bool StageModel::build(const StageProfile &profile, int numLayers,
                       std::string &error) {
  const std::vector<std::string> &names = profile.rows();
  const Family &family = familyOf(name);
  const int numRows = static_cast<int>(names.size());
  auto add = [&](int row) {
    ops.push_back(operatorOf(names[row], row, family.isTransformer));
  };
  ops.clear();
  if (family.rows.empty()) {
    if (numLayers) {
      error = "expected no number of layers for " + quoted(name) +
              ", whose layers are those of its tables, found " +
              std::to_string(numLayers);
      return false;
    }
    for (int row = 0; row < numRows; ++row)
      add(row);
    layers = static_cast<int>(
        std::count_if(ops.begin(), ops.end(),
                      [](const StageOperator &op) { return op.startsBlock; }));
    return true;
  }
  if (numLayers)
    layers = numLayers;
  if (!layers) {
    error = "expected a number of layers for " + quoted(name) + ", found none";
    return false;
  }
  if (numRows != family.rows.back().end) {
    error = "expected tables of " + std::to_string(family.rows.back().end) +
            " operators for " + quoted(name) + ", found " +
            std::to_string(numRows);
    return false;
  }
  for (const RowRange &range : family.rows)
    for (int layer = 0; layer < (range.perLayer ? layers : 1); ++layer)
      for (int row = range.begin; row < range.end; ++row)
        add(row);
  return true;
}
