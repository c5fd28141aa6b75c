// InputSource: the batch in memory of the host, each input at a fixed address, that recordings copy
// into the input slots themselves (InputCopy::inside).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/execution/model_memory.h"

namespace stepscope {

// What a step reads that is written from outside before it.
std::vector<ValueId> inputs_of(const Graph& graph);

class InputSource {
 public:
  // Zeroed. Throws unsupported, naming the backend, where recordings hold no copies.
  InputSource(const Backend& backend, Stream& stream, const ModelLayout& layout);

  // Waits until every replay so far has read the input. Fewer bytes than the slot has are a smaller
  // batch; throws bad_input for more.
  void write(std::string_view name, std::span<const std::byte> bytes);

  // While `stream` records: a copy of each input of the graph. How many that were.
  std::size_t record(Stream& stream, const Graph& graph, const ModelMemory& memory);

 private:
  std::map<std::string, std::unique_ptr<CopySource>, std::less<>> sources_;  // by input
};

}  // namespace stepscope
