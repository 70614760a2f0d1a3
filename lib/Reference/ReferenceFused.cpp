//===- ReferenceFused.cpp - meaning of fused kernels ----------------------===//
//
// A fused kernel means what its steps mean one after the other: each is
// computed on the whole part of the results by its own reference kernel.
//
//===----------------------------------------------------------------------===//

#include "ReferenceFamilies.h"
#include "ffc/IR/ScalarProgram.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static DictionaryAttr parametersOf(const ScalarProgram::Step &step,
                                   Builder builder) {
  const char *names[] = {"alpha", "beta"};
  SmallVector<NamedAttribute> args;
  for (auto [name, value] : llvm::zip(names, step.parameters))
    args.push_back(builder.getNamedAttr(name, builder.getF64FloatAttr(value)));
  return builder.getDictionaryAttr(args);
}

static void fused(const ReferenceCall &call) {
  auto text = call.args.getAs<StringAttr>("program");
  std::string error;
  std::optional<ScalarProgram> program =
      ScalarProgram::parse(text.getValue(), error);
  if (!program) // the operator made the text
    llvm::report_fatal_error(llvm::StringRef(error));
  const View *first =
      llvm::find_if(call.outs, [](const View &out) { return out.present(); });
  if (first == call.outs.end())
    return;
  // An epilogue has dimensions of what was summed over in its tile.
  const plan::Tile tile = first->region().box();
  // Operands as they are broadcast, then results of steps.
  std::vector<std::vector<double>> values;
  std::vector<View> views;
  auto run = [&](StringRef kernel, DictionaryAttr args, ArrayRef<View> ins) {
    // One element more than needed gives an empty tile an address.
    values.emplace_back(tile.volume() + 1);
    View out(values.back().data(), plan::Region(tile), first->global());
    lookupReference(kernel)({call.context, args, tile, ins, out});
    views.push_back(std::move(out));
  };
  auto viewOf = [&](const ScalarProgram::Value &value) {
    return views[value.isInput ? value.number : call.ins.size() + value.number];
  };
  for (size_t i = 0; i < call.ins.size(); ++i)
    run("expand", {}, call.ins.slice(i, 1));
  for (const ScalarProgram::Step &step : program->steps)
    run(lookupScalarFunction(step.function)->kernel,
        parametersOf(step, Builder(call.args.getContext())),
        llvm::map_to_vector<4>(step.operands, viewOf));
  for (auto [value, type, out] :
       llvm::zip_equal(program->results, program->types, call.outs)) {
    if (type != plan::ElementType::F32) {
      Builder builder(call.args.getContext());
      run("cast",
          builder.getDictionaryAttr(builder.getNamedAttr(
              "to", builder.getI64IntegerAttr(static_cast<int64_t>(type)))),
          viewOf(value));
    }
    View result = type == plan::ElementType::F32 ? viewOf(value) : views.back();
    if (out.present())
      forEachIndex(tile,
                   [&](ArrayRef<int64_t> i) { out.at(i) = result.at(i); });
  }
}

void ff::registerReferenceFused() { registerReference("fused", fused); }
