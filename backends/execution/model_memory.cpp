// Reading and writing the model segment by name.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/model_memory.h"

#include "ops/base/check.h"

namespace stepscope {

ModelMemory::ModelMemory(Backend& backend, Stream& stream, ModelLayout layout,
                         std::size_t address_offset)
    : layout_(std::move(layout)),
      memory_(backend.allocate(layout_.bytes() + address_offset)),
      base_(memory_->data() + address_offset) {
  restore(stream, std::vector<std::byte>(layout_.bytes()));
}

std::byte* ModelMemory::address(std::string_view name) const {
  return base_ + layout_.at(name).offset;
}

void ModelMemory::write(Stream& stream, std::string_view name, std::span<const std::byte> bytes) {
  const ModelLayout::Entry& entry = layout_.at(name);
  const bool fits =
      entry.role == Role::input ? bytes.size() <= entry.bytes : bytes.size() == entry.bytes;
  check(fits, Fault::bad_input, "write '{}': {} bytes given, its slot holds {}", name, bytes.size(),
        entry.bytes);
  stream.copy_in(base_ + entry.offset, bytes);
}

std::vector<std::byte> ModelMemory::read(Stream& stream, std::string_view name) const {
  const ModelLayout::Entry& entry = layout_.at(name);
  std::vector<std::byte> bytes(entry.bytes);
  stream.copy_out(bytes, base_ + entry.offset);
  return bytes;
}

std::vector<std::byte> ModelMemory::snapshot(Stream& stream) const {
  std::vector<std::byte> bytes(layout_.bytes());
  stream.copy_out(bytes, base_);
  return bytes;
}

void ModelMemory::restore(Stream& stream, std::span<const std::byte> snapshot) {
  check(snapshot.size() == layout_.bytes(), Fault::bad_input,
        "restore: the snapshot has {} bytes, the model segment {}", snapshot.size(),
        layout_.bytes());
  stream.copy_in(base_, snapshot);
}

}  // namespace stepscope
