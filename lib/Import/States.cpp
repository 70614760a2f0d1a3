//===- States.cpp - values that enter the IR as states --------------------===//

#include "Importer.h"

#include <cmath>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;
using Kind = GraphValue::Kind;

llvm::Expected<Initialization>
ffc::importer::parseInit(StringRef text, int64_t fanIn, int64_t fanOut) {
  auto uniform = [](double bound) -> Initialization {
    return {ff::InitKind::Uniform, bound};
  };
  auto normal = [](double deviation) -> Initialization {
    return {ff::InitKind::Normal, deviation};
  };
  double in = static_cast<double>(fanIn), out = static_cast<double>(fanOut);
  if (text == "glorot-uniform")
    return uniform(std::sqrt(6 / (in + out)));
  if (text == "he-normal")
    return normal(std::sqrt(2 / in));
  if (text == "he-uniform")
    return uniform(std::sqrt(6 / in));
  if (text == "lecun-normal")
    return normal(std::sqrt(1 / in));
  if (text == "zeros")
    return Initialization{ff::InitKind::Constant, 0};
  StringRef number = text;
  bool isNormal = number.consume_front("normal:");
  double value;
  if ((isNormal || number.consume_front("uniform:")) &&
      !number.getAsDouble(value) && std::isfinite(value) && value > 0)
    return isNormal ? normal(value) : uniform(value);
  return makeError("--init " + text +
                   ": expected glorot-uniform, he-normal, he-uniform, "
                   "lecun-normal, normal:STD, uniform:BOUND or zeros");
}

llvm::Expected<ff::InitAttr> Importer::storeValues(
    int64_t count, llvm::function_ref<llvm::Error(llvm::raw_ostream &)> write) {
  llvm::Expected<int64_t> offset =
      weights.add(count * static_cast<int64_t>(sizeof(float)), write);
  if (!offset)
    return offset.takeError();
  return ff::InitAttr::get(builder.getContext(), ff::InitKind::File, 0.0,
                           *offset);
}

/// Are bits the same? -0 is not 0, and a NaN is itself.
static bool isSame(double a, double b) {
  return llvm::bit_cast<uint64_t>(a) == llvm::bit_cast<uint64_t>(b);
}

/// The numbers as something simpler than a list of them, if they are.
static std::optional<Initialization> structureOf(ArrayRef<double> numbers,
                                                 ArrayRef<int64_t> shape) {
  const auto count = static_cast<int64_t>(numbers.size());
  auto all = [&](auto expected) {
    for (int64_t i = 0; i < count; ++i)
      if (!isSame(numbers[i], expected(i)))
        return false;
    return true;
  };
  const double first = numbers.front();
  if (all([&](int64_t) { return first; }))
    return Initialization{ff::InitKind::Constant, first};
  // Whole numbers of floats are exact so far.
  constexpr double kMost = 1 << 23;
  if (std::abs(first) < kMost && count < kMost && first == std::floor(first) &&
      all([&](int64_t i) { return first + static_cast<double>(i); }))
    return Initialization{ff::InitKind::Positions, first};
  if (shape.size() < 2)
    return std::nullopt;
  const int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  auto isUpper = [&](int64_t i) { return i % columns > i / columns % rows; };
  const double second = columns > 1 ? numbers[1] : 0;
  if (all([&](int64_t i) { return isUpper(i) ? second : 0; }))
    return Initialization{ff::InitKind::Upper, second};
  if (all([&](int64_t i) { return isUpper(i) ? 0 : first; }))
    return Initialization{ff::InitKind::Lower, first};
  return std::nullopt;
}

llvm::Expected<ff::InitAttr> Importer::initOf(const GraphValue &value,
                                              const Role &role, bool hasRole) {
  auto attribute = [&](const Initialization &of) {
    return ff::InitAttr::get(builder.getContext(), of.kind, of.value, 0);
  };
  auto constant = [&](double fill) {
    return attribute({ff::InitKind::Constant, fill});
  };
  if (value.kind == Kind::Stored)
    return storeValues(*elementCount(value.shape), [&](raw_ostream &out) {
      return data.write(*value.stored, out);
    });
  if (value.kind == Kind::Constant) {
    const std::vector<double> &floats = value.constant.floats;
    // What is trained is a list of numbers, whatever the first ones are.
    auto structure = structureOf(floats, value.shape);
    if (structure && (!hasRole || structure->kind == ff::InitKind::Constant))
      return attribute(*structure);
    return storeValues(value.constant.size(), [&](raw_ostream &out) {
      for (double x : floats) {
        auto element = static_cast<float>(x);
        out.write(reinterpret_cast<const char *>(&element), sizeof(element));
      }
      return llvm::Error::success();
    });
  }
  if (!hasRole)
    return constant(value.fill);
  if (role.kind != Role::Weight)
    return constant(
        role.kind == Role::Scale || role.kind == Role::Variance ? 1 : 0);
  auto drawn = parseInit(options.init, role.fanIn, role.fanOut);
  if (!drawn)
    return drawn.takeError();
  return attribute(*drawn);
}

llvm::Expected<Value> Importer::createState(const GraphValue &value,
                                            StringRef name, StringRef kind,
                                            const Role &role, bool hasRole) {
  std::optional<int64_t> count = elementCount(value.shape);
  if (!count || *count == 0 || value.shape.size() > 8)
    return makeError("'" + name + "' has shape " + shapeText(value.shape) +
                     ", expected at most 8 dimensions with positive extents");
  auto init = initOf(value, role, hasRole);
  if (!init)
    return init.takeError();

  OpBuilder::InsertionGuard guard(builder);
  if (lastState)
    builder.setInsertionPointAfter(lastState);
  else
    builder.setInsertionPointToStart(&function.front());
  auto where = NameLoc::get(builder.getStringAttr(names.unique(name)));
  // An unrolled body may need a constant in every iteration.
  std::string own = name.str();
  while (!stateNames.try_emplace(own, 0).second)
    own = (name + "_" + Twine(++stateNames[name])).str();
  auto state = ff::StateOp::create(builder, where,
                                   tensorType(value.shape, TensorProto::FLOAT),
                                   own, kind, *init);
  lastState = state;
  return state.getResult();
}

static llvm::Error expectFloat(const GraphValue &value) {
  if (isFloatType(value.type))
    return llvm::Error::success();
  return makeError("'" + value.name + "' has element type " +
                   elementTypeName(value.type) + ", expected float");
}

llvm::Expected<Value> Importer::materialize(GraphValue &value,
                                            const Role &role) {
  if (llvm::Error error = expectFloat(value))
    return error;
  if (value.value)
    return value.value;
  if (statistics.contains(value.name))
    return makeError("'" + value.name +
                     "' is a running statistic, expected "
                     "no other use");
  const bool isParameter = model.trained.isTrained(value.name);
  auto state =
      createState(value, value.name, isParameter ? "parameter" : "constant",
                  role, isParameter);
  if (state)
    value.value = *state;
  return state;
}

llvm::Expected<Value> Importer::materializeStatistic(GraphValue &value,
                                                     StringRef name,
                                                     const Role &role) {
  if (llvm::Error error = expectFloat(value))
    return error;
  if (value.kind == Kind::Computed)
    return value.value;
  Value &statistic = statistics[name];
  if (statistic)
    return statistic;
  if (value.value && name == value.name)
    return makeError("'" + name +
                     "' is a running statistic, expected no "
                     "other use");
  auto state = createState(value, name, "statistic", role, /*hasRole=*/true);
  if (state)
    statistic = *state;
  return state;
}

llvm::Error Importer::storeStatistic(Value old, Value value) {
  auto state = old.getDefiningOp<ff::StateOp>();
  if (!state)
    return llvm::Error::success();
  if (!stored.insert(old).second)
    return makeError("'" + state.getName() +
                     "' is updated by another node already");
  ff::StoreOp::create(builder, state.getLoc(), state.getName(), value);
  return llvm::Error::success();
}
