// reference: plain loops with double accumulation, f32 or f64 storage. The oracle, written to be
// read. No other backend may call it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/backend.h"

namespace stepscope::reference {

// One thread, whatever the options say. Values are f32 or f64 and row-major, labels, indices and
// counts i32; Cast and Reorder take u8 as well.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace stepscope::reference
