// ModelMemory: the model segment of one model on one backend. Every plan and mode of the model uses
// it, at fixed addresses, so they train and see the same weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/api/backend.h"
#include "graph/plan/model_layout.h"

namespace stepscope {

class ModelMemory {
 public:
  // Zeroed. `address_offset` shifts the segment, for tests of what alignment does to bits.
  ModelMemory(Backend& backend, Stream& stream, ModelLayout layout, std::size_t address_offset = 0);

  const ModelLayout& layout() const { return layout_; }
  std::byte* base() const { return base_; }

  // Throw bad_graph when there is no such name, bad_input when the bytes do not fit. `write` to an
  // input may give fewer bytes than the slot has: a smaller batch.
  std::byte* address(std::string_view name) const;
  void write(Stream& stream, std::string_view name, std::span<const std::byte> bytes);
  std::vector<std::byte> read(Stream& stream, std::string_view name) const;

  // All of it, inputs included: what a run restarts from.
  std::vector<std::byte> snapshot(Stream& stream) const;
  void restore(Stream& stream, std::span<const std::byte> snapshot);

 private:
  ModelLayout layout_;
  std::unique_ptr<Memory> memory_;
  std::byte* base_;
};

}  // namespace stepscope
