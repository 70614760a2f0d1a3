//===- StepMemory.cpp - what a strategy needs on every device -------------===//

#include "ffc/Plan/StepMemory.h"

#include "BufferLives.h"
#include "ffc/Plan/Arena.h"

#include <algorithm>

using namespace ffc::plan;

namespace {
/// What is in use, moment by moment.
class Account {
public:
  explicit Account(const BufferLives &lives) : lives(lives) {
    const size_t moments = static_cast<size_t>(lives.numMoments()) + 1;
    begins.resize(moments + 1);
    ends.resize(moments + 1);
    const auto &buffers = lives.arena();
    // Counting sorts of numbers, by moment.
    for (const BufferLives::Buffer &buffer : buffers)
      if (buffer.first <= buffer.last) {
        ++begins[buffer.first + 1];
        ++ends[buffer.last + 1];
      }
    for (size_t m = 0; m < moments; ++m) {
      begins[m + 1] += begins[m];
      ends[m + 1] += ends[m];
    }
    beginning.resize(buffers.size());
    ending.resize(buffers.size());
    std::vector<size_t> nextBegin = begins, nextEnd = ends;
    for (size_t b = 0; b < buffers.size(); ++b) {
      if (buffers[b].first > buffers[b].last)
        continue;
      beginning[nextBegin[buffers[b].first]++] = b;
      ending[nextEnd[buffers[b].last]++] = b;
    }
  }

  /// For every moment, calls begin(buffer) and stage(device, bytes) for what is
  /// in use from it on, or only in it, then look(), then end(buffer) for what
  /// is not in use any more.
  template <class Begin, class Stage, class Look, class End>
  void walk(Begin begin, Stage stage, Look look, End end) const {
    const auto &buffers = lives.arena();
    const auto &staging = lives.staging();
    size_t next = 0;
    for (int m = 0; m <= lives.numMoments(); ++m) {
      for (size_t i = begins[m]; i < begins[m + 1]; ++i)
        begin(buffers[beginning[i]]);
      for (; next < staging.size() && staging[next].at == m; ++next)
        stage(staging[next].device, staging[next].bytes);
      look();
      for (size_t i = ends[m]; i < ends[m + 1]; ++i)
        end(buffers[ending[i]]);
    }
  }

private:
  const BufferLives &lives;
  std::vector<size_t> begins, ends; ///< by moment: where in the lists below
  std::vector<size_t> beginning, ending;
};
} // namespace

std::vector<int64_t> ffc::plan::mostBytes(const BufferLives &lives,
                                          int numDevices) {
  std::vector<int64_t> now(numDevices), most, more(now.size());
  for (const BufferLives::Buffer &state : lives.states())
    now[state.part.device] += state.part.bytes;
  most = now;
  std::vector<DeviceId> staged;
  Account(lives).walk(
      [&](const BufferLives::Buffer &buffer) {
        const DeviceId device = buffer.part.device;
        now[device] += buffer.part.bytes;
        most[device] = std::max(most[device], now[device]);
      },
      [&](DeviceId device, int64_t bytes) {
        more[device] += bytes;
        staged.push_back(device);
      },
      [&] {
        for (DeviceId d : staged) {
          most[d] = std::max(most[d], now[d] + more[d]);
          more[d] = 0;
        }
        staged.clear();
      },
      [&](const BufferLives::Buffer &buffer) {
        now[buffer.part.device] -= buffer.part.bytes;
      });
  return most;
}

std::vector<int64_t>
ffc::plan::stepMemory(SegmentTable &table,
                      const std::vector<ConfigId> &configs) {
  return mostBytes(BufferLives(table, configs), table.numDevices());
}

int64_t ffc::plan::memoryCeiling(const Graph &graph, int numDevices) {
  auto inBuffer = [](const TensorType &type) {
    return type.bytes() + kBufferAlignment;
  };
  int64_t bytes = 0;
  for (const Value &value : graph.values)
    bytes +=
        (1 + static_cast<int64_t>(value.uses.size())) * inBuffer(value.type);
  for (const Op &op : graph.ops)
    for (const TensorType &internal : op.rules.internals)
      bytes += inBuffer(internal);
  return 2 * numDevices * bytes;
}

/// What a buffer of a value is counted as.
static int64_t MemoryParts::*partOf(const Graph &graph, ValueId id) {
  const Value &value = graph.value(id);
  auto isOfUpdate = [&](Use use) {
    return graph.op(use.op).role == OpRole::Update;
  };
  if (value.kind == ValueKind::State)
    return !value.uses.empty() &&
                   std::all_of(value.uses.begin(), value.uses.end(), isOfUpdate)
               ? &MemoryParts::optimizer
               : &MemoryParts::parameters;
  if (value.producer < 0)
    return &MemoryParts::activations;
  const OpRole role = graph.op(value.producer).role;
  if (role == OpRole::Update)
    return &MemoryParts::parameters;
  return role == OpRole::Gradient &&
                 std::any_of(value.uses.begin(), value.uses.end(), isOfUpdate)
             ? &MemoryParts::gradients
             : &MemoryParts::activations;
}

MemoryParts ffc::plan::largestMemory(SegmentTable &table,
                                     const std::vector<ConfigId> &configs) {
  const BufferLives lives(table, configs);
  const std::vector<int64_t> bytes = mostBytes(lives, table.numDevices());
  const auto device = static_cast<DeviceId>(
      std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
  const Graph &graph = table.graph();
  MemoryParts now, most;
  auto count = [&](const BufferLives::Buffer &buffer, int64_t sign) {
    if (buffer.part.device == device)
      now.*partOf(graph, buffer.value) += sign * buffer.part.bytes;
  };
  for (const BufferLives::Buffer &state : lives.states())
    count(state, 1);
  most = now;
  int64_t staged = 0;
  Account(lives).walk(
      [&](const BufferLives::Buffer &buffer) { count(buffer, 1); },
      [&](DeviceId of, int64_t more) {
        if (of == device)
          staged += more;
      },
      [&] {
        if (now.total() + std::max<int64_t>(staged, 0) > most.total()) {
          most = now;
          most.activations += std::max<int64_t>(staged, 0);
        }
        staged = 0;
      },
      [&](const BufferLives::Buffer &buffer) { count(buffer, -1); });
  return most;
}
