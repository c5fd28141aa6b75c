// Every record that a tested command writes: read, checked against itself, and kept for the test
// that holds it against the schema (kept_records_test.py).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace stepscope::test {

// Looks where the flags of `arguments` send a record (--json, --out); `out` is what came on
// standard output.
void keep_records(const std::vector<std::string>& arguments, const std::string& out);

}  // namespace stepscope::test
