// onednn: products and convolutions by oneDNN, everything else by the own kernels of backends/cpu;
// the launch log tells which made a call. Library objects are made when ops are lowered: a launch
// sets addresses and executes.
// Refuses every element type but f32, and teams of threads that OpenMP cannot give.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backends/api/backend.h"

namespace stepscope::onednn {

// The library runs on options.threads OpenMP threads, own kernels on the calling one. Which routine
// computes a product stands in options.tune_file, if that file is there, else in the table that
// comes with the backend (choices.h).
// Throws bad_input for a thread count below one or a file of another machine or library; device
// when OpenMP cannot give the threads, or within a parallel region: with fewer threads than
// promised the library computes wrong results and says nothing.
// Requires: launches outside parallel regions, each kernel by one stream at a time.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

// Library objects that a backend has made so far. Requires: make_backend() made it.
std::uint64_t primitives_made(const Backend& backend);

}  // namespace stepscope::onednn
