//===- ParameterUpdates.cpp - updates of a training graph -----------------===//

#include "ParameterUpdates.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

Value ParameterUpdates::addLossScale(func::FuncOp main, Type element) {
  if (settings.lossScale.first == 0)
    return {};
  auto type = RankedTensorType::get({}, element);
  OpBuilder top = OpBuilder::atBlockBegin(&main.front());
  for (auto [name, first] : {std::pair("loss.scale", settings.lossScale.first),
                             std::pair("loss.good_steps", 0.0),
                             std::pair("loss.skipped_steps", 0.0)})
    scaleStates.push_back(createSlot(top, type, name, first));
  OutputOp::create(builder, named("loss_scale"), "loss_scale",
                   scaleStates.front());
  return scaleStates.front();
}

void ParameterUpdates::update(StateOp state, Value gradient,
                              Operation *reader) {
  ++count;
  Noted parameter = {state, gradient, rowGradientOf(gradient), reader};
  if (settings.clipNorm > 0 || !scaleStates.empty()) {
    noted.push_back(parameter);
    return;
  }
  build(parameter, /*scale=*/{});
  marking.role = kGradientRole;
  marking.carry.reset();
}

void ParameterUpdates::finish(Operation *loss) {
  if (noted.empty())
    return;
  Value scale = scaleOf(loss);
  for (const Noted &parameter : noted)
    build(parameter, scale);
}

//===----------------------------------------------------------------------===//
// One parameter
//===----------------------------------------------------------------------===//

void ParameterUpdates::mark(StateOp state, Operation *reader) {
  marking.role = kUpdateRole;
  marking.owner = ff::nameOf(reader).str();
  marking.carry = {slotOf(reader, state.getResult()), 0};
}

RowGradientInterface ParameterUpdates::rowGradientOf(Value gradient) const {
  // The norm of all gradients is that of sums of rows.
  if (!settings.rowUpdates || settings.clipNorm > 0 ||
      !settings.optimizer.updatesRows())
    return {};
  return dyn_cast_or_null<RowGradientInterface>(gradient.getDefiningOp());
}

void ParameterUpdates::build(const Noted &parameter, Value scale) {
  auto [state, gradient, rows, reader] = parameter;
  mark(state, reader);
  const std::string name = state.getName().str();
  SmallVector<StateOp> states = createSlots(state);
  SmallVector<Value> slots(states.begin(), states.end());
  states.insert(states.begin(), state);
  if (rows) {
    store(states, rows.buildRowUpdate(builder, named(name + ".update"),
                                      settings.optimizer, state.getResult(),
                                      slots, scale));
    rows->erase();
    return;
  }
  OutputOp::create(builder, named(name), "grad/" + name, gradient);
  auto update = UpdateOp::create(
      builder, named(name + ".update"), state.getType(),
      SmallVector<Type>(ValueRange(slots).getTypes()), settings.optimizer.kind,
      state.getResult(), gradient, slots, scale, settings.optimizer.hyper);
  store(states, update->getResults());
  if (settings.ema > 0)
    average(state, update.getWOut());
}

void ParameterUpdates::average(StateOp state, Value updated) {
  OpBuilder top(state);
  top.setInsertionPointAfter(state);
  const std::string name = marking.names.take(state.getName() + "/ema");
  auto mean = StateOp::create(
      top, named(name), state.getType(), top.getStringAttr(name),
      top.getStringAttr("average"), state.getInit(), state.getNameAttr());
  auto update = UpdateOp::create(
      builder, named(name + ".update"), state.getType(), TypeRange(),
      OptimizerKind::Ema, mean, updated, ValueRange(), Value(), {settings.ema});
  store(mean, update->getResults());
}

StateOp ParameterUpdates::createSlot(OpBuilder &top, Type type,
                                     const Twine &wanted, double first) {
  const std::string name = marking.names.take(wanted);
  return StateOp::create(
      top, named(name), type, name, "slot",
      InitAttr::get(top.getContext(), InitKind::Constant, first, 0));
}

SmallVector<StateOp> ParameterUpdates::createSlots(StateOp state) {
  SmallVector<StateOp> kept;
  OpBuilder top(state);
  top.setInsertionPointAfter(state);
  auto type = cast<RankedTensorType>(state.getType());
  if (settings.optimizer.hasNarrowSlots)
    type = type.clone(top.getBF16Type());
  for (const char *slot : settings.optimizer.slots())
    kept.push_back(createSlot(top, type, state.getName() + "/" + slot, 0.0));
  return kept;
}

void ParameterUpdates::store(ArrayRef<StateOp> states, ValueRange updated) {
  for (auto [index, value] : llvm::enumerate(updated)) {
    StateOp state = states[index];
    StoreOp::create(builder, named(state.getName()), state.getName(), value);
  }
}

//===----------------------------------------------------------------------===//
// What all gradients are multiplied by
//===----------------------------------------------------------------------===//

Value ParameterUpdates::squareSum(Noted &parameter) {
  mark(parameter.state, parameter.reader);
  Value gradient = parameter.gradient;
  // Of rows, these are enough: squares overflow before sums of rows do.
  if (parameter.rows) {
    gradient = parameter.rows.getRowGradients();
    marking.carry.reset();
    for (Value looked : parameter.reader->getResults())
      if (looked.getType() == gradient.getType())
        marking.carry = {slotOf(parameter.reader, looked), 0};
  }
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(gradient));
  return SquareSumOp::create(builder,
                             named(parameter.state.getName() + ".square_sum"),
                             scalar, gradient);
}

Value ParameterUpdates::scaleOf(Operation *loss) {
  SmallVector<Value> sums;
  for (Noted &parameter : noted)
    sums.push_back(squareSum(parameter));
  // One number, which every device that had the loss computes.
  marking.owner = ff::nameOf(loss).str();
  marking.carry.reset();
  auto scalar = cast<RankedTensorType>(sums.front().getType());
  if (scaleStates.empty())
    return ClipScaleOp::create(builder, named("clip_scale"), scalar, sums,
                               builder.getF64FloatAttr(settings.clipNorm));
  // As other frameworks have it (Micikevicius et al., ICLR 2018).
  constexpr int64_t kInterval = 2000;
  constexpr double kLeast = 1, kMost = 1 << 24;
  const LossScaling &scale = settings.lossScale;
  auto decided = LossScaleOp::create(
      builder, named("loss_scale"),
      RankedTensorType::get({2}, scalar.getElementType()), scalar, scalar,
      scalar, scaleStates[0], scaleStates[1], scaleStates[2], sums, kInterval,
      llvm::APFloat(scale.isFixed ? scale.first : kLeast),
      llvm::APFloat(settings.clipNorm),
      llvm::APFloat(scale.isFixed ? scale.first : kMost));
  store(scaleStates, decided->getResults().drop_front());
  return decided.getFactor();
}
