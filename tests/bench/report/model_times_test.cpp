// Reports of simulated backends: labelled wherever they are named, counts as ever, and no word that
// only times could give.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/record/simulated.h"
#include "bench/report/document.h"
#include "bench/report/renderers.h"
#include "bench/report/sentences.h"
#include "bench/report/text.h"
#include "tests/bench/report/records.h"

namespace stepscope {
namespace {

constexpr const char* kWhy = "no time of cuda-sim is one of a GPU";

// As an analysis leaves it.
void refuse(PairRecord& pair) {
  pair.ratios = {{.reason = kWhy, .verdict = "void", .verdict_reason = kWhy}};
  pair.break_even.reset();
}

Record modelled() {
  Record record = test::decided("cuda-sim");
  for (ArmRecord& arm : record.arms) arm.simulated = true;
  for (PairRecord& pair : record.pairs) refuse(pair);
  record.status = kSimulated;
  record.status_reason = kWhy;
  record.backends = {{"cuda-sim", {}}};
  add_simulated_note(record);
  return record;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const Section& section_of(const Document& document, const std::string& id) {
  return *std::find_if(document.sections.begin(), document.sections.end(),
                       [&](const Section& section) { return section.id == id; });
}

TEST(ModelTimesReport, SentencesHaveCountsAndNoRatio) {
  const std::vector<std::string> said = sentences(modelled());
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0], "There is no ratio: no time of cuda-sim is one of a GPU.");
  EXPECT_TRUE(
      has(said[1], "on cuda-sim (simulated), graph hands over 1 submission a step in place of"))
      << said[1];
  EXPECT_TRUE(has(said[1], "fusion removes")) << said[1];
  EXPECT_TRUE(has(said[2], "with cuda-sim (simulated: none of its times is one of a GPU)"))
      << said[2];
}

TEST(ModelTimesReport, TheTerminalHasNoVerdict) {
  const std::string text = test::unwrapped(compare_text(modelled()));
  for (const char* word :
       {"FASTER", "SLOWER", "UNDECIDED", "crossover", "break-even", "paid back"}) {
    EXPECT_FALSE(has(text, word)) << word << "\n" << text;
  }
  EXPECT_TRUE(has(text, "status: simulated: no time of cuda-sim is one of a GPU")) << text;
  EXPECT_TRUE(has(text, "cuda-sim (simulated)"));
  EXPECT_FALSE(has(text, "time ratio")) << text;  // one line, not a table of the same reason
  EXPECT_FALSE(has(test::squeezed(text), " graph/off eager/off not measured")) << text;
}

TEST(ModelTimesReport, EveryTableSaysSo) {
  const Document document = document_of(std::vector{modelled()});
  EXPECT_TRUE(has(document.summaries.front().about, "simulated: cuda-sim"));
  EXPECT_EQ(document.summaries.front().status, std::string("simulated: ") + kWhy);
  std::size_t labels = 0;
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      for (const auto& row : table.rows()) {
        for (const Cell& cell : row) {
          EXPECT_NE(cell.text, "cuda-sim") << table.id();
          EXPECT_FALSE(cell.text == "FASTER" || cell.text == "SLOWER" || cell.text == "SAME");
          if (cell.text == "cuda-sim (simulated)") ++labels;
        }
      }
    }
  }
  EXPECT_GT(labels, 20U);
  const Section& time = section_of(document, "time");
  ASSERT_FALSE(time.tables.empty());
  for (const Table& table : time.tables) {
    ASSERT_FALSE(table.notes.empty()) << table.id();
    EXPECT_EQ(table.notes.front(),
              std::string("simulated: these times of cuda-sim are ") +
                  (table.id() == "device-time" ? "values of the simulator's model"
                                               : "what simulating took on this processor, no time "
                                                 "of a GPU"));
  }
}

TEST(ModelTimesReport, TheirPageHasALineInPlaceOfRatios) {
  const Document document = document_of(std::vector{modelled()});
  const Section& verdicts = section_of(document, "verdicts");
  ASSERT_FALSE(verdicts.text.empty());
  EXPECT_EQ(verdicts.text.front(), std::string("not measured: a ratio, for ") + kWhy);
  EXPECT_TRUE(verdicts.tables.empty());
  for (const std::string& line : verdicts.text) EXPECT_FALSE(has(line, "FASTER")) << line;
}

// Two curves side by side are a ratio for the eye.
TEST(ModelTimesReport, NoTimeIsDrawn) {
  const Document document = document_of(std::vector{modelled()});
  for (const char* id : {"time", "ratio", "where"}) {
    EXPECT_TRUE(section_of(document, id).figures.empty()) << id;
  }
  EXPECT_FALSE(section_of(document, "counts").figures.empty());
}

TEST(ModelTimesReport, BesideAMeasuredBackendItsPairsSayWhy) {
  Record record = test::decided("eigen");
  test::add_backend(record, modelled());
  for (PairRecord& pair : record.pairs) {
    if (pair.of.starts_with("cuda-sim")) refuse(pair);
  }
  const std::string text = test::unwrapped(compare_text(record));
  EXPECT_TRUE(has(text,
                  "Between backends, cuda-sim against eigen in graph, fusion off: at batch 1 no "
                  "ratio: no time of cuda-sim is one of a GPU;"))
      << text;
  EXPECT_TRUE(has(text, "FASTER"));  // of eigen
  EXPECT_TRUE(has(text, "On cuda-sim (simulated), eager dispatch alone takes")) << text;
  EXPECT_TRUE(has(text, "; on eigen, eager dispatch alone takes")) << text;
  EXPECT_TRUE(has(text, "cuda-sim (simulated)/graph/on"));
}

}  // namespace
}  // namespace stepscope
