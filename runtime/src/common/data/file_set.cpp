//===- file_set.cpp - files that appear together --------------------------===//
#include "common/data/file_set.h"

#include <cstdio>

namespace ffrt {

void FileSet::add(const std::string &path, const std::string &head,
                  const void *data, std::size_t size) {
  const std::string whole = folder + "/" + path;
  make_folder(whole.substr(0, whole.find_last_of('/')));
  NewFile &file = files.emplace_back(whole);
  file.write(head);
  file.write(data, size);
  file.close();
}

void FileSet::commit() {
  for (const NewFile &file : files)
    std::remove(file.name().c_str());
  for (NewFile &file : files)
    file.publish();
  files.clear();
}

} // namespace ffrt
