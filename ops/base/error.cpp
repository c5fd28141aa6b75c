// Names of the faults, as messages and records print them.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/error.h"

namespace stepscope {

std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::bad_graph:
      return "bad graph";
    case Fault::bad_input:
      return "bad input";
    case Fault::unsupported:
      return "unsupported";
    case Fault::device:
      return "device";
    case Fault::io:
      return "io";
  }
  return "unknown fault";
}

}  // namespace stepscope
