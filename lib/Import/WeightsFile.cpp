//===- WeightsFile.cpp - the values of parameters beside the IR -----------===//

#include "WeightsFile.h"

#include "Constant.h"

#include "llvm/Support/MathExtras.h"

using namespace ffc::importer;
using llvm::Error;
using llvm::Expected;

WeightsFile::~WeightsFile() {
  // A stream must not die with an error unseen.
  if (stream) {
    stream->flush();
    stream->clear_error();
    stream.reset();
  }
  if (file)
    llvm::consumeError(file->discard());
}

Expected<int64_t>
WeightsFile::add(int64_t bytes,
                 llvm::function_ref<Error(llvm::raw_ostream &)> write) {
  int64_t offset = llvm::alignTo(size, 64);
  int64_t gap = offset - size;
  size = offset + bytes;
  if (path.empty())
    return offset;
  if (!file) {
    auto created = llvm::sys::fs::TempFile::create(path + ".tmp-%%%%%%");
    if (!created)
      return makeError("cannot write '" + path +
                       "': " + llvm::toString(created.takeError()));
    file.emplace(std::move(*created));
    stream = std::make_unique<llvm::raw_fd_ostream>(file->FD,
                                                    /*shouldClose=*/false);
  }
  stream->write_zeros(gap);
  if (Error error = write(*stream))
    return error;
  return offset;
}

Error WeightsFile::commit() {
  if (!file)
    return Error::success();
  stream->flush();
  std::error_code code = stream->error();
  stream->clear_error();
  stream.reset();
  if (code)
    return makeError("cannot write '" + path + "': " + code.message());
  Error error = file->keep(path);
  file.reset();
  if (error)
    return makeError("cannot write '" + path +
                     "': " + llvm::toString(std::move(error)));
  return Error::success();
}
