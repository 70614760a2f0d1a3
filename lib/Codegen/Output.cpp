//===- Output.cpp - files that appear whole or not at all -----------------===//

#include "ffc/Codegen/Output.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ffc::codegen;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

Error ffc::codegen::makeError(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

static Error failed(StringRef what, StringRef where, std::error_code code) {
  return makeError("cannot " + what + " '" + where + "': " + code.message());
}

Pending::Pending(StringRef target)
    : wanted(target.rtrim('/').str()),
      temporary(wanted + ".tmp-" +
                std::to_string(sys::Process::getProcessId())),
      guard(temporary) {}

Pending::~Pending() {
  if (fs::is_directory(temporary))
    fs::remove_directories(temporary);
  else
    fs::remove(temporary);
}

bool Pending::exists() const { return fs::exists(temporary); }

/// Is it there, and neither a file nor a folder?
static bool isDevice(StringRef path) {
  fs::file_status status;
  return !fs::status(path, status) && !fs::is_regular_file(status) &&
         !fs::is_directory(status);
}

Error Pending::commit() {
  if (isDevice(wanted))
    return makeError("cannot write '" + wanted +
                     "': expected a file or folder, found a device or pipe");
  if (!fs::is_directory(temporary) || !fs::exists(wanted)) {
    if (std::error_code code = fs::rename(temporary, wanted))
      return failed("write", wanted, code);
    return Error::success();
  }
  std::error_code code;
  fs::recursive_directory_iterator it(temporary, code), end;
  for (; it != end && !code; it.increment(code)) {
    StringRef from = it->path();
    std::string to = wanted + from.drop_front(temporary.size()).str();
    if (fs::is_directory(from))
      code = fs::create_directories(to);
    else
      code = fs::rename(from, to);
    if (code)
      return failed("write", to, code);
  }
  if (code)
    return failed("read", temporary, code);
  return Error::success();
}

Error ffc::codegen::writeText(StringRef file, StringRef contents) {
  StringRef folder = path::parent_path(file);
  if (!folder.empty())
    if (std::error_code code = fs::create_directories(folder))
      return failed("create folder", folder, code);
  std::error_code code;
  raw_fd_ostream stream(file, code);
  if (code)
    return failed("write", file, code);
  stream << contents;
  stream.close();
  if (!stream.has_error())
    return Error::success();
  code = stream.error();
  stream.clear_error();
  return failed("write", file, code);
}

Error ffc::codegen::writeFile(StringRef file, StringRef contents) {
  if (isDevice(file))
    return writeText(file, contents);
  Pending pending(file);
  if (Error error = writeText(pending.path(), contents))
    return error;
  return pending.commit();
}
