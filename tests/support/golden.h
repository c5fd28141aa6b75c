// Texts that people read are compared with files under tests/golden, byte by byte.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace stepscope::test {

// Expects `text` to be what tests/golden/`file` holds. With STEPSCOPE_WRITE_GOLDEN=1 in the
// environment it writes the file instead: read the difference before committing it.
void expect_golden(std::string_view file, std::string_view text);

}  // namespace stepscope::test
