//===- InitialValues.cpp - first states and synthetic inputs --------------===//
//
// Every expression is in float where the runtime's is, so that equal bits
// come out.
//
//===----------------------------------------------------------------------===//

#include "ffc/Reference/InitialValues.h"

#include "Philox.h"
#include "ffc/IR/ConstantValue.h"
#include "ffc/IR/Hash.h"
#include "ffc/IR/MainFunction.h"
#include "ffc/IR/NarrowFloat.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::ElementType;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static float uniform(uint64_t key, uint64_t element) {
  return 2.0f * unitInterval(philoxWord(key, element, 0)) - 1.0f;
}

/// By Box-Muller: even elements take the cosine, odd ones the sine.
static float normal(uint64_t key, uint64_t element) {
  std::array<uint32_t, 4> words = philox(key, element / 4, 0);
  const uint32_t *pair = words.data() + element % 4 / 2 * 2;
  // (0, 1], so that the logarithm is finite.
  float u = static_cast<float>((pair[0] >> 8) + 1) * 0x1p-24f;
  float radius = std::sqrt(-2.0f * std::log(u));
  float angle = 6.28318530718f * unitInterval(pair[1]);
  return radius * (element % 2 ? std::sin(angle) : std::cos(angle));
}

template <class T>
static void readAll(const char *bytes, std::vector<double> &to) {
  for (size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    to[i] = static_cast<double>(value);
  }
}

static void readAll(ElementType type, const char *bytes,
                    std::vector<double> &to) {
  switch (type) {
  case ElementType::F32:
    return readAll<float>(bytes, to);
  case ElementType::F64:
    return readAll<double>(bytes, to);
  case ElementType::I32:
    return readAll<int32_t>(bytes, to);
  case ElementType::I64:
    return readAll<int64_t>(bytes, to);
  case ElementType::U8:
  case ElementType::Bool:
    return readAll<uint8_t>(bytes, to);
  case ElementType::BF16:
  case ElementType::F16:
    for (size_t i = 0; i < to.size(); ++i) {
      uint16_t bits;
      std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
      to[i] = fromNarrow(type, bits);
    }
    return;
  }
}

namespace {
/// The weights file, opened when the first state asks for it.
class WeightsFile {
public:
  explicit WeightsFile(StringRef path) : path(path) {}

  LogicalResult read(StateOp state, TensorValue &to) {
    // Copies are read as what they are copies of.
    const plan::TensorType type =
        tensorTypeOf(wideType(state.getResult().getType()));
    to = {type.shape, std::vector<double>(plan::numElements(type.shape))};
    if (!buffer) {
      auto opened =
          llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
      if (!opened)
        return state.emitOpError()
               << "'" << state.getName() << "': cannot read the weights file '"
               << path << "': " << opened.getError().message();
      buffer = std::move(*opened);
    }
    uint64_t begin = state.getInit().getOffset();
    uint64_t end = begin + static_cast<uint64_t>(type.bytes());
    if (end > buffer->getBufferSize())
      return state.emitOpError()
             << "'" << state.getName() << "': expected at least " << end
             << " bytes in '" << path << "', found " << buffer->getBufferSize();
    readAll(type.type, buffer->getBufferStart() + begin, to.data);
    return success();
  }

private:
  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
};
} // namespace

TensorValue ff::initialState(StateOp state, uint64_t seed) {
  if (isPattern(state.getInit()))
    return patternOf(state);
  plan::TensorType type = tensorTypeOf(state.getResult().getType());
  TensorValue value{type.shape,
                    std::vector<double>(plan::numElements(type.shape))};
  const uint64_t key =
      seed ^
      hashName(std::string_view(state.getOf().value_or(state.getName())));
  const auto scale =
      static_cast<float>(state.getInit().getValue().getValueAsDouble());
  const bool isNormal = state.getInit().getKind() == InitKind::Normal;
  for (size_t i = 0; i < value.data.size(); ++i)
    value.data[i] = scale * (isNormal ? normal(key, i) : uniform(key, i));
  return value;
}

FailureOr<TensorValues> ff::initialStates(ModuleOp module, uint64_t seed,
                                          StringRef weights) {
  func::FuncOp main = mainFunction(module);
  if (!main)
    return failure();
  TensorValues values;
  WeightsFile file(weights);
  for (StateOp state : main.getBody().front().getOps<StateOp>()) {
    TensorValue &value = values[state.getName().str()];
    if (state.getInit().getKind() != InitKind::File)
      value = initialState(state, seed);
    else if (failed(file.read(state, value)))
      return failure();
    if (isNarrow(
            state.getResult())) // a copy is read and drawn as what it is of
      for (double &number : value.data)
        number =
            narrowed(tensorTypeOf(state.getResult().getType()).type, number);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The least that any reader says of `input`; 0: nothing.
static int64_t boundOf(Value input) {
  int64_t bound = 0;
  for (Operation *reader : input.getUsers()) {
    auto op = dyn_cast<PartitionableInterface>(reader);
    if (!op)
      continue;
    SmallVector<Value> operands = op.getOperandSlots();
    for (const plan::Schedule &schedule : op.getRules().schedules)
      for (const plan::Phase &phase : schedule.phases)
        for (const plan::SlotRead &read : phase.reads)
          if (static_cast<size_t>(read.slot) < operands.size() &&
              operands[read.slot] == input && read.below > 0)
            bound = bound ? std::min(bound, read.below) : read.below;
  }
  return bound;
}

static TensorValue syntheticInput(StringRef name, const plan::TensorType &type,
                                  int64_t bound, uint64_t seed, int64_t step) {
  TensorValue value{type.shape,
                    std::vector<double>(plan::numElements(type.shape))};
  uint64_t key = seed ^ hashName(std::string_view(name));
  uint64_t range = bound > 0 ? static_cast<uint64_t>(bound) : 2;
  bool isReal = plan::isFloat(type.type) && bound == 0;
  for (size_t i = 0; i < value.data.size(); ++i) {
    uint32_t word = philoxWord(key, i, static_cast<uint64_t>(step));
    // Reals are uniform in +-sqrt(3), which has variance 1.
    value.data[i] = isReal
                        ? static_cast<double>(
                              (2.0f * unitInterval(word) - 1.0f) * 1.7320508f)
                        : static_cast<double>((word * range) >> 32);
  }
  return value;
}

FailureOr<TensorValues> ff::syntheticInputs(ModuleOp module, uint64_t seed,
                                            int64_t step) {
  func::FuncOp main = mainFunction(module);
  if (!main)
    return failure();
  TensorValues values;
  for (BlockArgument argument : main.getArguments()) {
    auto name =
        main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    if (!name) {
      main.emitError("expected argument ")
          << argument.getArgNumber() << " to have the attribute '" << kNameAttr
          << "'";
      return failure();
    }
    values[name.getValue().str()] =
        syntheticInput(name.getValue(), tensorTypeOf(argument.getType()),
                       boundOf(argument), seed, step);
  }
  return values;
}
