//===- tensorboard.cpp - numbers of steps for TensorBoard -----------------===//
#include "common/program/tensorboard.h"

#include "common/data/file.h"
#include "common/program/validation.h"
#include "ffrt/error.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <unistd.h>

namespace ffrt {

namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

template <class T> std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

uint32_t masked(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

//===----------------------------------------------------------------------===//
// Fields of protobuf
//===----------------------------------------------------------------------===//

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7)
    bytes += char(value | 128);
  return bytes + char(value);
}

std::string number(int field, int64_t value) {
  return varint(uint64_t(field) << 3) + varint(uint64_t(value));
}
std::string number(int field, double value) {
  return varint(uint64_t(field) << 3 | 1) + bytes_of(value);
}
std::string number(int field, float value) {
  return varint(uint64_t(field) << 3 | 5) + bytes_of(value);
}
std::string text(int field, const std::string &value) {
  return varint(uint64_t(field) << 3 | 2) + varint(value.size()) + value;
}

} // namespace

uint32_t crc32c(const std::string &bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> result{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit)
        crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
      result[i] = crc;
    }
    return result;
  }();
  uint32_t crc = ~0u;
  for (char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(byte)) & 255];
  return ~crc;
}

TensorBoard::TensorBoard(const std::string &folder) {
  make_folder(folder);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  // TensorBoard goes through files in the order of their names.
  char name[512];
  std::snprintf(name, sizeof name, "%s/events.out.tfevents.%010lld.%s.%d",
                folder.c_str(), static_cast<long long>(seconds_since_1970()),
                host, int(getpid()));
  path = name;
  file = std::fopen(path.c_str(), "wxe");
  if (!file)
    throw Error("cannot write '" + path + "': " + std::strerror(errno));
  write(number(1, seconds_since_1970()) + text(3, "brain.Event:2"));
}

TensorBoard::~TensorBoard() { std::fclose(file); }

void TensorBoard::write(const std::string &event) {
  const std::string length = bytes_of(uint64_t(event.size()));
  const std::string record = length + bytes_of(masked(crc32c(length))) + event +
                             bytes_of(masked(crc32c(event)));
  if (std::fwrite(record.data(), 1, record.size(), file) != record.size() ||
      std::fflush(file) != 0)
    throw Error("cannot write '" + path + "': " + std::strerror(errno));
}

void TensorBoard::step(const Step &s) {
  std::vector<std::pair<std::string, double>> values = {
      {"epoch", s.epoch},
      {"seconds_per_step", s.seconds},
      {"samples_per_second", s.samples_per_second},
      {"waiting_for_data", s.waiting_for_data}};
  if (s.tokens_per_second > 0)
    values.emplace_back("tokens_per_second", s.tokens_per_second);
  if (s.flops_per_second > 0)
    values.emplace_back("flops_per_second", s.flops_per_second);
  if (s.share_of_peak > 0)
    values.emplace_back("share_of_peak", s.share_of_peak);
  if (s.training) {
    values.emplace_back("loss", s.training->loss);
    values.emplace_back("learning_rate", s.training->learning_rate);
  }
  scalars(s.step, values);
}

void TensorBoard::validation(const Validated &v) {
  std::vector<std::pair<std::string, double>> values;
  for (const auto &[metric, value] : v.metrics)
    values.emplace_back("validation/" + metric, value);
  scalars(v.step, values);
}

void TensorBoard::scalars(
    int64_t step, const std::vector<std::pair<std::string, double>> &values) {
  std::string summary;
  for (const auto &[name, value] : values)
    summary += text(1, text(1, name) + number(2, float(value)));
  write(number(1, seconds_since_1970()) + number(2, step) + text(5, summary));
}

} // namespace ffrt
