// Ways of recording by name.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/record_as.h"

#include <string>
#include <vector>

#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {

std::string_view name(RecordAs as) {
  switch (as) {
    case RecordAs::tape:
      return "tape";
    case RecordAs::capture:
      return "capture";
    case RecordAs::nodes:
      return "nodes";
  }
  fail(Fault::bad_input, "recording: {} is no way of recording", static_cast<int>(as));
}

RecordAs record_as_from(std::string_view text) {
  std::vector<std::string> names;
  for (const RecordAs as : {RecordAs::tape, RecordAs::capture, RecordAs::nodes}) {
    if (name(as) == text) return as;
    names.emplace_back(name(as));
  }
  fail(Fault::bad_input, "{}", unknown_name("way of recording", text, names));
}

}  // namespace stepscope
