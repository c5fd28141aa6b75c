// One source of copies for each input of the model segment.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/input_source.h"

#include <algorithm>

#include "ops/base/check.h"

namespace stepscope {

std::vector<ValueId> inputs_of(const Graph& graph) {
  std::vector<ValueId> inputs;
  for (const ValueId id : graph.ids()) {
    const Value& value = graph.value(id);
    if (value.role == Role::input && value.producer < 0 && value.sharing == Sharing::own) {
      inputs.push_back(id);
    }
  }
  return inputs;
}

InputSource::InputSource(const Backend& backend, Stream& stream, const ModelLayout& layout) {
  for (const auto& [name, entry] : layout.entries()) {
    if (entry.role != Role::input) continue;
    std::unique_ptr<CopySource> source = stream.make_copy_source(entry.bytes);
    check(source != nullptr, Fault::unsupported,
          "{}: its recordings hold no copies, so inputs are copied outside of them alone",
          backend.name());
    std::ranges::fill(source->refill(), std::byte{0});
    sources_[name] = std::move(source);
  }
}

void InputSource::write(std::string_view name, std::span<const std::byte> bytes) {
  const auto found = sources_.find(name);
  check(found != sources_.end(), Fault::bad_input, "write '{}': there is no such input", name);
  CopySource& source = *found->second;
  check(bytes.size() <= source.bytes(), Fault::bad_input,
        "write '{}': {} bytes given, its slot holds {}", name, bytes.size(), source.bytes());
  std::ranges::copy(bytes, source.refill().begin());
}

std::size_t InputSource::record(Stream& stream, const Graph& graph, const ModelMemory& memory) {
  const std::vector<ValueId> inputs = inputs_of(graph);
  for (const ValueId id : inputs) {
    const Value& value = graph.value(id);
    stream.record_copy(memory.address(value.name), *sources_.at(value.name), value.type.bytes());
  }
  return inputs.size();
}

}  // namespace stepscope
