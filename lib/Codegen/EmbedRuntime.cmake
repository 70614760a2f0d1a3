# Writes OUTPUT, a C++ file that holds the text of every file of the runtime.
#
#   cmake -DROOT=<repository> -DOUTPUT=<file> -P EmbedRuntime.cmake
#
# The order of the files does not depend on the machine, because the contents are
# hashed. sources.cmake looks for the list in files.cmake.
file(GLOB_RECURSE files RELATIVE ${ROOT}/runtime
     ${ROOT}/runtime/include/* ${ROOT}/runtime/src/*)
list(SORT files)
string(JOIN "\n  " sources ${files})
list(APPEND files CMakeLists.txt sources.cmake)
list(SORT files)

set(text "// Written by EmbedRuntime.cmake.\n#include \"ffc/Codegen/Runtime.h\"\n\n")
string(APPEND text "const std::vector<ffc::codegen::BundledFile> &\n")
string(APPEND text "ffc::codegen::runtimeFiles() {\n")
string(APPEND text "  static const std::vector<BundledFile> files = {\n")
foreach(file IN LISTS files)
  file(READ ${ROOT}/runtime/${file} contents)
  string(APPEND text "{\"${file}\", R\"ffrtfile(${contents})ffrtfile\"},\n")
endforeach()
string(APPEND text "{\"files.cmake\", R\"ffrtfile(# Written by EmbedRuntime.cmake.
set(FFRT_FILES
  ${sources}
)
)ffrtfile\"},\n")
string(APPEND text "  };\n  return files;\n}\n")
file(WRITE ${OUTPUT} "${text}")
