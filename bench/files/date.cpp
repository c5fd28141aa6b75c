// Reading the calendar.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/date.h"

#include <fmt/chrono.h>

#include <ctime>

namespace stepscope {

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace stepscope
