//===- dataset.cpp - batches out of a folder of samples -------------------===//
#include "common/data/file.h"
#include "common/data/sample_order.h"
#include "common/data/source.h"
#include "ffrt/error.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ffrt {

namespace {

bool ends_with(const std::string &name, const std::string &end) {
  return name.size() >= end.size() &&
         name.compare(name.size() - end.size(), end.size(), end) == 0;
}

bool begins_with(const std::string &name, const char *begin) {
  return name.rfind(begin, 0) == 0;
}

/// The names that fit, those of training files first, without those of a test
/// set unless there are no others, or only the latter if they are wanted: a
/// folder may hold both.
FileNames pick(const FileNames &names, bool prefers_tests,
               bool (*fits)(const std::string &)) {
  FileNames training, others, tests;
  for (const std::string &name : names)
    if (fits(name))
      (begins_with(name, "train")                               ? training
       : begins_with(name, "test") || begins_with(name, "t10k") ? tests
                                                                : others)
          .push_back(name);
  if (prefers_tests && !tests.empty())
    return tests;
  training.insert(training.end(), others.begin(), others.end());
  return training.empty() ? tests : training;
}

std::unique_ptr<Samples> open_samples(const ProgramInfo &info,
                                      const std::string &folder,
                                      bool prefers_tests) {
  const FileNames names = list_folder(folder);
  auto first = [&](bool (*fits)(const std::string &)) {
    const FileNames chosen = pick(names, prefers_tests, fits);
    return chosen.empty() ? "" : chosen.front();
  };
  const std::string images = first([](const std::string &name) {
    return name.find("images-idx") != std::string::npos;
  });
  const std::string labels = first([](const std::string &name) {
    return name.find("labels-idx") != std::string::npos;
  });
  if (!images.empty() || !labels.empty())
    return open_idx(info, folder, images, labels);
  const FileNames records =
      pick(names, prefers_tests, [](const std::string &name) {
        return ends_with(name, ".bin") || ends_with(name, ".bin.gz");
      });
  if (!records.empty())
    return open_cifar(info, folder, records);
  const FileNames texts =
      pick(names, prefers_tests, [](const std::string &name) {
        return ends_with(name, ".txt") || ends_with(name, ".txt.gz");
      });
  if (!texts.empty())
    return open_text(info, folder, texts);
  const FileNames tokens =
      pick(names, prefers_tests, [](const std::string &name) {
        return name.find("tokens") != std::string::npos &&
               ends_with(name, ".npy");
      });
  if (!tokens.empty())
    return open_text(info, folder, tokens);
  return open_npy(info, folder);
}

class Dataset final : public Source {
public:
  Dataset(const ProgramInfo &info, const std::string &folder, bool shuffled,
          uint64_t seed, const DatasetPart &part)
      : info(info), from(open_samples(info, folder, part.prefers_tests)),
        held_out(
            part.held_out > 0
                ? std::max<int64_t>(
                      std::llround(part.held_out * double(from->count())), 1)
                : 0),
        first(part.is_held_out ? from->count() - held_out : 0),
        total(part.is_held_out ? held_out : from->count() - held_out),
        order(total, shuffled, seed) {
    const int64_t least = info.training ? info.batch : 1;
    if (total < least)
      throw Error("'" + folder + "': expected at least " +
                  std::to_string(least) + " samples, found " +
                  std::to_string(total) +
                  (held_out > 0 ? " besides those held out" : ""));
    batches = info.training ? total / info.batch
                            : (total + info.batch - 1) / info.batch;
  }

  int64_t batches_per_epoch() const override { return batches; }
  int64_t samples() const override { return total; }

  void fill(int64_t step, std::size_t input, const Tensor &t) override {
    const int64_t epoch = step / batches;
    const int64_t begin = step % batches * info.batch + t.lo[0];
    Tensor row = t;
    row.shape[0] = row.global[0] = 1;
    row.lo[0] = 0;
    const int64_t bytes = row.elements() * int64_t(size_of(t.type));
    const auto sample = [&](int64_t i) {
      return first + order.at(epoch, (begin + i) % total);
    };
    look_at_files();
    for (int64_t i = 0; i < t.shape[0]; ++i) {
      row.data = t.as<char>() + i * bytes;
      from->load(sample(i), input, row);
    }
    expect_classes(info.inputs[input], t,
                   [&](int64_t i) { return from->place(sample(i), input); });
  }

private:
  using Clock = std::chrono::steady_clock;

  /// Now and then: are they what they were?
  void look_at_files() {
    const Clock::time_point now = Clock::now();
    if (now < next_look)
      return;
    from->expect_unchanged();
    next_look = now + std::chrono::milliseconds(500);
  }

  const ProgramInfo &info;
  std::unique_ptr<Samples> from;
  const int64_t held_out, first, total;
  SampleOrder order;
  int64_t batches = 0;
  Clock::time_point next_look = Clock::now();
};

} // namespace

std::unique_ptr<Source> make_dataset(const ProgramInfo &info,
                                     const std::string &folder, bool shuffled,
                                     uint64_t seed, const DatasetPart &part) {
  return std::make_unique<Dataset>(info, folder, shuffled, seed, part);
}

} // namespace ffrt
