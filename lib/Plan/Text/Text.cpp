//===- Text.cpp - what the readers of text files share --------------------===//

#include "Text.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sys/stat.h>

using namespace ffc::plan;

std::optional<std::string> ffc::plan::readTextFile(const std::string &path,
                                                   size_t limit,
                                                   std::string &error) {
  // Opening a directory or a pipe would succeed, and reading it fail or wait.
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    error = path + ": cannot be read: " + std::strerror(errno);
    return std::nullopt;
  }
  if (!S_ISREG(status.st_mode)) {
    error = path + ": cannot be read: expected a regular file";
    return std::nullopt;
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    error = path + ": cannot be read: " + std::strerror(errno);
    return std::nullopt;
  }
  if (static_cast<unsigned long long>(status.st_size) > limit) {
    error = path + ": expected at most " + std::to_string(limit) +
            " bytes, found " + std::to_string(status.st_size);
    return std::nullopt;
  }
  std::string text(static_cast<size_t>(status.st_size), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.gcount() != static_cast<std::streamsize>(text.size())) {
    error = path + ": cannot be read: ended after " +
            std::to_string(stream.gcount()) + " bytes";
    return std::nullopt;
  }
  return text;
}

std::string ffc::plan::quoted(const std::string &text) {
  static const char kHex[] = "0123456789abcdef";
  constexpr size_t kMaxQuoted = 80;
  std::string result = "'";
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = static_cast<unsigned char>(text[i]);
    // A UTF-8 character (at most three continuation bytes) is not cut apart.
    const bool continuation = (byte & 0xc0) == 0x80;
    if (i >= kMaxQuoted && (!continuation || i == kMaxQuoted + 3)) {
      result += "...";
      break;
    }
    if (byte < 0x20 || byte == 0x7f) {
      result += "\\x";
      result += kHex[byte >> 4];
      result += kHex[byte & 15];
    } else {
      result += text[i];
    }
  }
  return result + "'";
}

std::string ffc::plan::joined(const std::vector<std::string> &items) {
  std::string result;
  for (const std::string &item : items)
    result += (result.empty() ? "" : ", ") + item;
  return result;
}

/// Levenshtein distance, one row at a time.
static size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string ffc::plan::suggestion(const std::string &text,
                                  const std::vector<std::string> &known) {
  // A third of the letters wrong is no longer a slip of the finger; long names
  // are not compared, a message must not cost seconds.
  constexpr size_t kMaxLength = 256;
  if (text.size() > kMaxLength)
    return "";
  size_t nearest = std::max<size_t>(1, text.size() / 3) + 1;
  const std::string *found = nullptr;
  for (const std::string &candidate : known) {
    size_t difference = candidate.size() > text.size()
                            ? candidate.size() - text.size()
                            : text.size() - candidate.size();
    if (difference >= nearest)
      continue;
    size_t distance = editDistance(text, candidate);
    if (distance < nearest) {
      nearest = distance;
      found = &candidate;
    }
  }
  return found ? "; did you mean " + quoted(*found) + "?" : "";
}

std::optional<long long> ffc::plan::parseCount(const std::string &text,
                                               long long max) {
  long long value = 0;
  auto [rest, status] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || rest != text.data() + text.size() || value < 0 ||
      text[0] == '-' || value > max)
    return std::nullopt;
  return value;
}
