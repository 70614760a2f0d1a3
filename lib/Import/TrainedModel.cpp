//===- TrainedModel.cpp - a model with what was learned -------------------===//

#include "ffc/Import/TrainedModel.h"

#include "ffc/Import/Parameters.h"

#include "ExporterMetadata.h"
#include "Load.h"
#include "Safetensors.h"
#include "TensorData.h"
#include "TiedWeights.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::GraphProto;
using onnx::NodeProto;
using onnx::TensorProto;

/// Tensors of so many bytes together are written beside the model.
static constexpr int64_t kMostInside = int64_t(1) << 30;
static constexpr int64_t kLargeBytes = 4096;

static llvm::Error inFile(const Twine &what, llvm::Error error) {
  return makeError(what + ": " + llvm::toString(std::move(error)));
}

namespace {

/// Puts values into a graph.
class Filler {
public:
  Filler(GraphProto &graph, const TensorData &data, const Safetensors &values)
      : graph(graph), data(data), values(values) {
    for (TensorProto &tensor : *graph.mutable_initializer())
      tensors[tensor.name()] = &tensor;
    for (NodeProto &node : *graph.mutable_node())
      if (node.op_type() == "Constant" && node.output_size() == 1 &&
          node.attribute_size() == 1 && node.attribute(0).has_t())
        tensors[node.output(0)] = node.mutable_attribute(0)->mutable_t();
  }

  /// Gives `name` its value; an input without data becomes an initializer.
  llvm::Error fill(const std::string &name) {
    const Safetensors::Tensor &value = values.tensors().at(name);
    if (TensorProto *tensor = tensors.lookup(name))
      return write(*tensor, value, /*isTurned=*/false);
    auto *inputs = graph.mutable_input();
    for (int i = 0; i < inputs->size(); ++i) {
      if (inputs->Get(i).name() != name)
        continue;
      const onnx::TypeProto::Tensor type = inputs->Get(i).type().tensor_type();
      TensorProto &tensor = *graph.add_initializer();
      tensor.set_name(name);
      tensor.set_data_type(type.elem_type());
      tensor.mutable_dims()->Assign(value.shape.begin(), value.shape.end());
      // What the model says of its shape, which may be less than all.
      if (type.has_shape()) {
        tensor.mutable_dims()->Resize(type.shape().dim_size(), 1);
        for (int d = 0; d < type.shape().dim_size(); ++d)
          if (type.shape().dim(d).has_dim_value())
            tensor.set_dims(d, type.shape().dim(d).dim_value());
      }
      inputs->DeleteSubrange(i, 1);
      return write(tensor, value, /*isTurned=*/false);
    }
    return makeError("the model has no such value");
  }

  /// Gives the value of `of` to another tensor with the same elements.
  llvm::Error fillTied(const std::string &name, const std::string &of,
                       bool isTurned) {
    TensorProto *tensor = tensors.lookup(name);
    if (!tensor)
      return makeError("the model has no such value");
    return write(*tensor, values.tensors().at(of), isTurned);
  }

private:
  GraphProto &graph;
  const TensorData &data;
  const Safetensors &values;
  llvm::StringMap<TensorProto *> tensors;

  llvm::Error write(TensorProto &tensor, const Safetensors::Tensor &value,
                    bool isTurned);
};

} // namespace

/// Appends a number as an element of `type`.
static bool append(std::string &bytes, double number, int32_t type) {
  auto put = [&](auto element) {
    bytes.append(reinterpret_cast<const char *>(&element), sizeof element);
    return true;
  };
  auto putHalf = [&](const llvm::fltSemantics &semantics) {
    llvm::APFloat half(number);
    bool loses;
    half.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &loses);
    return put(uint16_t(half.bitcastToAPInt().getZExtValue()));
  };
  switch (type) {
  case TensorProto::FLOAT:
    return put(float(number));
  case TensorProto::DOUBLE:
    return put(number);
  case TensorProto::FLOAT16:
    return putHalf(llvm::APFloat::IEEEhalf());
  case TensorProto::BFLOAT16:
    return putHalf(llvm::APFloat::BFloat());
  default:
    return false;
  }
}

llvm::Error Filler::write(TensorProto &tensor, const Safetensors::Tensor &value,
                          bool isTurned) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = elementCount(shape).value_or(-1);
  if (isTurned ? elementCount(value.shape) != count : value.shape != shape)
    return makeError("expected shape " + shapeText(shape) +
                     ", as the model has it, found " + shapeText(value.shape));
  if (!Safetensors::isOfFloats(value))
    return makeError("expected floats, found " + value.type);
  std::string bytes;
  const int64_t rows = isTurned ? value.shape[0] : 1,
                columns = isTurned ? value.shape[1] : count;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = isTurned ? i % rows * columns + i / rows : i;
    if (!append(bytes, Safetensors::elementOf(value, from), tensor.data_type()))
      return makeError("expected a tensor of floats, found " +
                       elementTypeName(tensor.data_type()));
  }
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(std::move(bytes));
  return llvm::Error::success();
}

/// Is the tied value `name` read through a transpose, in a graph where weights
/// were tied?
static bool isTurned(const GraphProto &graph, StringRef name) {
  for (const NodeProto &node : graph.node())
    if (node.output_size() == 1 && node.output(0) == name)
      return node.op_type() == "Transpose";
  return false;
}

/// Calls f with all tensors of a graph and of those within it.
static llvm::Error
forEachTensor(GraphProto &graph,
              llvm::function_ref<llvm::Error(TensorProto &)> f) {
  for (TensorProto &tensor : *graph.mutable_initializer())
    if (llvm::Error error = f(tensor))
      return error;
  for (NodeProto &node : *graph.mutable_node())
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_t())
        if (llvm::Error error = f(*attribute.mutable_t()))
          return error;
      if (attribute.has_g())
        if (llvm::Error error = forEachTensor(*attribute.mutable_g(), f))
          return error;
      for (GraphProto &inner : *attribute.mutable_graphs())
        if (llvm::Error error = forEachTensor(inner, f))
          return error;
    }
  return llvm::Error::success();
}

/// Brings all tensors into the model, or, if they are many, into a file beside
/// it, whose name is returned.
static llvm::Expected<std::string> placeTensors(onnx::ModelProto &model,
                                                const TensorData &data,
                                                StringRef output) {
  int64_t total = 0;
  auto count = [&](TensorProto &tensor) -> llvm::Error {
    if (llvm::Error error = data.check(tensor))
      return inFile("tensor '" + tensor.name() + "'", std::move(error));
    const Shape shape(tensor.dims().begin(), tensor.dims().end());
    total += *elementCount(shape) * elementBytes(tensor.data_type());
    return llvm::Error::success();
  };
  // Strings and the like stay as they are.
  auto isExternal = [](const TensorProto &tensor) {
    return tensor.data_location() == TensorProto::EXTERNAL;
  };
  if (llvm::Error error =
          forEachTensor(*model.mutable_graph(), [&](TensorProto &tensor) {
            return isExternal(tensor) || tensor.has_raw_data()
                       ? count(tensor)
                       : llvm::Error::success();
          }))
    return error;
  std::string path, temporary;
  std::unique_ptr<llvm::raw_fd_ostream> file;
  if (total > kMostInside) {
    path = (output + ".data").str();
    temporary = path + ".tmp";
    std::error_code code;
    file = std::make_unique<llvm::raw_fd_ostream>(temporary, code);
    if (code)
      return makeError("cannot write '" + temporary + "': " + code.message());
  }
  llvm::Error error = forEachTensor(
      *model.mutable_graph(), [&](TensorProto &tensor) -> llvm::Error {
        if (!isExternal(tensor) && !tensor.has_raw_data())
          return llvm::Error::success();
        auto bytes = data.bytes(tensor);
        if (!bytes)
          return bytes.takeError();
        const StringRef elements = (*bytes)->getBuffer();
        if (!file || int64_t(elements.size()) < kLargeBytes) {
          if (isExternal(tensor))
            tensor.set_raw_data(elements.str());
          tensor.clear_external_data();
          tensor.clear_data_location();
          return llvm::Error::success();
        }
        const uint64_t offset = llvm::alignTo(file->tell(), 4096);
        file->write_zeros(unsigned(offset - file->tell()));
        *file << elements;
        const uint64_t length = elements.size();
        tensor.clear_raw_data();
        tensor.clear_external_data();
        for (auto [key, value] :
             {std::pair<const char *, std::string>(
                  "location", llvm::sys::path::filename(path).str()),
              {"offset", std::to_string(offset)},
              {"length", std::to_string(length)}}) {
          auto *entry = tensor.add_external_data();
          entry->set_key(key);
          entry->set_value(value);
        }
        tensor.set_data_location(TensorProto::EXTERNAL);
        return llvm::Error::success();
      });
  if (error)
    return error;
  if (file) {
    file->close();
    std::error_code code = file->error();
    file->clear_error();
    if (!code)
      code = llvm::sys::fs::rename(temporary, path);
    if (code) {
      llvm::sys::fs::remove(temporary);
      return makeError("cannot write '" + path + "': " + code.message());
    }
  }
  return path;
}

/// Fails where something is that must not be replaced: a folder, device, pipe
/// or link.
static llvm::Error checkOutput(const Twine &path) {
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status, /*follow=*/false) &&
      status.type() != llvm::sys::fs::file_type::regular_file)
    return makeError("cannot write '" + path +
                     "': expected a regular file or a new name, found "
                     "something else");
  return llvm::Error::success();
}

/// Writes the file under a temporary name first.
static llvm::Error writeModel(const onnx::ModelProto &model, StringRef output) {
  auto file = llvm::sys::fs::TempFile::create(output + ".tmp-%%%%%%");
  if (!file)
    return inFile("cannot write '" + output + "'", file.takeError());
  const std::string bytes = model.SerializeAsString();
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << bytes;
  stream.flush();
  if (bytes.empty() || stream.has_error()) {
    const std::string cause =
        bytes.empty() ? "it is too large" : stream.error().message();
    stream.clear_error();
    llvm::consumeError(file->discard());
    return makeError("cannot write '" + output + "': " + cause);
  }
  return file->keep(output);
}

namespace {
/// What export needs to know about the file that importing it does not keep.
struct Files {
  onnx::ModelProto model;
  std::vector<TiedWeight> ties;
  GraphProto tied; ///< the graph in which weights are tied
};
} // namespace

/// Restoring parameters also makes batch normalisation train that was exported
/// from a module in training as if it were not: the written model stays as it
/// came in.
static void restoreParameters(GraphProto &graph, ExporterMetadata &metadata) {
  auto mode = [](NodeProto &node) {
    auto &attributes = *node.mutable_attribute();
    return llvm::find_if(attributes, [](const onnx::AttributeProto &attribute) {
      return attribute.name() == "training_mode";
    });
  };
  llvm::DenseSet<const NodeProto *> without;
  for (NodeProto &node : *graph.mutable_node())
    if (mode(node) == node.mutable_attribute()->end())
      without.insert(&node);
  metadata.restore(graph);
  for (NodeProto &node : *graph.mutable_node())
    if (auto at = mode(node);
        without.contains(&node) && at != node.mutable_attribute()->end())
      node.mutable_attribute()->erase(at);
}

static llvm::Error readFiles(StringRef path, const TensorData &data,
                             const ImportOptions &options, Files &files) {
  if (auto failure = loadModel(path.str(), files.model))
    return makeError(failure->message);
  GraphProto &graph = *files.model.mutable_graph();
  std::unique_ptr<ExporterMetadata> metadata =
      readExporterMetadata(files.model);
  if (metadata)
    restoreParameters(graph, *metadata);
  files.tied = graph;
  if (options.ties)
    files.ties = tieWeights(files.tied, data, metadata.get());
  return llvm::Error::success();
}

static llvm::Error fillAll(Files &files, const TensorData &data,
                           const Safetensors &values, const ParameterList &list,
                           StringRef weights) {
  for (const ListedValue &value : list.values)
    if (value.isTrained && !values.tensors().count(value.name))
      return makeError("parameter '" + value.name + "': expected it in '" +
                       weights + "', found none");
  Filler filler(*files.model.mutable_graph(), data, values);
  for (const auto &[name, value] : values.tensors())
    if (llvm::Error error = filler.fill(name))
      return inFile("'" + weights + "': value '" + name + "'",
                    std::move(error));
  for (const TiedWeight &tie : files.ties)
    if (values.tensors().count(tie.of))
      if (llvm::Error error =
              filler.fillTied(tie.name, tie.of, isTurned(files.tied, tie.name)))
        return inFile("tensor '" + tie.name + "'", std::move(error));
  return llvm::Error::success();
}

std::optional<TrainedModelReport>
ffc::exportTrained(MLIRContext &context, StringRef path, StringRef weights,
                   bool averages, StringRef output,
                   const ImportOptions &options) {
  auto report = [&](llvm::Error error) -> std::optional<TrainedModelReport> {
    emitError(FileLineColLoc::get(&context, path, 0, 0))
        << llvm::toString(std::move(error));
    return std::nullopt;
  };
  for (const std::string &file : {output.str(), (output + ".data").str()})
    if (llvm::Error error = checkOutput(file))
      return report(std::move(error));
  // What is wrong with the model is said as ever.
  std::optional<ParameterList> list = listParameters(context, path, options);
  if (!list)
    return std::nullopt;
  TrainedModelReport result;
  llvm::Expected<std::vector<std::string>> paths =
      parameterFiles(weights, result.weights);
  if (!paths)
    return report(paths.takeError());
  Safetensors values;
  std::set<std::string> averaged;
  if (averages) {
    llvm::Expected<std::vector<std::string>> means =
        averageFiles(result.weights);
    if (!means)
      return report(means.takeError());
    for (const std::string &file : *means)
      if (llvm::Error error = values.add(file))
        return report(std::move(error));
    for (const auto &[name, tensor] : values.tensors())
      averaged.insert(name);
  }
  for (const std::string &file : *paths)
    if (llvm::Error error = values.add(file, averaged))
      return report(std::move(error));
  const TensorData data(path);
  Files files;
  if (llvm::Error error = readFiles(path, data, options, files))
    return report(std::move(error));
  if (llvm::Error error = fillAll(files, data, values, *list, result.weights))
    return report(std::move(error));
  llvm::Expected<std::string> place = placeTensors(files.model, data, output);
  if (!place)
    return report(place.takeError());
  result.dataPath = *place;
  result.values = int64_t(values.tensors().size());
  if (llvm::Error error = writeModel(files.model, output))
    return report(std::move(error));
  return result;
}
