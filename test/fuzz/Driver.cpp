//===- Driver.cpp - runs a target without libFuzzer -----------------------===//
//
// usage: TARGET [-seconds=N] [-seed=N] SEED-FILE-OR-FOLDER...
//
// Gives the target every seed, and then seeds that were changed at random. What
// it got last is in the file `TARGET.last` of the current folder: what made it
// crash, or run for longer than ten seconds.
//
//===----------------------------------------------------------------------===//

#include "Fuzz.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <random>
#include <vector>

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

namespace {

constexpr unsigned kSecondsPerInput = 10;
constexpr size_t kMostBytes = 1 << 16;

class Mutator {
public:
  Mutator(std::vector<Bytes> seeds, unsigned seed)
      : seeds(std::move(seeds)), random(seed) {}

  Bytes next() {
    Bytes bytes = seeds[below(seeds.size())];
    for (size_t n = size_t(1) << below(4); n > 0; --n)
      change(bytes);
    if (bytes.size() > kMostBytes)
      bytes.resize(kMostBytes);
    return bytes;
  }

private:
  std::vector<Bytes> seeds;
  std::mt19937 random;

  size_t below(size_t end) { return random() % std::max<size_t>(end, 1); }

  /// Numbers and words that readers may not expect.
  Bytes trouble() {
    static const char *const texts[] = {"0",
                                        "-1",
                                        "1e999",
                                        "nan",
                                        "9223372036854775807",
                                        "4294967296",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "\"",
                                        "'",
                                        "\n",
                                        "\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                                        "\xc3\x28"};
    const char *text = texts[below(std::size(texts))];
    return Bytes(text, text + std::strlen(text));
  }

  void change(Bytes &bytes) {
    const size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t rest = std::min<size_t>(bytes.size() - at, 1 + below(16));
    const auto end = place + static_cast<std::ptrdiff_t>(rest);
    switch (below(7)) {
    case 0:
      if (!bytes.empty())
        *place = static_cast<uint8_t>(random());
      break;
    case 1:
      if (!bytes.empty())
        *place ^= static_cast<uint8_t>(1 << below(8));
      break;
    case 2:
      bytes.erase(place, end);
      break;
    case 3: {
      const Bytes copy(place, end);
      bytes.insert(place, copy.begin(), copy.end());
      break;
    }
    case 4: {
      const Bytes text = trouble();
      bytes.insert(place, text.begin(), text.end());
      break;
    }
    case 5: {
      // Part of another seed.
      const Bytes &other = seeds[below(seeds.size())];
      const size_t from = below(other.size());
      const size_t count = std::min(other.size() - from, 1 + below(64));
      bytes.insert(place, other.begin() + static_cast<std::ptrdiff_t>(from),
                   other.begin() + static_cast<std::ptrdiff_t>(from + count));
      break;
    }
    default:
      std::fill(place, end, below(2) ? 0xff : 0);
    }
  }
};

void readSeeds(const fs::path &path, std::vector<Bytes> &seeds) {
  if (fs::is_directory(path)) {
    std::vector<fs::path> paths;
    for (const fs::directory_entry &entry : fs::directory_iterator(path))
      paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path &each : paths)
      readSeeds(each, seeds);
    return;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "error: cannot read '%s'\n", path.c_str());
    std::exit(2);
  }
  seeds.emplace_back(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>());
}

void run(const std::string &last, const Bytes &bytes) {
  std::ofstream(last, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  alarm(kSecondsPerInput);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  alarm(0);
}

} // namespace

int main(int argc, char **argv) {
  double seconds = 0;
  unsigned seed = 1;
  std::vector<Bytes> seeds;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "-seconds=", 9) == 0)
      seconds = std::atof(argv[i] + 9);
    else if (std::strncmp(argv[i], "-seed=", 6) == 0)
      seed = static_cast<unsigned>(std::atoi(argv[i] + 6));
    else
      readSeeds(argv[i], seeds);
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "usage: %s [-seconds=N] [-seed=N] SEEDS...\n",
                 argv[0]);
    return 2;
  }
  const std::string last = fs::path(argv[0]).filename().string() + ".last";
  for (const Bytes &each : seeds)
    run(last, each);
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  Mutator mutator(seeds, seed);
  size_t count = 0;
  for (; Clock::now() < end; ++count)
    run(last, mutator.next());
  fs::remove(last);
  fs::remove_all(ffc::fuzz::folder());
  std::printf("%zu seeds, %zu others\n", seeds.size(), count);
}
