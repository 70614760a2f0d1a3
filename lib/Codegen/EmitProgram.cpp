//===- EmitProgram.cpp - `rank` to C++ text -------------------------------===//

#include "ProgramPrinter.h"

#include "RankActions.h"
#include "Tables.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

/// Every rank has one place.
LogicalResult ProgramPrinter::findPlaces() {
  if (funcs.empty())
    return module.emitError("expected at least one 'rank.func', found none");
  size_t world = funcs.front().getWorld();
  std::vector<bool> seen(world);
  places.resize(world);
  for (auto [c, func] : llvm::enumerate(funcs)) {
    if (func.getWorld() != world || func.getGroups() != funcs[0].getGroups() ||
        func.getSymmetricState() != funcs[0].getSymmetricState() ||
        func.getSymmetricArena() != funcs[0].getSymmetricArena())
      return func.emitOpError()
             << "expected the world, groups and symmetric bytes of '"
             << funcs[0].getSymName() << "'";
    for (auto [row, rank] : llvm::enumerate(func.getRanks())) {
      if (seen[rank])
        return func.emitOpError()
               << "expected rank " << rank << " in one class, found it again";
      seen[rank] = true;
      places[rank] = {c, row};
    }
  }
  for (size_t rank = 0; rank < world; ++rank)
    if (!seen[rank])
      return module.emitError()
             << "expected a class of rank " << rank << ", found none";
  return success();
}

/// A comment line for every way of splitting, with its operators.
void ProgramPrinter::printStrategy(Text &text) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  llvm::StringMap<size_t> byStrategy;
  for (const Layer &layer : layers.layers) {
    auto op = meta.ops.find(layer.name);
    if (op == meta.ops.end() || op->second.strategy.empty())
      continue;
    auto [entry, isNew] =
        byStrategy.try_emplace(op->second.strategy, groups.size());
    if (isNew)
      groups.push_back({op->second.strategy, {}});
    groups[entry->second].second.push_back(layer.name);
  }
  if (groups.empty())
    return;
  text.line("// Strategy:");
  for (const auto &[strategy, names] : groups)
    text.comment("//  ", unbroken(strategy) + ": " + llvm::join(names, ", "));
  text.line("//");
}

void ProgramPrinter::printHeader(Text &text, StringRef name) {
  std::string ranks = std::to_string(places.size());
  text.banner(name.str() + " - " + meta.model + " on " + ranks +
              (places.size() == 1 ? " rank" : " ranks"));
  text.line("//");
  text.comment("//",
               Twine(meta.training ? "One training step" : "One evaluation") +
                   " of " + meta.model + " at batch " +
                   std::to_string(meta.batch) + ", written by ffc" +
                   (meta.version.empty() ? "" : " " + meta.version) +
                   ". Every kind of layer is a class, every layer an object; "
                   "what each rank has of them is in " +
                   tables.name + ".");
  text.line("//");
  for (auto [what, hash] :
       {std::make_pair("model   ", StringRef(meta.modelHash)),
        std::make_pair("topology", StringRef(meta.topologyHash)),
        std::make_pair("strategy", StringRef(meta.strategyHash))})
    if (!hash.empty())
      text.line(Twine("//   ") + what + "        " + hash);
  if (meta.predictedStepSeconds > 0)
    text.line(
        "//   predicted step  " +
        llvm::formatv("{0:f3} ms", meta.predictedStepSeconds * 1e3).str());
  if (name == kTrainFile) {
    text.line("//   build           cmake -B build && cmake --build build -j");
    text.line("//   run             mpirun -n " + Twine(ranks) +
              " build/train --steps 10");
  }
  text.line("//");
  printStrategy(text);
  text.line("//===-------------------------------------------------------------"
            "---------===//");
}

/// What a target's program includes.
static void printIncludes(Text &text, const Functors &functors) {
  text.line("#include \"ffrt/kernels.h\"");
  text.line("#include \"ffrt/reshard.h\"");
  if (!functors.empty())
    text.line("#include \"functors.h\"");
  text.line();
  text.line("using namespace ffrt;");
  text.line();
}

void ProgramPrinter::printProgram(Text &text) {
  LayerPrinter printer(layers, meta);
  text.line("class " + className + " final : public Program {");
  text.line("public:");
  text.indent();
  text.line("explicit " + className +
            "(Host &host) : Program(host, rank_tables) {}");
  text.line();
  printer.printStep(text, "step", /*inMicroBatch=*/true);
  if (printer.hasMethods(/*inMicroBatch=*/false)) {
    text.line();
    printer.printStep(text, "update", /*inMicroBatch=*/false);
  }
  text.outdent();
  text.line();
  text.line("private:");
  text.indent();
  printer.printPasses(text, funcs);
  for (size_t layer = 0; layer < layers.layers.size(); ++layer)
    printer.printObject(text, layer);
  text.outdent();
  text.line("};");
  text.line();
  text.line("std::unique_ptr<RankProgram> make(Host &host) {");
  text.line("  return std::make_unique<" + className + ">(host);");
  text.line("}");
  text.line();
}

/// "f32, 2, {8, 10}": type, rank and shape of a description.
static std::string str(const plan::TensorType &type) {
  return "DType::" + wordOf(type.type) + ", " +
         std::to_string(type.shape.size()) + ", " +
         braced(ArrayRef<int64_t>(type.shape));
}

/// "{1, 65536, {{8, 0.000131}}}": distance, bytes, and how many pairs in a row
/// take how many seconds.
static std::string str(const plan::LinkProbe &probe) {
  std::vector<std::string> runs;
  for (size_t begin = 0, end; begin < probe.times.size(); begin = end) {
    end = begin + 1;
    while (end < probe.times.size() && probe.times[end] == probe.times[begin])
      ++end;
    runs.push_back("{" + std::to_string(end - begin) + ", " +
                   literal(static_cast<double>(probe.times[begin]) * 1e-12) +
                   "}");
  }
  return "{" + std::to_string(probe.distance) + ", " + literal(probe.bytes) +
         ", " + braced(runs) + "}";
}

void ProgramPrinter::printInfo(Text &text) {
  text.line("ProgramInfo program_info() {");
  text.indent();
  text.line("ProgramInfo info;");
  auto set = [&](const char *field, const std::string &value) {
    text.line(Twine("info.") + field + " = " + value + ";");
  };
  set("model", quoted(meta.model));
  set("model_hash", quoted(meta.modelHash));
  set("topology_hash", quoted(meta.topologyHash));
  set("strategy_hash", quoted(meta.strategyHash));
  if (!meta.weightsHash.empty())
    set("weights_hash", quoted(meta.weightsHash));
  set("ranks", std::to_string(places.size()));
  set("training", meta.training ? "true" : "false");
  if (!meta.trained.empty())
    set("trained", quoted(meta.trained));
  set("batch", literal(meta.batch));
  if (meta.microBatches > 1)
    set("micro_batches", std::to_string(meta.microBatches));
  if (meta.tf32)
    set("tf32", "true");
  if (meta.switchesAdd)
    set("switches_add", "true");
  if (int64_t bytes = funcs.front().getSymmetricState())
    set("symmetric_state", literal(bytes));
  if (int64_t bytes = funcs.front().getSymmetricArena())
    set("symmetric_arena", literal(bytes));
  set("default_learning_rate", literal(meta.learningRate));
  set("default_weight_decay", literal(meta.weightDecay));
  if (meta.clipValue > 0)
    set("default_clip_value", literal(meta.clipValue));
  set("predicted_step_seconds", literal(meta.predictedStepSeconds));
  if (!meta.strategy.empty())
    set("strategy", quoted(meta.strategy));
  if (meta.peakFlops > 0)
    set("peak_flops", literal(meta.peakFlops));
  auto setList = [&](const char *field, const std::vector<std::string> &rows) {
    text.line(Twine("info.") + field + " = {" + (rows.empty() ? "};" : ""));
    for (const std::string &row : rows)
      text.line("    " + row + ",");
    if (!rows.empty())
      text.line("};");
  };
  std::vector<std::string> updated, inputs, outputs;
  for (const std::string &name : meta.updated)
    updated.push_back(quoted(name));
  for (const InputMeta &input : meta.inputs)
    inputs.push_back("{" + quoted(input.name) + ", " + str(input.type) +
                     ", /*target=*/" + (input.target ? "true" : "false") +
                     ", /*classes=*/" + literal(input.classes) + "}");
  for (const OutputMeta &output : meta.outputs)
    outputs.push_back("{" + quoted(output.name) + ", " + str(output.type) +
                      "}");
  if (!updated.empty())
    setList("updated", updated);
  setList("inputs", inputs);
  setList("outputs", outputs);
  std::vector<std::string> probes;
  for (const plan::LinkProbe &probe : meta.linkProbes)
    probes.push_back(str(probe));
  if (!probes.empty())
    setList("link_probes", probes);
  text.line("info.rank_info.assign(std::begin(rank_info), "
            "std::end(rank_info));");
  if (!meta.strategyLines.empty())
    text.line("info.strategy_lines.assign(std::begin(strategy_lines), "
              "std::end(strategy_lines));");
  if (!meta.strategyFiles.empty()) {
    std::vector<std::string> hashes;
    for (uint64_t hash : meta.strategyFiles)
      hashes.push_back("0x" + llvm::utohexstr(hash, /*LowerCase=*/true) + "u");
    set("strategy_files", braced(hashes));
  }
  text.line("return info;");
  text.outdent();
  text.line("}");
  text.line();
}

LogicalResult ProgramPrinter::printTables(Text &text) {
  text.banner(tables.name + " - what every rank has");
  text.line();
  if (failed(TablePrinter(funcs, layers).print(text, places)))
    return failure();
  text.line();
  text.comment("///", "Bytes of state and arena; of a step, flops and the "
                      "seconds in which the rank computes; node.");
  text.line("const RankInfo rank_info[] = {");
  for (auto [number, place] : llvm::enumerate(places)) {
    auto [program, row] = place;
    rank::FuncOp func = funcs[program];
    const RankMeta known =
        number < meta.ranks.size() ? meta.ranks[number] : RankMeta();
    text.line("    {" + literal(func.getStateBytes().at(row)[0]) + ", " +
              literal(func.getArenaBytes().at(row)[0]) + ", " +
              literal(static_cast<double>(func.getFlops().at(row)[0])) + ", " +
              literal(known.busySeconds) + ", " + std::to_string(known.node) +
              "},");
  }
  text.line("};");
  if (meta.strategyLines.empty())
    return success();
  text.line();
  text.line("/// The strategy of the program, for -s.");
  text.line("const char *const strategy_lines[] = {");
  for (const std::string &line : meta.strategyLines)
    text.line("    " + quoted(line) + ",");
  text.line("};");
  return success();
}

LogicalResult ProgramPrinter::print() {
  if (failed(findPlaces()))
    return failure();
  FailureOr<Layers> arranged = arrange(funcs, meta, functors);
  if (failed(arranged))
    return failure();
  layers = std::move(*arranged);
  body.line("#include \"" + tables.name + "\"");
  body.line();
  LayerPrinter printer(layers, meta);
  for (const LayerKind &kind : layers.kinds)
    if (failed(printer.printKind(body, kind)))
      return failure();
  printProgram(body);
  printInfo(body);
  return printTables(tables.text);
}

llvm::Error codegen::verifyProgram(ArrayRef<StepText> steps) {
  // Fused kernels are called by the order in which the layers use them.
  Functors functors;
  for (const StepText &step : steps) {
    ModuleOp ranks = step.ranks;
    auto classes = llvm::to_vector(ranks.getOps<rank::FuncOp>());
    if (failed(arrange(classes, {}, functors)))
      return llvm::createStringError("the plan cannot be a program");
    if (llvm::Error error =
            compareWithText(step.ranks, functors, step.text, step.tables))
      return &step == steps.begin()
                 ? std::move(error)
                 : llvm::createStringError("evaluation: " +
                                           toString(std::move(error)));
  }
  return llvm::Error::success();
}

/// "evaluate.inc", the contents of a namespace in train.cpp, whose kernels it
/// shares (that takes the compiler a twentieth longer, apart it is twice as
/// long), and its tables.
static LogicalResult printEvaluation(const EvaluationStep &evaluation,
                                     Functors &functors,
                                     std::vector<SourceFile> &files) {
  ProgramPrinter printer(evaluation.ranks, evaluation.meta, functors,
                         "evaluate_", "Evaluate");
  if (failed(printer.print()))
    return failure();
  Text text;
  printer.printHeader(text, kEvaluationFile);
  text.append(std::move(printer.body));
  text.line("Evaluation evaluation() {");
  text.line("  return {program_info(), make, EvaluationRows::" +
            evaluation.rows + "};");
  text.line("}");
  files.push_back({kEvaluationFile, text.take()});
  files.push_back(printer.tables.take());
  return checkText(evaluation.ranks, functors, files[files.size() - 2],
                   files.back());
}

FailureOr<std::vector<SourceFile>>
codegen::emitProgram(ModuleOp module, const ProgramMeta &meta,
                     const EvaluationStep *evaluation) {
  Functors functors;
  ProgramPrinter printer(module, meta, functors);
  if (failed(printer.print()))
    return failure();
  // It comes first: its functors are included as well.
  std::vector<SourceFile> evaluated;
  if (evaluation && failed(printEvaluation(*evaluation, functors, evaluated)))
    return failure();
  Text text;
  printer.printHeader(text, kTrainFile);
  printIncludes(text, functors);
  text.line("namespace {");
  text.line();
  text.append(std::move(printer.body));
  if (evaluation) {
    text.line("/// The forward pass with what is trained.");
    text.line("namespace evaluate {");
    text.line("#include \"" + Twine(kEvaluationFile) + "\"");
    text.line("} // namespace evaluate");
    text.line();
  }
  text.line("} // namespace");
  text.line();
  text.line("int main(int argc, char **argv) {");
  text.line(Twine("  return run(argc, argv, program_info(), make") +
            (evaluation ? ", evaluate::evaluation" : "") + ");");
  text.line("}");
  std::vector<SourceFile> files = {{kTrainFile, text.take()},
                                   printer.tables.take()};
  if (failed(checkText(module, functors, files[0], files[1])))
    return failure();
  llvm::append_range(files, evaluated);
  if (!functors.empty())
    llvm::append_range(files, functors.files());
  return files;
}
