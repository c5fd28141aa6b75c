// cublaslt_loaded: cuBLASLt, looked for when the backend is made and not when the program starts.
//
// One program for machines with a GPU and without. The functions of the library that the backend
// calls are defined beside this, as forwards to what was loaded; a function that is missing there
// is a link error. Of the build for a GPU alone: the simulator has the functions themselves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <string>

namespace stepscope::cuda {

// The library may be newer than the header it was built with, of the same major version.
inline constexpr int kCublasLtMajor = CUBLAS_VER_MAJOR;

// Addresses of the functions, all of them or none.
struct CublasLt {
#define STEPSCOPE_CUBLASLT(function) decltype(&::function) function = nullptr;
#include "backends/cuda/cublaslt_loaded.inc"
#undef STEPSCOPE_CUBLASLT
  std::string why_not;  // they are not there; empty: they are
};

// Looks for it as the loader does, and keeps it for the life of the process.
CublasLt load_cublaslt(const std::string& file);

// Loaded by the first call.
const CublasLt& loaded_cublaslt();

}  // namespace stepscope::cuda
