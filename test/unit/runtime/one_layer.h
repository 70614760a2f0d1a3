//===- one_layer.h - a program of one layer ---------------------*- C++ -*-===//
#ifndef FFRT_TEST_ONE_LAYER_H
#define FFRT_TEST_ONE_LAYER_H

#include "ffrt/error.h"
#include "ffrt/reshard.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ffrt_test {

using namespace ffrt;
using namespace ffrt::words;

/// Writes down what it is asked for.
class NotedComm final : public Comm {
public:
  int rank() const override { return 1; }
  int size() const override { return 2; }
  bool exchanges_in_order() const override { return false; }
  Group make_group(const std::vector<int> &members) override {
    return {groups++, members};
  }
  Event exchange(const char *task, int tag, const std::vector<Message> &sends,
                 const std::vector<Message> &receives) override {
    std::string line =
        std::string("exchange ") + task + " tag " + std::to_string(tag);
    for (const Message &message : sends)
      line += " to " + std::to_string(message.peer);
    for (const Message &message : receives)
      line += " from " + std::to_string(message.peer);
    return note(line);
  }
  Event all_reduce(const char *task, const Group &group, Tensor data,
                   ReduceOp op, CollectiveAlgorithm algorithm) override {
    return note(std::string("all_reduce ") + task + " group " +
                std::to_string(group.id) + " of " +
                std::to_string(data.elements()) + " op " +
                std::to_string(int(op)) + " by " +
                std::to_string(int(algorithm)));
  }
  Event all_gather(const char *task, const Group &, Tensor part,
                   Tensor whole) override {
    return note(std::string("all_gather ") + task + " " +
                std::to_string(part.elements()) + " -> " +
                std::to_string(whole.elements()));
  }
  Event reduce_scatter(const char *task, const Group &, Tensor whole,
                       Tensor part, ReduceOp) override {
    return note(std::string("reduce_scatter ") + task + " " +
                std::to_string(whole.elements()) + " -> " +
                std::to_string(part.elements()));
  }
  Event broadcast(const char *task, const Group &, int root, Tensor) override {
    return note(std::string("broadcast ") + task + " root " +
                std::to_string(root));
  }
  void start_together(int count) override {
    said.push_back(std::to_string(count) + " start together");
  }
  void wait(Event event) override {
    said.push_back("wait " + std::to_string(event.id));
  }
  void barrier() override {}

  std::vector<std::string> said;

private:
  Event note(std::string text) {
    said.push_back(std::move(text));
    return {int(said.size()) - 1};
  }
  void end_ranks(const char *, const char *) override {}
  int groups = 0;
};

class NotedProbe final : public Probe {
public:
  void offer(const char *name, const Tensor &tensor) override {
    said.push_back(name + (" " + std::to_string(tensor.elements())));
  }
  std::vector<std::string> said;
};

/// Adds a number to all elements.
class AddNumber {
public:
  AddNumber(Context &, Tensors in, Tensors, double number)
      : elements(in.begin()->elements()), number(float(number)) {}
  void operator()(Tensors in, Tensors out) {
    EXPECT_EQ(in.size(), 2u);
    EXPECT_EQ((in.begin() + 1)->data, nullptr) << "absent";
    accumulating += out.begin()->accumulates;
    for (int64_t i = 0; i < elements; ++i)
      out.begin()->as<float>()[i] = in.begin()->as<float>()[i] + number;
  }

  static inline int accumulating = 0; ///< calls whose result does

private:
  int64_t elements;
  float number;
};
struct AddLayer : Layer {
  AddLayer(Program &program, std::size_t number, double by)
      : Layer(program, number), by(by) {}
  const double by;
  Shards x = shards();
  Shards y = shards();
  Kernel<AddNumber> add{*this, {x, absent}, {y}, by};
  Dump dump{*this};
  Reshard reshard{*this};
};

/// A program of one layer, whose rows are `numbers`.
class OneLayer : public testing::Test {
protected:
  struct Made final : Program {
    Made(Host &host, const Tables &tables) : Program(host, tables) {}
    void step() override {}
    void adds() {
      layer.add.next();
      layer.dump.next();
    }
    void moves() { layer.reshard.next(); }
    AddLayer layer{*this, 0, 10.0};
  };

  Made &make(std::vector<int64_t> ofLayer, std::vector<int64_t> row = {},
             std::vector<int64_t> passes = {}) {
    own_numbers = std::move(row);
    numbers = {4,
               /*0*/ arena,
               0,
               words::f32,
               words::row_major,
               2,
               2,
               2,
               0,
               0,
               4,
               2,
               /*1*/ arena,
               16,
               words::f32,
               words::row_major,
               2,
               2,
               2,
               2,
               0,
               4,
               2,
               /*2*/ arena,
               32,
               words::f32,
               words::row_major,
               2,
               2,
               2,
               0,
               0,
               4,
               2,
               /*3*/ words::state,
               0,
               words::f32,
               words::row_major,
               2,
               2,
               2,
               2,
               0,
               4,
               2,
               /*states*/ 1,
               0,
               3,
               /*inputs*/ 1,
               0,
               1,
               /*loss*/ none,
               /*layers*/ 1,
               int64_t(ofLayer.size())};
    numbers.insert(numbers.end(), ofLayer.begin(), ofLayer.end());
    numbers.push_back(int64_t(passes.size()));
    numbers.insert(numbers.end(), passes.begin(), passes.end());
    tables.groups = {{0, 1}, {1}};
    tables.operators = {"add", "next"};
    tables.transfers = {"next <- add"};
    tables.inputs = {"x"};
    tables.outputs = {"out/y"};
    tables.states = {{"w", StateKind::parameter, {Init::constant, 1.0}}};
    tables.classes = {{numbers.data(), numbers.size(), own_numbers.data(),
                       own_numbers.size()}};
    tables.places = {{0, 0}, {0, 0}};
    context.rank = 1;
    made = std::make_unique<Made>(host, tables);
    return *made;
  }
  /// The error that it is made with.
  std::string fail(std::vector<int64_t> ofLayer) {
    try {
      make(std::move(ofLayer)).tasks();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  }

  std::array<float, 12> arena_memory{};
  std::array<float, 4> state_memory{};
  Context context;
  NotedComm comm;
  NotedProbe probe;
  Section section(float *memory) {
    auto *bytes = reinterpret_cast<std::byte *>(memory);
    return {bytes, bytes, 0};
  }
  Host host{context,
            comm,
            probe,
            section(state_memory.data()),
            section(arena_memory.data()),
            nullptr};
  Tables tables;
  std::vector<int64_t> numbers, own_numbers;
  std::unique_ptr<Made> made;
};

} // namespace ffrt_test

#endif // FFRT_TEST_ONE_LAYER_H
