// Planted ops: an op from outside the tree with a kernel that does what a test wants done.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/host.h"

namespace stepscope::conformance {

enum class Plant : std::uint8_t {
  write_behind,  // one byte behind the output
  write_in_front,
  write_input,
  read_behind,  // one byte behind the input
  read_dead,    // at the address that set_dead_address() named
  copy,         // x -> x, as it should be
};

// x -> the same type. Adds the ops to the table on first use, one kind for each.
OpKind planted_op(Plant plant);
void set_dead_address(const std::byte* address);

// Gives a backend the kernels of all plants.
void add_plants(HostBackend& host);
// The reference backend with these.
std::unique_ptr<Backend> backend_with_plants();

}  // namespace stepscope::conformance
