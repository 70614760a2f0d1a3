//===- checkpoint_test.cpp - the state of ranks in files ------------------===//
#include "common/checkpoint/checkpoint.h"

#include "common/checkpoint/box_rows.h"
#include "common/checkpoint/checkpoint_writer.h"
#include "common/checkpoint/checksum.h"
#include "common/program/together.h"
#include "data_fixture.h"
#include "thread_comm.h"

#include <deque>
#include <map>
#include <numeric>
#include <random>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// What a rank has: boxes of values, whose elements are their numbers in the
/// value and an offset.
class State {
public:
  void add(const char *name, bool parameter, const Shape &global,
           const Box &box, double offset, Order order = Order::row_major) {
    Value value(global);
    std::iota(value.data.begin(), value.data.end(), offset);
    tiles.emplace_back(value, box, order);
    slots.push_back({name,
                     parameter ? StateKind::parameter : StateKind::slot,
                     {Init::constant, 0.5, 0},
                     tiles.back().tensor});
  }
  std::vector<StateSlot> slots;

private:
  std::deque<Tile> tiles;
};

Record record_of(int64_t step) {
  Record record;
  record.step = step;
  record.samples = step * 4;
  record.seed = 0xfedcba9876543210u;
  record.rate = {parse_rate_form("cosine:7"), 0.1, 0.01, 3, 100};
  record.weight_decay = 0.25;
  record.groups = {parse_group("*bias: wd=0")};
  record.model = "model";
  record.ranks = 3;
  record.micro_batches = 1;
  record.batch = 4;
  return record;
}

/// Rows of 7 on three ranks, the middle ones on two of them; columns; a value
/// that all have; one that nobody has all of; a slot of rank 0 only.
State state_of(int rank) {
  State state;
  const int64_t first[] = {0, 2, 4}, count[] = {3, 3, 3};
  state.add("rows", true, {7, 4}, {{first[rank], 0}, {count[rank], 4}}, 0);
  state.add("columns", true, {2, 6}, {{0, 2 * rank}, {2, 2}}, 100);
  state.add("all", true, {2, 3, 2, 2}, {{0, 0, 0, 0}, {2, 3, 2, 2}}, 200,
            Order::channels_last);
  if (rank == 0) {
    state.add("part", true, {4}, {{1}, {2}}, 300);
    state.add("rows/moment", false, {1}, {{0}, {1}}, 400);
    state.add("part/ema", false, {4}, {{0}, {4}}, 500);
  }
  return state;
}

void begin(const StateSlot &slot) {
  std::fill_n(slot.tensor.as<float>(), slot.tensor.elements(), -1.0f);
}

TEST_F(Data, EveryElementHasOneHome) {
  for (int ranks : {1, 2, 3, 4}) {
    std::mutex mutex;
    std::mt19937 random(static_cast<unsigned>(ranks));
    // Boxes of any kind, which overlap.
    std::vector<Box> boxes;
    for (int rank = 0; rank < ranks; ++rank) {
      const int64_t i = random() % 5, j = random() % 4;
      boxes.push_back({{i, j},
                       {int64_t(1 + random() % std::size_t(5 - i)),
                        int64_t(1 + random() % std::size_t(4 - j))}});
    }
    std::map<std::vector<int64_t>, int> homes;
    on_threads(ranks, [&](ThreadComm &comm) {
      State state;
      state.add("x", true, {5, 4}, boxes[std::size_t(comm.rank())], 0);
      const GlobalState global(comm, comm.world(), state.slots);
      std::lock_guard<std::mutex> lock(mutex);
      for (const Cell &home : global.homes()) {
        if (!home.slot) {
          EXPECT_EQ(comm.rank(), 0);
        }
        for (int64_t i = 0; i < home.shape[0]; ++i)
          for (int64_t j = 0; j < home.shape[1]; ++j)
            ++homes[{home.lo[0] + i, home.lo[1] + j}];
      }
    });
    EXPECT_EQ(homes.size(), 20u);
    for (const auto &[index, count] : homes)
      EXPECT_EQ(count, 1);
  }
}

TEST_F(Data, CheckpointOfThreeRanksReadByOne) {
  on_threads(3, [&](ThreadComm &comm) {
    const State state = state_of(comm.rank());
    const Group world = comm.world();
    const GlobalState global(comm, world, state.slots);
    const auto mine = open_checkpoint_folder(comm, world, folder);
    CheckpointWriter writer(comm, world, global, folder, mine.get(), 2, begin);
    for (int64_t step : {10, 20, 30})
      writer.write(record_of(step), {0.5, 0.25});
    writer.finish();
  });
  EXPECT_EQ(checkpoints_in(folder), (std::vector<int64_t>{20, 30}));
  const Checkpoint checkpoint(newest_checkpoint(folder));
  checkpoint.verify(0, 1);
  const Record &record = checkpoint.record();
  EXPECT_EQ(record.seed, 0xfedcba9876543210u);
  EXPECT_EQ(to_string(record.rate.form), "cosine:7");
  ASSERT_EQ(record.groups.size(), 1u);
  EXPECT_EQ(to_string(record.groups[0]), "*bias: wd=0");
  const auto value = [&](const char *name, bool parameter, Shape shape) {
    const Tile t = blank(shape, {Shape(shape.size(), 0), shape});
    checkpoint.load(name, parameter, t);
    return t;
  };
  const Tile rows = value("rows", true, {7, 4});
  EXPECT_EQ(rows.get({4, 3}), 19.0);
  EXPECT_EQ(value("columns", true, {2, 6}).get({1, 4}), 110.0);
  EXPECT_EQ(value("all", true, {2, 3, 2, 2}).get({1, 2, 0, 1}), 221.0);
  const Tile part = value("part", true, {4});
  EXPECT_EQ(part.get({0}), -1.0);
  EXPECT_EQ(part.get({2}), 302.0);
  EXPECT_EQ(value("rows/moment", false, {1}).get({0}), 400.0);
  // Running means have files of their own, by the names of the parameters.
  EXPECT_EQ(value("part/ema", false, {4}).get({1}), 501.0);
  const Tile of = blank({4}, {{0}, {4}});
  open_parameters(folder, true)->load("part", true, of);
  EXPECT_EQ(of.get({1}), 501.0);
  const Tile without = blank({7, 4}, {{0, 0}, {7, 4}});
  open_parameters(folder, true)->load("rows", true, without);
  EXPECT_EQ(without.get({4, 3}), 19.0);
  open_parameters(folder)->load("part", true, of);
  EXPECT_EQ(of.get({2}), 302.0);
  std::filesystem::remove(newest_checkpoint(folder) + "/ema.safetensors");
  EXPECT_EQ(error_of([&] { open_parameters(folder, true); }),
            "--ema: expected ema.safetensors in 'DIR/step-00000030', found "
            "none; ffc --ema=DECAY makes programs that write it");
}

TEST_F(Data, ConstantsAreNotSaved) {
  // Which there are may depend on how the program was compiled.
  on_threads(1, [&](ThreadComm &comm) {
    State state;
    state.add("w", true, {2}, {{0}, {2}}, 0);
    StateSlot constant = state.slots[0], copy = constant;
    constant.name = "mask";
    constant.kind = copy.kind = StateKind::constant;
    copy.name = "w.bf16";
    copy.of = "w";
    state.slots.push_back(constant);
    state.slots.push_back(copy);
    const GlobalState global(comm, comm.world(), state.slots);
    ASSERT_EQ(global.values().size(), 1u);
    EXPECT_EQ(global.values()[0].name, "w");
  });
}

TEST_F(Data, CheckpointOfAnotherModel) {
  on_threads(1, [&](ThreadComm &comm) {
    State state;
    state.add("w", true, {2}, {{0}, {2}}, 0);
    state.add("w/moment", false, {2}, {{0}, {2}}, 0);
    const Group world = comm.world();
    const GlobalState global(comm, world, state.slots);
    const auto mine = open_checkpoint_folder(comm, world, folder);
    CheckpointWriter writer(comm, world, global, folder, mine.get(), 2, begin);
    writer.write(record_of(1), {0.5});
    writer.finish();
  });
  const Checkpoint checkpoint(newest_checkpoint(folder));
  const auto error = [&](const std::vector<GlobalValue> &values) {
    return error_of([&] { checkpoint.expect_values(values); });
  };
  const GlobalValue w = {"w", true, DType::f32, 1, {2}, {}},
                    moment = {"w/moment", false, DType::f32, 1, {2}, {}},
                    other = {"v", true, DType::f32, 1, {2}, {}},
                    wide = {"w", true, DType::f32, 2, {2, 1}, {}};
  const std::string what = "'DIR/step-00000001': expected ",
                    why = "; it is of another model or optimizer";
  EXPECT_EQ(error({w, moment}), "no error");
  EXPECT_EQ(error({other, w, moment}),
            what + "parameter 'v', found none" + why);
  EXPECT_EQ(error({wide, moment}),
            what + "parameter 'w' of shape [2, 1], found shape [2]" + why);
  EXPECT_EQ(error({w}),
            what + "no value of the optimizer 'w/moment', found one" + why);
  EXPECT_EQ(checkpoint.losses(), std::vector<double>{0.5});
}

TEST_F(Data, DamagedCheckpoints) {
  on_threads(2, [&](ThreadComm &comm) {
    State state;
    state.add("w", true, {8}, {{4 * comm.rank()}, {4}}, 0);
    const Group world = comm.world();
    const GlobalState global(comm, world, state.slots);
    const auto mine = open_checkpoint_folder(comm, world, folder);
    CheckpointWriter writer(comm, world, global, folder, mine.get(), 2, begin);
    writer.write(record_of(1), {0.5});
    writer.finish();
  });
  const std::string checkpoint = newest_checkpoint(folder);
  const auto error = [&] {
    return error_of([&] { Checkpoint(checkpoint).verify(0, 1); });
  };
  EXPECT_EQ(error(), "no error");
  const std::string file = checkpoint + "/model.safetensors";
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(-1, std::ios::end);
    stream.put('\x01');
  }
  EXPECT_EQ(error(), "'DIR/step-00000001/model.safetensors': 'w': expected the "
                     "values that were written, found others; the file is "
                     "damaged");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 4);
  EXPECT_NE(error().find("tensor 'w': expected bytes up to 28"),
            std::string::npos);
  std::filesystem::remove(file);
  EXPECT_EQ(error(), "cannot open 'DIR/step-00000001/model.safetensors': No "
                     "such file or directory");
  const std::string record = checkpoint + "/checkpoint.json";
  const std::string text = read_file(record);
  const auto changed = [&](const std::string &from, const std::string &to) {
    std::string other = text;
    const std::size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    std::ofstream(record) << other.replace(at, from.size(), to);
    return error_of([&] { read_record(record); });
  };
  const std::string where = "'DIR/step-00000001/checkpoint.json': expected ";
  EXPECT_EQ(changed("\"format\": \"ffc checkpoint\"", "\"format\": \"x\""),
            where + "\"format\": \"ffc checkpoint\", found \"x\"");
  EXPECT_EQ(changed("\"version\": 2", "\"version\": 1"),
            where + "version 2, found 1; another ffc has written it");
  EXPECT_EQ(changed("\"cosine:7\"", "\"square\""),
            where + "one of constant, linear, cosine, cosine:N, polynomial:P, "
                    "step:N:F, multi-step:N,N,...:F, exponential:F, one-cycle, "
                    "wsd:F, found 'square'");
  EXPECT_EQ(changed("\"model.safetensors\"", "\"../model.safetensors\""),
            where + "the name of a file beside it, found "
                    "'../model.safetensors'");
  EXPECT_EQ(changed("\"step\": 1,", "\"step\": 101,"),
            where + "at least one step, and no more than 100 of them, found "
                    "101");
  EXPECT_EQ(changed("\"sum\": \"", "\"sum\": \"x")
                .rfind(where + "a check sum of 16 digits, found 'x", 0),
            0u);
  EXPECT_EQ(
      changed("{", "").rfind(where + "the record of a checkpoint, found ", 0),
      0u);
}

TEST_F(Data, WhatIsLeftUnfinishedIsRemoved) {
  for (const char *name : {"step-00000007.partial", "step-00000003.removed"}) {
    std::filesystem::create_directories(path(name));
    write(std::string(name) + "/model.safetensors", "half");
  }
  std::filesystem::create_directories(path("mine.partial"));
  {
    const CheckpointFolder mine(folder);
    EXPECT_EQ(list_folder(folder), std::vector<std::string>{"mine.partial"});
    EXPECT_EQ(error_of([&] { CheckpointFolder second(folder); }),
              "'DIR': expected a folder of this run alone, found another run "
              "that writes its checkpoints there");
  }
  CheckpointFolder again(folder);
  again.begin(4);
  EXPECT_EQ(error_of([&] { again.begin(4); }),
            "cannot make folder 'DIR/step-00000004.partial': File exists");
  again.abandon(4);
  EXPECT_EQ(list_folder(folder), std::vector<std::string>{"mine.partial"});
}

TEST_F(Data, TheBestStays) {
  CheckpointFolder mine(folder);
  for (int64_t step = 1; step <= 5; ++step) {
    mine.begin(step);
    write("step-0000000" + std::to_string(step) + ".partial/checkpoint.json",
          "");
    mine.publish(step);
    if (step <= 2)
      mine.mark_best(step);
    mine.keep(2, std::min<int64_t>(step, 2));
  }
  EXPECT_EQ(checkpoints_in(folder), (std::vector<int64_t>{2, 4, 5}));
  EXPECT_EQ(std::filesystem::read_symlink(path("best")), "step-00000002");
  EXPECT_EQ(newest_checkpoint(path("best")), path("best"));
  EXPECT_EQ(newest_checkpoint(folder), path("step-00000005"));
  // Nothing else is replaced.
  std::filesystem::remove(path("best"));
  write("best", "mine");
  EXPECT_EQ(error_of([&] { mine.mark_best(5); }),
            "'DIR/best': expected a link to the best checkpoint, or nothing, "
            "found something else");
}

TEST_F(Data, AFolderThatIsNone) {
  write("file", "");
  testing::internal::CaptureStderr();
  EXPECT_THROW(on_threads(2,
                          [&](ThreadComm &comm) {
                            open_checkpoint_folder(comm, comm.world(),
                                                   path("file"));
                          }),
               Stop);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("error: rank 0: checkpoint: cannot "), std::string::npos)
      << said;
}

TEST(Checksum, OfBoxesAddUp) {
  std::mt19937 random(5);
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::u8}) {
    const int64_t rows = 5, columns = 6;
    std::vector<std::byte> whole(std::size_t(rows * columns) * size_of(type));
    for (std::byte &byte : whole)
      byte = std::byte(random());
    const Index shape = {rows, columns};
    const auto sum = [&](Index lo, Index extent) {
      std::vector<std::byte> box;
      for (int64_t i = 0; i < extent[0]; ++i) {
        const auto row = whole.begin() + ((lo[0] + i) * columns + lo[1]) *
                                             int64_t(size_of(type));
        box.insert(box.end(), row, row + extent[1] * int64_t(size_of(type)));
      }
      return checksum(box_tensor(type, 2, lo, extent, shape, box.data()));
    };
    const uint64_t all = sum({0, 0}, shape);
    EXPECT_EQ(all, sum({0, 0}, {2, columns}) + sum({2, 0}, {3, columns}));
    EXPECT_EQ(all, sum({0, 0}, {rows, 1}) + sum({0, 1}, {rows, 5}));
    whole[7] ^= std::byte(1);
    EXPECT_NE(all, sum({0, 0}, shape));
    whole[7] ^= std::byte(1);
    // The signs of two elements.
    const std::size_t size = size_of(type);
    for (std::size_t element : {3, 11})
      whole[(element + 1) * size - 1] ^= std::byte(0x80);
    EXPECT_NE(all, sum({0, 0}, shape));
  }
}

} // namespace
