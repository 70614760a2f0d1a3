# Thin wrappers: one function per kind of target of this project.

set(FFC_WARNINGS -Wall -Wextra -Wno-unused-parameter)
if(FFC_STRICT)
  list(APPEND FFC_WARNINGS -Werror)
endif()

# Compiled without MLIR: standard exceptions and RTTI, our headers only.
function(ffc_add_plain_library name)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} PUBLIC ${FFC_SOURCE_DIR}/include)
  target_compile_options(${name} PRIVATE ${FFC_WARNINGS})
endfunction()

# Uses MLIR: the flags LLVM was built with (no exceptions), its headers as system
# headers, and the shared libMLIR.
function(ffc_add_mlir_target name)
  target_include_directories(${name} PUBLIC ${FFC_SOURCE_DIR}/include
                                            ${FFC_BINARY_DIR}/include)
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS}
                                                   ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${name} PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${name} PRIVATE ${FFC_WARNINGS} -fno-exceptions)
endfunction()

function(ffc_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  ffc_add_mlir_target(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# Files of this target find ffc/IR/FF.h read, by FFCIR for all of them: that takes
# two thirds of the time of most.
function(ffc_share_dialect name)
  if(name STREQUAL FFCIR)
    target_precompile_headers(${name} PRIVATE <ffc/IR/FF.h>)
  else()
    target_precompile_headers(${name} REUSE_FROM FFCIR)
  endif()
  # It is good for the flags that it was compiled with, those of a library.
  get_target_property(type ${name} TYPE)
  if(type STREQUAL EXECUTABLE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
  ffc_show_precompiled(${name})
endfunction()

# Compiles files of this target several at once, but for those after EXCEPT: what the
# headers of MLIR take, more than a second, is then taken once for them. So names that
# a file has for itself differ within a target. A file with options of its own stays
# alone, and all of them do in the development builds, for tools that ask how a file is
# compiled.
function(ffc_compile_together name)
  cmake_parse_arguments(ARG "" "" "EXCEPT" ${ARGN})
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
    set_source_files_properties(${ARG_EXCEPT} PROPERTIES
                                SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# Files of these targets find GoogleTest read.
function(ffc_share_gtest)
  foreach(name IN LISTS ARGN)
    target_precompile_headers(${name} PRIVATE <gtest/gtest.h>)
    ffc_show_precompiled(${name})
  endforeach()
endfunction()

# ccache wants to see what is precompiled.
function(ffc_show_precompiled name)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE -fpch-preprocess)
  endif()
endfunction()

# Writes the header <name>.h into the build folder. For every file whose path
# matches, it declares a function register<first group>() in the namespace; the
# array k<name> has them all. The linker finds which file lacks its function.
function(ffc_list_families name namespace pattern)
  foreach(file IN LISTS ARGN)
    if(file MATCHES "${pattern}")
      string(APPEND declarations "void register${CMAKE_MATCH_1}();\n")
      string(APPEND names "    register${CMAKE_MATCH_1},\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.h @ONLY CONTENT
"// Written by CMake (ffc_list_families).
#pragma once
namespace @namespace@ {
@declarations@
inline constexpr void (*k@name@[])() = {
@names@};
} // namespace @namespace@
")
endfunction()
