# Finds what the CUDA backend and the tests of CUDA code are made with, and says what is off without it.
#   STEPSCOPE_CUDA_HEADERS  ON: the toolkit's headers, cuBLASLt's, cuDNN's and CUPTI's are there; their
#                           folders are CUDAToolkit_INCLUDE_DIRS. The simulator and its tests need nothing
#                           else.
#   STEPSCOPE_NVCC          ON: the CUDA language is enabled: an nvcc works, and the build is not
#                           sanitized, where nvcc's objects would be the only ones that are not.
#   STEPSCOPE_CUDA_BACKEND  ON: the backend `cuda` is built: nvcc, cuBLASLt's header and the static runtime
#                           are there. A driver, a device and the libraries themselves are looked for when
#                           the backend is made (docs/decisions/0024).
# All, the toolkit's version and why one of them is off stand in cuda.txt of the build folder, for CI.
# The top list includes this, for a language must be enabled above all folders that use it.
# SPDX-License-Identifier: Apache-2.0
set(STEPSCOPE_CUDA_HEADERS OFF)
set(STEPSCOPE_NVCC OFF)
set(STEPSCOPE_CUDA_BACKEND OFF)

function(stepscope_cuda_found reason)
  if(reason)
    message(STATUS "cuda: ${reason}")
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/cuda.txt "headers ${STEPSCOPE_CUDA_HEADERS}\n"
    "nvcc ${STEPSCOPE_NVCC}\nbackend ${STEPSCOPE_CUDA_BACKEND}\ntoolkit ${CUDAToolkit_VERSION}\n"
    "reason ${reason}\n")
endfunction()

find_package(CUDAToolkit 13.0 QUIET)
if(NOT CUDAToolkit_FOUND)
  set(reason "no CUDA toolkit of version 13.0 or newer found")
  if(CUDAToolkit_VERSION)  # an older nvcc in the PATH hides others
    string(APPEND reason ", but one of ${CUDAToolkit_VERSION} by ${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  stepscope_cuda_found("${reason}; the backend cuda and its tests are off")
  return()
endif()
find_path(STEPSCOPE_CUBLASLT_INCLUDE_DIR cublasLt.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_path(STEPSCOPE_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_path(STEPSCOPE_CUPTI_INCLUDE_DIR cupti.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include)
set(missing)
foreach(header cublasLt cudnn cupti)
  string(TOUPPER ${header} name)
  mark_as_advanced(STEPSCOPE_${name}_INCLUDE_DIR)
  if(STEPSCOPE_${name}_INCLUDE_DIR)
    list(APPEND CUDAToolkit_INCLUDE_DIRS ${STEPSCOPE_${name}_INCLUDE_DIR})
  else()
    list(APPEND missing ${header}.h)
  endif()
endforeach()
list(REMOVE_DUPLICATES CUDAToolkit_INCLUDE_DIRS)
set(without_headers "")
if(missing)
  list(JOIN missing ", " missing)
  set(without_headers "the toolkit has no ${missing}; the tests of CUDA code are off. ")
else()
  set(STEPSCOPE_CUDA_HEADERS ON)
endif()

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  stepscope_cuda_found("${without_headers}a sanitized build; what nvcc compiles is left to the others")
  return()
endif()
# The toolkit's own, where none was chosen and none is in the PATH.
if(NOT DEFINED ENV{CUDACXX} AND NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
  set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
include(CheckLanguage)
check_language(CUDA)
set(without_nvcc "there is no backend cuda, kernels are compiled for the simulator alone, and \
capture_probe is not built against the real libraries")
if(NOT CMAKE_CUDA_COMPILER)
  stepscope_cuda_found("${without_headers}a toolkit without an nvcc that works; ${without_nvcc}")
  return()
endif()
# Before the language is enabled, which cannot be taken back.
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE nvcc_says ERROR_QUIET)
if(nvcc_says MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS 13.0)
  stepscope_cuda_found("${without_headers}${CMAKE_CUDA_COMPILER} is of version ${CMAKE_MATCH_1}, older \
than 13.0; ${without_nvcc}")
  return()
endif()
# Hopper as it is, and anything from Turing on by what the driver makes of it. Preset `bundle` has code for
# each generation.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know how nvcc is asked for it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
if(NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
set(STEPSCOPE_NVCC ON)

# stepscope_nvcc_kernels(TARGET SOURCES...): an object library of what nvcc makes of .cu files. Warnings are
# errors, and so is a register that is spilled to memory. Sums are not contracted, as everywhere
# (stepscope::kernel_flags). A folder of its own for each: elsewhere a .cu file is C++ for the simulator, and
# a source's language is its folder's.
function(stepscope_nvcc_kernels target)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror
    -Xptxas=-warn-spills -fmad=false)
endfunction()

if(NOT STEPSCOPE_CUBLASLT_INCLUDE_DIR OR NOT TARGET CUDA::cudart_static)
  stepscope_cuda_found("${without_headers}the toolkit has no cublasLt.h or no libcudart_static.a; there is \
no backend cuda")
  return()
endif()
set(STEPSCOPE_CUDA_BACKEND ON)
# Where programs of the build look for cuBLASLt beside the loader's own places; installed ones do not.
list(APPEND CMAKE_BUILD_RPATH ${CUDAToolkit_LIBRARY_DIR})
stepscope_cuda_found("${without_headers}")
