# The runtime for GPUs: the same sources but for the kernels.
# The flags name the architecture.
set(CMAKE_CUDA_ARCHITECTURES OFF)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

find_library(FFRT_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} REQUIRED)
find_path(FFRT_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} REQUIRED)

add_library(ffrt_cuda STATIC ${FFRT_COMMON} ${FFRT_CUDA_HOST} ${FFRT_CUDA_KERNELS}
            ${CMAKE_CURRENT_LIST_DIR}/src/cuda/gemm_cublaslt.cpp)
target_include_directories(ffrt_cuda PUBLIC include PRIVATE src ${FFRT_NCCL_INCLUDE})
target_compile_features(ffrt_cuda PUBLIC cxx_std_17 cuda_std_17)
target_compile_definitions(ffrt_cuda PUBLIC FFRT_CUDA
                           PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_compile_options(ffrt_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra>
  $<$<COMPILE_LANGUAGE:CUDA>:${FFRT_CUDA_FLAGS}>)
target_link_libraries(ffrt_cuda PRIVATE CUDA::cudart CUDA::cublasLt ${FFRT_NCCL_LIBRARY} MPI::MPI_C
                      OpenMP::OpenMP_CXX Threads::Threads ZLIB::ZLIB)
set_target_properties(ffrt_cuda PROPERTIES POSITION_INDEPENDENT_CODE ON)
