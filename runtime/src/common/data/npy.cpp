//===- npy.cpp - NumPy array files ----------------------------------------===//
#include "common/data/npy.h"

#include "ffrt/error.h"

#include <cstdlib>
#include <cstring>

namespace ffrt {

namespace {

struct Name {
  DType type;
  const char *text;
};

constexpr Name kNames[] = {{DType::f32, "<f4"}, {DType::f64, "<f8"},
                           {DType::i32, "<i4"}, {DType::i64, "<i8"},
                           {DType::u8, "|u1"},  {DType::boolean, "|b1"}};

/// Text after "'key':" without leading blanks; empty when missing.
std::string value_of(const std::string &header, const std::string &key) {
  std::size_t at = header.find("'" + key + "'");
  if (at == std::string::npos)
    return "";
  at = header.find(':', at);
  at = at == std::string::npos ? at : header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? "" : header.substr(at);
}

} // namespace

NpyFile::NpyFile(const std::string &path) : file(path) {
  auto bad = [&](const std::string &what) -> Error {
    return Error("'" + path + "': " + what);
  };
  const unsigned char *b = file.data();
  if (file.size() < 10 || std::memcmp(b, "\x93NUMPY", 6) != 0)
    throw bad("expected a .npy file, found other data");
  std::size_t start = b[6] == 1 ? 10 : 12, length = b[8] | b[9] << 8;
  if (b[6] > 1 && file.size() >= 12)
    length |= std::size_t(b[10]) << 16 | std::size_t(b[11]) << 24;
  offset = start + length;
  if (b[6] < 1 || b[6] > 3 || offset > file.size())
    throw bad("expected a .npy header of version 1 to 3, found a damaged one");
  const std::string header(reinterpret_cast<const char *>(b) + start, length);

  const std::string descr = value_of(header, "descr");
  bool known = false;
  for (const Name &name : kNames)
    if (descr.rfind("'" + std::string(name.text) + "'", 0) == 0) {
      type = name.type;
      known = true;
    }
  if (!known)
    throw bad("expected type f4, f8, i4, i8, u1 or b1 (little-endian), found " +
              descr.substr(0, descr.find(',')));
  if (value_of(header, "fortran_order").rfind("False", 0) != 0)
    throw bad("expected row-major order, found fortran order");

  const std::string extents = value_of(header, "shape");
  if (extents.empty() || extents[0] != '(')
    throw bad("expected a shape, found a damaged header");
  std::size_t wanted = size_of(type);
  for (const char *p = extents.c_str() + 1; *p && *p != ')';) {
    char *end = nullptr;
    long long extent = std::strtoll(p, &end, 10);
    if (end == p || extent < 0)
      throw bad("expected a shape, found a damaged header");
    shape.push_back(extent);
    if (__builtin_mul_overflow(wanted, std::size_t(extent), &wanted))
      throw bad("expected a shape, found a damaged header");
    for (p = end; *p == ',' || *p == ' ' || *p == 'L';)
      ++p;
  }
  if (file.size() - offset < wanted)
    throw bad("expected " + std::to_string(wanted) + " bytes of data, found " +
              std::to_string(file.size() - offset));
}

std::string to_string(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (std::size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

std::string npy_head(DType type, int rank, const Index &shape) {
  std::string header = "{'descr': '";
  for (const Name &name : kNames)
    if (name.type == type)
      header += name.text;
  header += "', 'fortran_order': False, 'shape': (";
  for (int d = 0; d < rank; ++d) {
    header += std::to_string(shape[d]) + (rank == 1 || d + 1 < rank ? "," : "");
    header += d + 1 < rank ? " " : "";
  }
  header += "), }";
  // The data starts at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string head = "\x93NUMPY\x01";
  head += '\0';
  head += char(header.size() & 255);
  head += char(header.size() >> 8);
  return head + header;
}

void write_npy(const std::string &path, DType type, int rank,
               const Index &shape, const void *data) {
  std::size_t bytes = size_of(type);
  for (int d = 0; d < rank; ++d)
    bytes *= std::size_t(shape[d]);
  write_file(path, npy_head(type, rank, shape), data, bytes);
}

} // namespace ffrt
