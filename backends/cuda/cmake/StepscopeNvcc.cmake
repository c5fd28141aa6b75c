# Enables the CUDA language where the tests can use it: a toolkit with an nvcc that works, in a build that
# is not sanitized (nvcc's objects would be the only ones that are not). STEPSCOPE_NVCC says whether.
# The top list includes this, for a language must be enabled above all folders that use it. The simulator
# and its tests need none of it.
# SPDX-License-Identifier: Apache-2.0
set(STEPSCOPE_NVCC OFF)
find_package(CUDAToolkit 13.0 QUIET)
if(NOT CUDAToolkit_FOUND)
  return()  # backends/cuda says so
endif()
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
set(STEPSCOPE_NVCC ON)
