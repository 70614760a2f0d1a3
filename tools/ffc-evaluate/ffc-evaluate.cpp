//===- ffc-evaluate.cpp - what a program should compute -------------------===//
//
// Trains a model in double precision, operator by operator, on the synthetic
// data and from the initial values that programs take by themselves, and prints
// as JSON what they have to agree with:
//
//   {"losses": [...],
//    "inputs": {"x": {"shape": [...], "data": [...]}, ...},
//    "values": {"grad/w": {"shape": [...], "data": [...], "noise": 1e-9}, ...},
//    "slopes": [{"parameter": "w", "gradient": .., "whole": .., "half": ..,
//                "kink": ..}],
//    "programs": [{"losses": [...], "distances": {"grad/w": 1e-17, ...}}]}
//
// "inputs" are those of step 0. Values are outputs and gradients of the last
// step and, as "param/...", the states after it. "noise" is how far a value
// moves, as the L2 norm of the difference, if all results are rounded like f32
// (see ff::Noise); "loss_noise" says it of each loss. Numbers that are not
// finite are null. "slopes" compare the gradients of step 0 with finite
// differences of the loss. "programs" say how far all ranks of each --program,
// as --emit=rank writes it, are from the values, if these are finite. With
// --forward it is one step of inference: no losses, no gradients.
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include "ffc/IR/FF.h"
#include "ffc/IR/Rank.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace ffc;
namespace cl = llvm::cl;
namespace json = llvm::json;

static cl::opt<std::string> modelPath(cl::Positional, cl::Required,
                                      cl::desc("MODEL"));
static cl::opt<std::string> loss("loss", cl::init("cross-entropy"));
static cl::opt<std::string> optimizer("optimizer", cl::init("sgd"));
static cl::opt<int64_t> groups("batch-norm-groups", cl::init(1));
static cl::opt<uint64_t> seed("seed", cl::init(0));
static cl::opt<int64_t> steps("steps", cl::init(1));
static cl::opt<double> learningRate("lr", cl::init(0.01));
static cl::opt<bool> forward("forward",
                             cl::desc("one step without a loss, as inference"));
static cl::opt<int64_t> batch("batch-size", cl::init(0),
                              cl::desc("as ffc has it; 0: the model's"));
static cl::list<std::string> programs("program", cl::desc("FILE"));
static cl::opt<int> noises("noise", cl::init(3),
                           cl::desc("runs with other roundings"));

/// JSON has no infinities.
static json::Value numberOf(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

/// All that a run has to agree with, by name.
static ff::TensorValues valuesOf(const Model::Run &run) {
  ff::TensorValues values = run.last.outputs;
  for (const auto &[name, state] : run.last.states)
    values["param/" + name] = state;
  return values;
}

static double distance(ArrayRef<double> a, ArrayRef<double> b) {
  double sum = 0;
  for (auto [x, y] : llvm::zip(a, b))
    sum += (x - y) * (x - y);
  return std::sqrt(sum);
}

/// The larger one; not a number if either is none, which std::max would hide.
static double larger(double a, double b) {
  return std::isnan(a) || b <= a ? a : b;
}

/// Of constants it does not matter: masks may be infinite.
static bool isFinite(const Model::Run &run) {
  return llvm::all_of(run.last.outputs, [](const auto &output) {
    return llvm::all_of(output.second.data,
                        [](double x) { return std::isfinite(x); });
  });
}

/// What --program says.
struct Distances {
  std::vector<double> losses;
  std::map<std::string, double> ofValues;
};

static FailureOr<Distances> distancesOf(const Model &model,
                                        MLIRContext &context,
                                        const std::string &path,
                                        const ff::TensorValues &values) {
  auto program = parseSourceFile<ModuleOp>(path, ParserConfig(&context));
  if (!program)
    return failure();
  auto run = model.run(*program, steps, learningRate);
  if (failed(run))
    return failure();
  Distances result;
  result.losses = run->losses;
  const ff::TensorValues found = valuesOf(*run);
  for (const auto &[name, value] : values) {
    StringRef state = name;
    if (auto it = found.find(name); it != found.end())
      result.ofValues[name] = distance(it->second.data, value.data);
    // What a program has found unused has no gradient and stays as it is.
    else if (state.consume_front("param/"))
      result.ofValues[name] =
          distance(model.initialStates().at(state.str()).data, value.data);
    else if (state.starts_with("grad/"))
      result.ofValues[name] =
          distance(std::vector<double>(value.data.size()), value.data);
    else
      return emitError(FileLineColLoc::get(&context, path, 0, 0))
             << "expected a value '" << name << "', found none";
  }
  return result;
}

static LogicalResult print(const Model &model, MLIRContext &context) {
  auto exact = model.run(steps, learningRate);
  if (failed(exact))
    return failure();
  const ff::TensorValues values = valuesOf(*exact);
  std::map<std::string, double> noise;
  std::vector<double> lossNoise(exact->losses.size());
  for (int i = 0; i < noises; ++i) {
    ff::Noise rounding(static_cast<uint64_t>(i));
    auto rounded = model.run(steps, learningRate, &rounding);
    if (failed(rounded))
      return failure();
    for (const auto &[name, value] : valuesOf(*rounded))
      noise[name] =
          larger(noise[name], distance(value.data, values.at(name).data));
    for (size_t step = 0; step < lossNoise.size(); ++step)
      lossNoise[step] = larger(lossNoise[step], std::abs(rounded->losses[step] -
                                                         exact->losses[step]));
  }
  auto inputs = model.inputs(0);
  if (failed(inputs))
    return failure();
  auto first = model.run(1, learningRate);
  if (failed(first))
    return failure();
  auto slopes = slopesOf(model, first->last.outputs);
  if (failed(slopes))
    return failure();

  std::vector<Distances> distances;
  // What is no number is not compared, and looks like what nobody wrote.
  for (const std::string &path : programs) {
    if (!isFinite(*exact))
      break;
    auto found = distancesOf(model, context, path, values);
    if (failed(found))
      return failure();
    distances.push_back(std::move(*found));
  }

  json::OStream out(llvm::outs(), /*IndentSize=*/1);
  auto numbers = [&](StringRef name, ArrayRef<double> list) {
    out.attributeArray(name, [&] {
      for (double number : list)
        out.value(numberOf(number));
    });
  };
  out.object([&] {
    numbers("losses", exact->losses);
    numbers("loss_noise", lossNoise);
    auto tensors = [&](StringRef title, const ff::TensorValues &all,
                       auto more) {
      out.attributeObject(title, [&] {
        for (const auto &[name, value] : all)
          out.attributeObject(name, [&] {
            out.attributeArray("shape", [&] {
              for (int64_t extent : value.shape)
                out.value(extent);
            });
            numbers("data", value.data);
            more(name);
          });
      });
    };
    tensors("inputs", *inputs, [](const std::string &) {});
    tensors("values", values, [&](const std::string &name) {
      out.attribute("noise", numberOf(noise[name]));
    });
    out.attributeArray("slopes", [&] {
      for (const Slope &slope : *slopes)
        out.object([&] {
          out.attribute("parameter", slope.parameter);
          out.attribute("gradient", numberOf(slope.fromGradient));
          out.attribute("whole", numberOf(slope.whole));
          out.attribute("half", numberOf(slope.half));
          out.attribute("kink", numberOf(slope.kink));
        });
    });
    out.attributeArray("programs", [&] {
      for (const Distances &program : distances)
        out.object([&] {
          numbers("losses", program.losses);
          out.attributeObject("distances", [&] {
            for (const auto &[name, value] : program.ofValues)
              out.attribute(name, numberOf(value));
          });
        });
    });
  });
  llvm::outs() << "\n";
  return success();
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(
      argc, argv, "trains a model in double precision, without a plan\n");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<ff::FFDialect, rank::RankDialect, func::FuncDialect>();
  llvm::SmallString<128> weights;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "ffc-evaluate", "weights", weights)) {
    llvm::errs() << "error: cannot make a file for the weights: "
                 << error.message() << "\n";
    return 1;
  }
  llvm::FileRemover remover(weights);
  ImportOptions importing;
  importing.sampleGroups = groups;
  importing.weightsPath = weights.str().str();
  importing.training = !forward;
  if (batch > 0)
    importing.batchSize = batch;
  DifferentiateOptions differentiating;
  differentiating.loss = loss;
  differentiating.optimizer = optimizer;
  auto model = Model::load(context, modelPath, importing,
                           forward ? nullptr : &differentiating, seed);
  return failed(model) || failed(print(*model, context));
}
