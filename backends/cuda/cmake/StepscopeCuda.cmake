# Finds what the tests of CUDA code are made with, and says what is off without it.
#   STEPSCOPE_CUDA_HEADERS  ON: the toolkit's headers, cuBLASLt's, cuDNN's and CUPTI's are there; their
#                           folders are CUDAToolkit_INCLUDE_DIRS. The simulator and its tests need nothing
#                           else.
#   STEPSCOPE_NVCC          ON: the CUDA language is enabled: an nvcc works, and the build is not
#                           sanitized, where nvcc's objects would be the only ones that are not.
# Both, the toolkit's version and why one of them is off stand in cuda.txt of the build folder, for CI.
# The top list includes this, for a language must be enabled above all folders that use it.
# SPDX-License-Identifier: Apache-2.0
set(STEPSCOPE_CUDA_HEADERS OFF)
set(STEPSCOPE_NVCC OFF)

function(stepscope_cuda_found reason)
  if(reason)
    message(STATUS "cuda: ${reason}")
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/cuda.txt "headers ${STEPSCOPE_CUDA_HEADERS}\n"
    "nvcc ${STEPSCOPE_NVCC}\ntoolkit ${CUDAToolkit_VERSION}\nreason ${reason}\n")
endfunction()

find_package(CUDAToolkit 13.0 QUIET)
if(NOT CUDAToolkit_FOUND)
  set(reason "no CUDA toolkit of version 13.0 or newer found")
  if(CUDAToolkit_VERSION)  # an older nvcc in the PATH hides others
    string(APPEND reason ", but one of ${CUDAToolkit_VERSION} by ${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  stepscope_cuda_found("${reason}; its tests are off")
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
if(missing)
  list(JOIN missing ", " missing)
  stepscope_cuda_found("the toolkit has no ${missing}; its tests are off")
  return()
endif()
list(REMOVE_DUPLICATES CUDAToolkit_INCLUDE_DIRS)
set(STEPSCOPE_CUDA_HEADERS ON)

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  stepscope_cuda_found("a sanitized build; what nvcc compiles is left to the others")
  return()
endif()
# The toolkit's own, where none was chosen and none is in the PATH.
if(NOT DEFINED ENV{CUDACXX} AND NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
  set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
include(CheckLanguage)
check_language(CUDA)
set(without_nvcc "kernels are compiled for the simulator alone, and capture_probe is not built against \
the real libraries")
if(NOT CMAKE_CUDA_COMPILER)
  stepscope_cuda_found("a toolkit without an nvcc that works; ${without_nvcc}")
  return()
endif()
# Before the language is enabled, which cannot be taken back.
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE nvcc_says ERROR_QUIET)
if(nvcc_says MATCHES "release ([0-9]+\\.[0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS 13.0)
  stepscope_cuda_found("${CMAKE_CUDA_COMPILER} is of version ${CMAKE_MATCH_1}, older than 13.0; \
${without_nvcc}")
  return()
endif()
# The oldest and the newest device that the kernels are for: Turing and Hopper.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75 90)
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
stepscope_cuda_found("")
