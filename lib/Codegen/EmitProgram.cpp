//===- EmitProgram.cpp - `rank` to C++ text -------------------------------===//

#include "ProgramPrinter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
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
  llvm::StringSet<> seen;
  for (const ClassPrinter &printer : printers)
    for (const Layer &layer : printer.arrangement().layers) {
      auto op = meta.ops.find(layer.name);
      if (op == meta.ops.end() || op->second.strategy.empty() ||
          !seen.insert(layer.name).second)
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

void ProgramPrinter::printHeader(Text &text) {
  std::string ranks = std::to_string(places.size());
  text.banner("train.cpp - " + meta.model + " on " + ranks +
              (places.size() == 1 ? " rank" : " ranks"));
  text.line("//");
  text.comment("//",
               Twine(meta.training ? "One training step" : "One evaluation") +
                   " of " + meta.model + " at batch " +
                   std::to_string(meta.batch) + ", written by ffc" +
                   (meta.version.empty() ? "" : " " + meta.version) +
                   ". Every rank runs the class that make() gives it; numbers "
                   "in which the ranks of a class differ are in ranks.inc.");
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
  text.line("//   build           cmake -B build && cmake --build build -j");
  text.line("//   run             mpirun -n " + Twine(ranks) +
            " build/train --steps 10");
  text.line("//");
  printStrategy(text);
  text.line("//===-------------------------------------------------------------"
            "---------===//");
}

/// What a target's program includes.
static void printIncludes(Text &text, const Functors &functors) {
  text.line("#include \"ffrt/actions.h\"");
  text.line("#include \"ffrt/kernels.h\"");
  text.line("#include \"ffrt/program.h\"");
  if (!functors.empty())
    text.line("#include \"functors.h\"");
  text.line();
  text.line("using namespace ffrt;");
  text.line();
}

void ProgramPrinter::printBase(Text &text) {
  text.line("constexpr DType f32 = DType::f32, f64 = DType::f64, i32 = "
            "DType::i32,");
  text.line("                i64 = DType::i64, u8 = DType::u8, boolean = "
            "DType::boolean,");
  text.line("                bf16 = DType::bf16, f16 = DType::f16;");
  text.line("constexpr Order row_major = Order::row_major,");
  text.line("                channels_last = Order::channels_last;");
  text.line();
  text.block(R"(/// An operand or result that a kernel does without.
const Tensor absent;

/// What the programs of all ranks have in common.
class Program : public RankProgram, protected Actions {
protected:
  explicit Program(Host &host)
      : Actions(host.trace), cx(host.context), comm(host.comm),
        probe(host.probe), host(host) {
    for (const std::vector<int> &members : group_members)
      groups.push_back(comm.make_group(members));
  }

  using Extents = std::initializer_list<int64_t>;

  /// The buffer at `offset` of the arena: `shape` elements, the first of which
  /// has the coordinate `lo` in a tensor of shape `global`; without the latter
  /// two, a whole tensor.
  Tensor arena(int64_t offset, DType type, Order order, Extents shape,
               Extents lo = {}, Extents global = {}) {
    return part(host.arena + offset, type, order, shape, lo, global);
  }
  /// The same in the memory that lives from step to step.
  Tensor state(int64_t offset, DType type, Order order, Extents shape,
               Extents lo = {}, Extents global = {}) {
    return part(host.state + offset, type, order, shape, lo, global);
  }

  Context &cx;
  Comm &comm;
  Probe &probe;
  std::vector<Group> groups;

private:
  static Tensor part(std::byte *data, DType type, Order order, Extents shape,
                     Extents lo, Extents global) {
    bool whole = global.size() != shape.size();
    Tensor tensor{data, type, order, static_cast<int>(shape.size()),
                  shape, lo, whole ? shape : global};
    if (tensor.elements() == 0)
      tensor.data = nullptr;
    return tensor;
  }

  Host &host;
};
)");
}

static std::string construct(const ClassPrinter &printer, StringRef row) {
  std::string text = "std::make_unique<" + printer.name() + ">(host";
  if (!printer.table().empty())
    text += ", " + printer.rowsName() + "[" + row.str() + "]";
  return text + ")";
}

void ProgramPrinter::printMake(Text &text) {
  text.line("std::unique_ptr<RankProgram> make(Host &host) {");
  text.indent();
  if (printers.size() == 1) {
    text.line("return " + construct(printers.front(), "host.context.rank") +
              ";");
  } else {
    text.line("const Place &place = places[host.context.rank];");
    text.line("switch (place.program) {");
    size_t index = 0;
    for (const ClassPrinter &printer : printers) {
      bool isLast = ++index == printers.size();
      text.line(isLast ? "default:"
                       : "case " + std::to_string(index - 1) + ":");
      text.line("  return " + construct(printer, "place.row") + ";");
    }
    text.line("}");
  }
  text.outdent();
  text.line("}");
  text.line();
}

/// "f32, 2, {8, 10}": type, rank and shape of a description.
static std::string str(const plan::TensorType &type) {
  std::string name =
      type.type == plan::ElementType::Bool ? "boolean" : plan::str(type.type);
  return name + ", " + std::to_string(type.shape.size()) + ", " +
         braced(ArrayRef<int64_t>(type.shape));
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
  set("ranks", std::to_string(places.size()));
  set("training", meta.training ? "true" : "false");
  if (!meta.trained.empty())
    set("trained", quoted(meta.trained));
  set("batch", literal(meta.batch));
  if (meta.microBatches > 1)
    set("micro_batches", std::to_string(meta.microBatches));
  if (meta.tf32)
    set("tf32", "true");
  if (int64_t bytes = funcs.front().getSymmetricState())
    set("symmetric_state", literal(bytes));
  if (int64_t bytes = funcs.front().getSymmetricArena())
    set("symmetric_arena", literal(bytes));
  set("default_learning_rate", literal(meta.learningRate));
  set("default_weight_decay", literal(meta.weightDecay));
  set("predicted_step_seconds", literal(meta.predictedStepSeconds));
  auto setList = [&](const char *field, const std::vector<std::string> &rows) {
    text.line(Twine("info.") + field + " = {" + (rows.empty() ? "};" : ""));
    for (const std::string &row : rows)
      text.line("    " + row + ",");
    if (!rows.empty())
      text.line("};");
  };
  std::vector<std::string> inputs, outputs;
  for (const InputMeta &input : meta.inputs)
    inputs.push_back("{" + quoted(input.name) + ", " + str(input.type) +
                     ", /*target=*/" + (input.target ? "true" : "false") +
                     ", /*classes=*/" + literal(input.classes) + "}");
  for (const OutputMeta &output : meta.outputs)
    outputs.push_back("{" + quoted(output.name) + ", " + str(output.type) +
                      "}");
  setList("inputs", inputs);
  setList("outputs", outputs);
  text.line("info.rank_info.assign(std::begin(rank_info), "
            "std::end(rank_info));");
  text.line("return info;");
  text.outdent();
  text.line("}");
  text.line();
}

void ProgramPrinter::printTables(Text &text) {
  text.banner(tables.name + " - what differs from rank to rank");
  text.line();
  text.line("/// The communicators, in the order of their creation.");
  text.line("const std::vector<std::vector<int>> group_members = {");
  for (Attribute group : funcs.front().getGroups())
    text.line("    " + braced(cast<DenseI64ArrayAttr>(group).asArrayRef()) +
              ",");
  text.line("};");
  if (printers.size() > 1) {
    text.line();
    text.line("/// The class of every rank, and its row there.");
    text.line("const Place places[] = {");
    for (auto [program, row] : places)
      text.line("    {" + Twine(program) + ", " + Twine(row) + "},");
    text.line("};");
  }
  text.line();
  text.line("/// Bytes of state and arena, flops of a step.");
  text.line("const RankInfo rank_info[] = {");
  for (auto [program, row] : places) {
    rank::FuncOp func = funcs[program];
    text.line("    {" + literal(func.getStateBytes().at(row)[0]) + ", " +
              literal(func.getArenaBytes().at(row)[0]) + ", " +
              literal(static_cast<double>(func.getFlops().at(row)[0])) + "},");
  }
  text.line("};");
  for (const ClassPrinter &printer : printers)
    if (!printer.table().empty()) {
      text.line();
      printer.printRows(text);
    }
}

LogicalResult ProgramPrinter::print() {
  if (failed(findPlaces()))
    return failure();
  // Classes first, because they decide what the tables hold.
  Text classes;
  tasks.text.banner(tasks.name +
                    " - what the tasks of a step are called in traces");
  for (auto [i, func] : llvm::enumerate(funcs)) {
    printers.emplace_back(func, meta, "Class" + std::to_string(i), functors);
    tasks.text.line();
    if (failed(printers.back().print(classes, tasks.text)))
      return failure();
  }
  if (printers.size() > 1) {
    body.line("/// Which class a rank runs, and its row in the class's table.");
    body.line("struct Place {");
    body.line("  int program, row;");
    body.line("};");
    body.line();
  }
  for (const ClassPrinter &printer : printers)
    printer.printStruct(body);
  body.line("#include \"" + tables.name + "\"");
  body.line();
  printBase(body);
  body.line();
  body.append(std::move(classes));
  body.line("#include \"" + tasks.name + "\"");
  body.line();
  printMake(body);
  printInfo(body);
  printTables(tables.text);
  return success();
}

FailureOr<std::vector<SourceFile>>
codegen::emitProgram(ModuleOp module, const ProgramMeta &meta) {
  Functors functors;
  ProgramPrinter printer(module, meta, functors);
  if (failed(printer.print()))
    return failure();
  Text text;
  printer.printHeader(text);
  printIncludes(text, functors);
  text.line("namespace {");
  text.line();
  text.append(std::move(printer.body));
  text.line("} // namespace");
  text.line();
  text.line("int main(int argc, char **argv) {");
  text.line("  return run(argc, argv, program_info(), make);");
  text.line("}");
  std::vector<SourceFile> files = {
      {"train.cpp", text.take()}, printer.tables.take(), printer.tasks.take()};
  if (!functors.empty())
    llvm::append_range(files, functors.files());
  return files;
}
