// Kernel and Launch: the three stages of a call.
//   lower  settles *what* (types, algorithm, library objects) and makes a Kernel: cold, may
//   allocate; bind   settles *where* (addresses): no allocation, no choice; launch is *when*: it
//   enqueues, and throws for a device failure only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/plan/plan.h"
#include "ops/ir/graph.h"

namespace stepscope {

class Kernel;
class Stream;

// What is asked of Backend::lower.
struct OpSite {
  OpKind kind{};
  Attrs attrs;
  std::vector<TensorType> in, out;
  friend bool operator==(const OpSite&, const OpSite&) = default;
};

// A call, ready to be made: plain data that borrows the operand array.
// Requires: kernel, operand array and the memory it points to outlive the launch.
struct Launch {
  void (*fn)(const Launch&, Stream&);
  const Kernel* kernel;
  std::byte* const* operands;  // inputs, then outputs
  std::byte* scratch;          // Needs::scratch bytes, or null
};

class Kernel {
 public:
  using Function = void (*)(const Launch&, Stream&);

  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const OpSite& site() const { return site_; }
  const Needs& needs() const { return needs_; }
  // How often one launch reports through Stream::made_call: always the same.
  std::uint32_t calls() const { return calls_; }

  // Requires: every address is a multiple of the backend's alignment (checked where plans and pools
  // hand out addresses). An operand may alias another only as needs().in_place and the op allow.
  Launch bind(std::byte* const* operands, std::byte* scratch) const {
    return {function_, this, operands, scratch};
  }

 protected:
  Kernel(OpSite site, Needs needs, Function function, std::uint32_t calls = 1)
      : site_(std::move(site)), needs_(std::move(needs)), function_(function), calls_(calls) {}

 private:
  OpSite site_;
  Needs needs_;
  Function function_;
  std::uint32_t calls_;
};

}  // namespace stepscope
