//===- dump.cpp - global values into .npy files ---------------------------===//
#include "common/data/dump.h"

#include "common/copy/host_copy.h"
#include "common/data/file.h"
#include "common/data/names.h"
#include "common/data/npy.h"
#include "common/device/host_tensor.h"
#include "common/elementwise/cast.h"
#include "common/program/together.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

namespace ffrt {

namespace {

constexpr int kTag = 7001;

bool same_box(const Index &a, const Index &b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// A row-major tensor over `bytes`.
Tensor tensor_of(DType type, int rank, const Index &lo, const Index &shape,
                 const Index &global, void *bytes) {
  Tensor t;
  t.data = bytes;
  t.type = type;
  t.rank = rank;
  t.shape = shape;
  t.lo = lo;
  t.global = global;
  return t;
}

/// Elements of bf16 or f16 as f32.
std::vector<std::byte> widened(const std::vector<std::byte> &bytes,
                               DType type) {
  const std::size_t n = bytes.size() / size_of(type);
  std::vector<std::byte> result(n * sizeof(float));
  with_float(type, [&](auto *element) {
    using T = std::remove_pointer_t<decltype(element)>;
    for (std::size_t i = 0; i < n; ++i) {
      T narrow;
      std::memcpy(&narrow, &bytes[i * sizeof narrow], sizeof narrow);
      const float wide = narrow;
      std::memcpy(&result[i * sizeof wide], &wide, sizeof wide);
    }
  });
  return result;
}

int64_t count_of(int rank, const Index &shape) {
  int64_t n = 1;
  for (int d = 0; d < rank; ++d)
    n *= shape[d];
  return n;
}

/// What is bf16 or f16 is f32 in files.
DType type_in_file(DType type) {
  return is_low_precision(type) ? DType::f32 : type;
}

/// Entries past the rank are not part of a box.
Index cut(int rank, const Index &values) {
  Index result;
  for (int d = 0; d < rank; ++d)
    result[d] = values[d];
  return result;
}

} // namespace

Dump::Piece Dump::keep(const Tensor &on_device) {
  const HostTensor copy(on_device, HostTensor::Contents::copied);
  const Tensor &t = copy.tensor();
  Piece piece{cut(t.rank, t.lo), cut(t.rank, t.shape), {}};
  piece.bytes.resize(std::size_t(t.elements()) * size_of(t.type));
  if (piece.bytes.empty())
    return piece;
  copy_on_host(
      tensor_of(t.type, t.rank, t.lo, t.shape, t.global, piece.bytes.data()),
      {}, t, {}, t.shape);
  if (is_low_precision(t.type))
    piece.bytes = widened(piece.bytes, t.type);
  return piece;
}

void Dump::record_batch(int64_t first, int64_t count) {
  recording = true;
  first_sample = first;
  samples = count;
}

bool Dump::batched(const std::string &name) const {
  for (const OutputInfo &output : info.outputs)
    if (name == output.name)
      return output.rank > 0 && output.shape[0] == info.batch &&
             name.compare(0, 4, "out/") == 0;
  return false;
}

void Dump::offer(const char *name, const Tensor &tensor) {
  if (!recording || !tensor.data)
    return;
  std::vector<Piece> &pieces = offered[name];
  Tensor t = tensor;
  const bool rows = samples > 0 && batched(name);
  if (rows)
    t.shape[0] = std::min(t.shape[0], samples - first_sample - t.lo[0]);
  if (rows && t.shape[0] <= 0)
    return;
  Piece piece = keep(t);
  if (rows) {
    piece.lo[0] += first_sample;
    pieces.push_back(std::move(piece));
    return;
  }
  for (Piece &old : pieces)
    if (same_box(old.lo, piece.lo) && same_box(old.shape, piece.shape)) {
      old = std::move(piece);
      return;
    }
  pieces.push_back(std::move(piece));
}

void Dump::unscale_gradients() {
  const std::string name = "loss_scale", gradients = "grad/";
  if (std::none_of(
          info.outputs.begin(), info.outputs.end(),
          [&](const OutputInfo &output) { return name == output.name; }))
    return;
  Real scale = 0; // not every rank has it
  for (const Piece &piece : offered[name])
    std::memcpy(&scale, piece.bytes.data(), sizeof scale);
  comm.wait(
      comm.all_reduce("dump", world, flat(&scale, kReal, 1), ReduceOp::max));
  for (auto &[output, pieces] : offered)
    if (output.compare(0, gradients.size(), gradients) == 0)
      for (Piece &piece : pieces)
        for (std::size_t at = 0; at < piece.bytes.size(); at += sizeof(Real)) {
          Real value;
          std::memcpy(&value, &piece.bytes[at], sizeof value);
          value /= scale;
          std::memcpy(&piece.bytes[at], &value, sizeof value);
        }
}

void Dump::send(int rank, DType type, const std::vector<Piece> &pieces) {
  std::vector<int64_t> boxes;
  std::vector<std::byte> bytes;
  for (const Piece &p : pieces) {
    boxes.insert(boxes.end(), p.lo.v, p.lo.v + rank);
    boxes.insert(boxes.end(), p.shape.v, p.shape.v + rank);
    bytes.insert(bytes.end(), p.bytes.begin(), p.bytes.end());
  }
  const int64_t elements = int64_t(bytes.size() / size_of(type));
  comm.wait(
      comm.exchange("dump", kTag,
                    {{0, flat(boxes.data(), DType::i64, int64_t(boxes.size()))},
                     {0, flat(bytes.data(), type, elements)}},
                    {}));
}

std::vector<Dump::Piece> Dump::receive(int peer, int rank, DType type,
                                       int64_t count) {
  std::vector<int64_t> boxes(std::size_t(count * 2 * rank));
  comm.wait(comm.exchange(
      "dump", kTag, {},
      {{peer, flat(boxes.data(), DType::i64, int64_t(boxes.size()))}}));
  std::vector<Piece> pieces(static_cast<std::size_t>(count));
  const int64_t *at = boxes.data();
  int64_t total = 0;
  for (Piece &p : pieces) {
    std::copy_n(at, rank, p.lo.v);
    std::copy_n(at + rank, rank, p.shape.v);
    at += 2 * rank;
    p.bytes.resize(std::size_t(count_of(rank, p.shape)) * size_of(type));
    total += count_of(rank, p.shape);
  }
  std::vector<std::byte> bytes(std::size_t(total) * size_of(type));
  comm.wait(comm.exchange("dump", kTag, {},
                          {{peer, flat(bytes.data(), type, total)}}));
  const std::byte *from = bytes.data();
  for (Piece &p : pieces) {
    std::copy_n(from, p.bytes.size(), p.bytes.data());
    from += p.bytes.size();
  }
  return pieces;
}

void Dump::write_value(const std::string &folder, const std::string &path,
                       const Value &value, const std::vector<Piece> &pieces,
                       const std::function<void(const Tensor &)> &begin) {
  const auto &[type, rank, shape] = value;
  std::vector<int64_t> counts(static_cast<std::size_t>(comm.size()));
  int64_t mine = int64_t(pieces.size());
  comm.wait(comm.all_gather("dump", world, flat(&mine, DType::i64, 1),
                            flat(counts.data(), DType::i64, comm.size())));
  std::string cause;
  if (comm.rank() != 0) {
    if (mine > 0)
      send(rank, type, pieces);
  } else {
    const std::size_t total = std::size_t(count_of(rank, shape));
    std::vector<std::byte> whole(total * size_of(type));
    std::vector<uint8_t> covered(total), ones;
    const Tensor all = tensor_of(type, rank, {}, shape, shape, whole.data());
    const Tensor coverage =
        tensor_of(DType::u8, rank, {}, shape, shape, covered.data());
    for (int peer = 0; peer < comm.size(); ++peer) {
      if (counts[peer] == 0)
        continue;
      for (Piece p :
           peer == 0 ? pieces : receive(peer, rank, type, counts[peer])) {
        if (p.bytes.empty())
          continue;
        ones.assign(p.bytes.size() / size_of(type), 1);
        copy_on_host(
            all, p.lo,
            tensor_of(type, rank, p.lo, p.shape, shape, p.bytes.data()), {},
            p.shape);
        copy_on_host(
            coverage, p.lo,
            tensor_of(DType::u8, rank, p.lo, p.shape, shape, ones.data()), {},
            p.shape);
      }
    }
    const std::size_t missing =
        std::size_t(std::count(covered.begin(), covered.end(), 0));
    try {
      if (missing > 0 && !(begin && is_unchanged(whole, covered, value, begin)))
        throw Error("'" + path + "': expected all of " + std::to_string(total) +
                    " elements, found " + std::to_string(total - missing));
      const std::string file = folder + "/" + path + ".npy";
      make_folder(file.substr(0, file.find_last_of('/')));
      write_npy(file, type, rank, shape, whole.data());
    } catch (const Error &e) {
      cause = e.what();
    }
  }
  agree(comm, world, "dump", cause);
}

bool Dump::is_unchanged(std::vector<std::byte> &whole,
                        const std::vector<uint8_t> &covered, const Value &value,
                        const std::function<void(const Tensor &)> &begin) {
  const auto &[type, rank, shape] = value;
  std::vector<std::byte> begun(whole.size());
  begin(tensor_of(type, rank, {}, shape, shape, begun.data()));
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i < covered.size(); ++i)
    if (covered[i] && std::memcmp(&whole[i * size], &begun[i * size], size))
      return false;
  whole = std::move(begun);
  return true;
}

std::map<std::string, Dump::Parameter>
Dump::all_parameters(const std::vector<StateSlot> &states) {
  std::ostringstream mine;
  for (const StateSlot &slot : states) {
    if (!slot.parameter)
      continue;
    const Tensor &t = slot.tensor;
    mine << int(t.type) << ' ' << t.rank;
    for (int d = 0; d < t.rank; ++d)
      mine << ' ' << t.global[d];
    const Init &init = slot.init;
    uint64_t bits;
    std::memcpy(&bits, &init.value, sizeof bits);
    mine << ' ' << int(init.kind) << ' ' << bits << ' ' << init.offset << ' '
         << slot.name << '\n';
  }
  std::string text = mine.str();
  int64_t size = int64_t(text.size());
  comm.wait(comm.all_reduce("dump", world, flat(&size, DType::i64, 1),
                            ReduceOp::max));
  text.resize(std::size_t(size), '\n');
  std::string all(text.size() * std::size_t(comm.size()), '\n');
  comm.wait(comm.all_gather("dump", world, flat(text.data(), DType::u8, size),
                            flat(all.data(), DType::u8, int64_t(all.size()))));
  std::map<std::string, Parameter> parameters;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty())
      continue;
    std::istringstream words(line);
    Value value{DType::f32, 0, {}};
    Init init;
    int type = 0, kind = 0;
    uint64_t bits = 0;
    words >> type >> value.rank;
    value.type = DType(type);
    for (int d = 0; d < value.rank; ++d)
      words >> value.shape[d];
    words >> kind >> bits >> init.offset;
    init.kind = Init::Kind(kind);
    std::memcpy(&init.value, &bits, sizeof bits);
    std::string name;
    std::getline(words.ignore(1), name);
    parameters.emplace(name, Parameter{value, init});
  }
  return parameters;
}

void Dump::write(const std::string &folder,
                 const std::vector<StateSlot> &states,
                 const std::vector<double> &losses, const Begin &begin) {
  const std::map<std::string, Parameter> parameters = all_parameters(states);
  std::map<std::string, std::string> owners;
  std::string cause;
  auto claim = [&](const std::string &path, const std::string &name) {
    auto [at, fresh] = owners.emplace(path, name);
    if (!fresh && at->second != name)
      cause = "expected one value per file, found '" + at->second + "' and '" +
              name + "' for '" + path + ".npy'";
    return path;
  };
  for (const OutputInfo &output : info.outputs)
    claim(dump_path(output.name), output.name);
  for (const auto &[name, parameter] : parameters)
    claim("param/" + file_name(name), name);
  if (info.training)
    claim("loss", "the losses");
  agree(comm, world, "dump", cause);

  unscale_gradients();
  for (const OutputInfo &o : info.outputs) {
    Value value{type_in_file(o.type), o.rank, o.shape};
    if (samples > 0 && batched(o.name))
      value.shape[0] = samples;
    write_value(folder, dump_path(o.name), value, offered[o.name], nullptr);
  }
  for (const auto &entry : parameters) {
    const std::string &name = entry.first;
    const Init &init = entry.second.init;
    std::vector<Piece> pieces;
    for (const StateSlot &slot : states)
      if (slot.parameter && name == slot.name)
        pieces.push_back(keep(slot.tensor));
    write_value(folder, "param/" + file_name(name), entry.second.value, pieces,
                [&](const Tensor &t) {
                  begin({name.c_str(), true, init, t});
                });
  }
  offered.clear();
  recording = false;
  if (!info.training)
    return;
  together(comm, world, "dump", [&] {
    if (comm.rank() != 0)
      return;
    make_folder(folder);
    write_npy(folder + "/loss.npy", DType::f64, 1,
              Index{int64_t(losses.size())}, losses.data());
  });
}

} // namespace ffrt
