// The report of one full record, in every form but the page: read a difference before committing
// it.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/report/document.h"
#include "bench/report/renderers.h"
#include "bench/report/text.h"
#include "tests/bench/report/full_record.h"
#include "tests/bench/report/records.h"
#include "tests/support/golden.h"

namespace stepscope {
namespace {

TEST(ReportGolden, Terminal) {
  test::expect_golden("report/terminal.txt", compare_text(test::full()));
}

TEST(ReportGolden, Markdown) {
  test::expect_golden("report/report.md", markdown(document_of(std::vector{test::full()})));
}

TEST(ReportGolden, Csv) {
  std::string files;
  for (const auto& [name, text] : csv(document_of(std::vector{test::full()}))) {
    files += fmt::format("---- {}\n{}", name, text);
  }
  test::expect_golden("report/tables.csv.txt", files);
}

TEST(ReportGolden, SeveralRuns) {
  Record other = test::decided();
  other.work.model = "small_cnn";
  test::expect_golden("report/several.md",
                      markdown(document_of(std::vector{test::full(), other, test::trained()})));
}

}  // namespace
}  // namespace stepscope
