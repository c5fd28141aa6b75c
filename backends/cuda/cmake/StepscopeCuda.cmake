# Finds what the tests of CUDA code are made with, and says what is off without it.
#   STEPSCOPE_CUDA_HEADERS  ON: the toolkit's headers, cuDNN's and CUPTI's are there; their folders are
#                           CUDAToolkit_INCLUDE_DIRS. The simulator and its tests need nothing else.
#   STEPSCOPE_NVCC          ON: the CUDA language is enabled: an nvcc works, and the build is not
#                           sanitized, where nvcc's objects would be the only ones that are not.
# The top list includes this, for a language must be enabled above all folders that use it.
# SPDX-License-Identifier: Apache-2.0
set(STEPSCOPE_CUDA_HEADERS OFF)
set(STEPSCOPE_NVCC OFF)
find_package(CUDAToolkit 13.0 QUIET)
if(NOT CUDAToolkit_FOUND)
  message(STATUS "cuda: no CUDA toolkit of version 13.0 or newer found; its tests are off")
  return()
endif()
find_path(STEPSCOPE_CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_path(STEPSCOPE_CUPTI_INCLUDE_DIR cupti.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include)
mark_as_advanced(STEPSCOPE_CUDNN_INCLUDE_DIR STEPSCOPE_CUPTI_INCLUDE_DIR)
if(NOT STEPSCOPE_CUDNN_INCLUDE_DIR OR NOT STEPSCOPE_CUPTI_INCLUDE_DIR)
  message(STATUS "cuda: cudnn.h or cupti.h is missing; its tests are off")
  return()
endif()
list(APPEND CUDAToolkit_INCLUDE_DIRS ${STEPSCOPE_CUDNN_INCLUDE_DIR} ${STEPSCOPE_CUPTI_INCLUDE_DIR})
list(REMOVE_DUPLICATES CUDAToolkit_INCLUDE_DIRS)
set(STEPSCOPE_CUDA_HEADERS ON)

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  message(STATUS "cuda: a sanitized build; what nvcc compiles is left to the others")
  return()
endif()
# The toolkit's own, where none was chosen and none is in the PATH.
if(NOT DEFINED ENV{CUDACXX} AND NOT CMAKE_CUDA_COMPILER AND CUDAToolkit_NVCC_EXECUTABLE)
  set(ENV{CUDACXX} ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "cuda: a toolkit without an nvcc that works; kernels are compiled for the simulator "
    "alone, and capture_probe is not built against the real libraries")
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
