// What every document keeps, of records of every kind.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/document.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/report/renderers.h"
#include "tests/bench/report/full_record.h"
#include "tests/bench/report/records.h"

namespace stepscope {
namespace {

const std::vector<std::string> kSections{"verdicts", "time",       "ratio",      "where",
                                         "counts",   "fusion",     "once",       "memory",
                                         "roofline", "instrument", "environment"};

Record second_run() {
  Record record = test::full();
  record.created = "2026-12-01T10:00:00Z";
  return record;
}

Record other_model() {
  Record record = test::decided();
  record.work.model = "small_cnn";
  return record;
}

Record void_run() {
  Record record = test::full();
  record.status = "void";
  record.status_reason = "A/A control: its floor is 7.1 %";
  return record;
}

// Name -> records of a document.
std::vector<std::pair<std::string, std::vector<Record>>> cases() {
  return {{"full", {test::full()}},
          {"plain", {test::decided()}},
          {"trained", {test::trained()}},
          {"not run", {test::planned_only()}},
          {"empty", {Record()}},
          {"none", {}},
          {"void", {void_run()}},
          {"two runs of one model", {test::full(), second_run()}},
          {"two models", {test::full(), other_model()}},
          {"all kinds", {test::full(), other_model(), test::trained(), test::planned_only()}}};
}

bool is_id(const std::string& id) {
  return !id.empty() &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

const Section& section_of(const Document& document, const std::string& id) {
  return *std::find_if(document.sections.begin(), document.sections.end(),
                       [&](const Section& section) { return section.id == id; });
}

const Table* table_of(const Document& document, const std::string& id) {
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      if (table.id() == id) return &table;
    }
  }
  return nullptr;
}

bool says(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(Document, HasEverySectionInOrder) {
  for (const auto& [name, records] : cases()) {
    const Document document = document_of(records);
    std::vector<std::string> ids;
    for (const Section& section : document.sections) ids.push_back(section.id);
    EXPECT_EQ(ids, kSections) << name;
    EXPECT_EQ(document.summaries.size(), records.size()) << name;
    EXPECT_FALSE(document.title.empty()) << name;
  }
}

TEST(Document, ASectionWithoutAnythingSaysWhatWasNotMeasured) {
  for (const auto& [name, records] : cases()) {
    for (const Section& section : document_of(records).sections) {
      EXPECT_FALSE(section.title.empty()) << name;
      if (!section.figures.empty() || !section.tables.empty()) continue;
      ASSERT_FALSE(section.text.empty()) << name << ": " << section.id;
      EXPECT_TRUE(says(section.text, "not measured: ")) << name << ": " << section.text.front();
    }
  }
}

TEST(Document, TheFullRecordHasSomethingForEverySection) {
  for (const Section& section : document_of(std::vector{test::full()}).sections) {
    EXPECT_FALSE(section.tables.empty()) << section.id;
    EXPECT_FALSE(says(section.text, "not measured: ")) << section.id;
  }
}

TEST(Document, IdsAreUniqueAndFitForAnAnchor) {
  for (const auto& [name, records] : cases()) {
    std::set<std::string> ids;
    const auto check_id = [&](const std::string& id) {
      EXPECT_TRUE(is_id(id)) << name << ": " << id;
      EXPECT_TRUE(ids.insert(id).second) << name << ": " << id << " is there twice";
    };
    for (const Section& section : document_of(records).sections) {
      check_id(section.id);
      for (const Table& table : section.tables) check_id(table.id());
      for (const FigureGroup& group : section.figures) {
        check_id(group.id);
        for (const Figure& figure : group.figures) check_id(figure.id);
      }
    }
  }
}

TEST(Document, TablesAreNotEmptyAndTheirColumnsSayWhatTheyMean) {
  for (const auto& [name, records] : cases()) {
    for (const Section& section : document_of(records).sections) {
      for (const Table& table : section.tables) {
        EXPECT_FALSE(table.empty()) << name << ": " << table.id();
        EXPECT_FALSE(table.title().empty()) << name << ": " << table.id();
        for (const Table::Column& column : table.columns()) {
          EXPECT_FALSE(column.meaning.empty()) << name << ": " << column.key;
        }
      }
    }
  }
}

// What follows holds for whatever stands in a cell: a reader finds the same in CSV.
TEST(Document, ANumberInACellStandsInItsTextToo) {
  for (const auto& [name, records] : cases()) {
    for (const Section& section : document_of(records).sections) {
      for (const Table& table : section.tables) {
        for (const auto& row : table.rows()) {
          for (const Cell& cell : row) {
            if (!cell.value) continue;
            EXPECT_TRUE(std::isfinite(*cell.value)) << name << ": " << table.id();
            EXPECT_FALSE(cell.text.empty()) << name << ": " << table.id();
            EXPECT_NE(cell.text, "not measured") << name << ": " << table.id();
          }
        }
      }
    }
  }
}

void check_figure(const std::string& name, const Figure& figure, Figure::Kind kind) {
  EXPECT_FALSE(figure.title.empty()) << name;
  EXPECT_FALSE(figure.alt.empty()) << name << ": " << figure.id;
  EXPECT_TRUE(!figure.missing.empty() || !figure.series.empty()) << name << ": " << figure.id;
  std::set<std::string> names;
  for (const Series& series : figure.series) {
    EXPECT_TRUE(names.insert(series.name).second) << name << ": " << figure.id << series.name;
    EXPECT_FALSE(series.marks.empty()) << name << ": " << figure.id;
    for (const Mark& mark : series.marks) {
      EXPECT_TRUE(std::isfinite(mark.x) && std::isfinite(mark.y)) << name << ": " << figure.id;
      EXPECT_TRUE(!figure.x.logarithmic || mark.x > 0.0) << name << ": " << figure.id;
      EXPECT_TRUE(!figure.y.logarithmic || mark.y > 0.0) << name << ": " << figure.id;
      EXPECT_EQ(mark.low.has_value(), mark.high.has_value()) << name << ": " << figure.id;
      EXPECT_LE(mark.low.value_or(mark.y), mark.y) << name << ": " << figure.id;
      EXPECT_GE(mark.high.value_or(mark.y), mark.y) << name << ": " << figure.id;
      if (!figure.x.names.empty()) {
        EXPECT_LT(mark.x, static_cast<double>(figure.x.names.size())) << name << figure.id;
      }
    }
  }
  EXPECT_TRUE(kind != Figure::Kind::bars || !figure.x.names.empty()) << name << ": " << figure.id;
}

TEST(Document, FiguresCanBeDrawn) {
  for (const auto& [name, records] : cases()) {
    for (const Section& section : document_of(records).sections) {
      for (const FigureGroup& group : section.figures) {
        EXPECT_FALSE(group.figures.empty()) << name << ": " << group.id;
        EXPECT_FALSE(group.title.empty() || group.how.empty()) << name << ": " << group.id;
        for (const Figure& figure : group.figures) check_figure(name, figure, figure.kind);
      }
    }
  }
}

// No clock, no file: the same records give the same document.
TEST(Document, IsPure) {
  const std::vector<Record> records{test::full(), other_model()};
  EXPECT_EQ(markdown(document_of(records)), markdown(document_of(records)));
  EXPECT_EQ(csv(document_of(records)), csv(document_of(records)));
}

TEST(Document, AVoidRunShowsNoRatio) {
  const Document document = document_of(std::vector{void_run()});
  EXPECT_TRUE(says(section_of(document, "ratio").text, "not measured: void: why stands under"));
  EXPECT_FALSE(says(section_of(document, "ratio").text, "its floor")) << "said once";
  EXPECT_TRUE(section_of(document, "ratio").figures.empty());
  EXPECT_TRUE(says(section_of(document, "verdicts").text,
                   "its floor is 7.1 %: no ratio of it may be quoted, and none is shown but those "
                   "of the controls"));
  const Table* pairs = table_of(document, "pairs");
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(csv(*pairs).find("0.9"), std::string::npos) << csv(*pairs);
}

TEST(Document, TheRatiosOfOtherRunsAreShownBesideAVoidOne) {
  Record other = void_run();
  other.work.model = "small_cnn";
  const Document document = document_of(std::vector{test::full(), other});
  const Section& ratio = section_of(document, "ratio");
  EXPECT_FALSE(ratio.figures.empty());
  EXPECT_TRUE(says(ratio.text, "run 2: void: no ratio is shown; why stands under"));
  EXPECT_FALSE(says(ratio.text, "its floor"));
}

TEST(Document, ATraceIsNotDeniedWhereAnArmHasOne) {
  Record record = test::full();
  const std::string none = "queue delay, device busy time, idle gaps: not measured (no trace";
  EXPECT_TRUE(says(section_of(document_of(std::vector{record}), "where").notes, none));
  record.arms.front().utilization.device_busy_us = 5.0;
  const Document document = document_of(std::vector{record});
  EXPECT_FALSE(says(section_of(document, "where").notes, "no trace was taken"));
  EXPECT_TRUE(says(section_of(document, "where").notes, "queue delay, idle gaps: not measured"));
  const Document two = document_of(std::vector{record, test::full()});
  EXPECT_TRUE(says(section_of(two, "where").notes, "run 2: queue delay, device busy time"));
}

TEST(Document, ControlsThatDoNotHoldAreNamed) {
  Record record = test::full();
  record.status_reason = "A/A control eigen/eager/off/1/again: its floor is 7.1 %, above 5 %";
  const Document document = document_of(std::vector{record});
  EXPECT_TRUE(says(section_of(document, "verdicts").text, record.status_reason));
}

TEST(Document, OfSeveralRunsEachRowSaysWhoseItIs) {
  const Document one = document_of(std::vector{test::full()});
  const Document two = document_of(std::vector{test::full(), other_model()});
  for (const Section& section : two.sections) {
    for (const Table& table : section.tables) {
      EXPECT_EQ(table.columns()[0].key, "run") << table.id();
      EXPECT_EQ(table.columns()[1].key, "model") << table.id();
    }
  }
  EXPECT_EQ(table_of(one, "pairs")->columns()[0].key, "batch");
  EXPECT_TRUE(two.summaries[1].about.starts_with("run 2: small_cnn")) << two.summaries[1].about;
  // What is the same everywhere is said once.
  const std::string facts = csv(*table_of(two, "environment-facts"));
  EXPECT_NE(facts.find("all,all,processor,Model X\r\n"), std::string::npos) << facts;
  EXPECT_NE(facts.find("1,mlp:784-128-10,gpu_...,not available: no driver\r\n"), std::string::npos)
      << facts;
}

TEST(Document, AFailedGateIsSaidWherePairsWouldStand) {
  Record record = test::decided();
  record.pairs.clear();
  record.gates[0].passed = false;
  record.gates[0].detail = "w1 differs after step 1";
  const Document document = document_of(std::vector{record});
  EXPECT_TRUE(says(section_of(document, "verdicts").text, "UNEQUAL WORK before the timing"));
  EXPECT_TRUE(says(section_of(document, "verdicts").text, "no pair of arms was compared"));
  const std::string gates = csv(*table_of(document, "gates"));
  EXPECT_NE(gates.find("before,eigen,1,graph/off,eager/off,0,1,bits,process 0: w1 differs after "
                       "step 1\r\n"),
            std::string::npos)
      << gates;
}

TEST(Document, TrainingHasItsEpochsAndSubmissions) {
  const Document document = document_of(std::vector{test::trained()});
  EXPECT_TRUE(
      says(section_of(document, "time").text, "not measured: this is a record of training"));
  ASSERT_NE(table_of(document, "epochs"), nullptr);
  EXPECT_NE(table_of(document, "submissions"), nullptr);
  EXPECT_EQ(section_of(document, "where").figures.front().id, "loss");
}

TEST(Document, WhatWasNotRunHasNoNumbers) {
  const Document document = document_of(std::vector{test::planned_only()});
  for (const Section& section : document.sections) {
    EXPECT_TRUE(section.figures.empty()) << section.id;
    EXPECT_TRUE(section.tables.empty()) << section.id;
  }
  EXPECT_TRUE(says(section_of(document, "time").text, "not measured: nothing was run"));
}

}  // namespace
}  // namespace stepscope
