// Making documents.
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/report/html/sample_document.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace stepscope::test {
namespace {

Look look_of(std::size_t mode, bool fused) {
  return {.color = static_cast<std::uint8_t>(mode),
          .shape = static_cast<std::uint8_t>(mode),
          .filled = fused,
          .dash = static_cast<std::uint8_t>(fused ? 0 : 1)};
}

constexpr const char* kModes[] = {"eager", "planned", "graph"};

Figure roofline_figure() {
  Figure figure{.id = "roofline-eigen",
                .title = "eigen",
                .alt = "Steps stay between a tenth and a half of the arithmetic peak.",
                .x = {.label = "arithmetic intensity, operations per byte", .logarithmic = true},
                .y = {.label = "GFLOP/s", .logarithmic = true}};
  figure.series.push_back({.name = "bandwidth of memory",
                           .look = {.color = 5, .shape = 6, .filled = true, .dash = 1},
                           .line = true,
                           .marks = {{.x = 0.1, .y = 1.2}, {.x = 6, .y = 72}}});
  for (std::size_t mode = 0; mode < 3; ++mode) {
    Series series{.name = fmt::format("{}/on", kModes[mode]), .look = look_of(mode, true)};
    series.line = false;
    for (double batch = 1; batch <= 4096; batch *= 4) {
      series.marks.push_back({.x = 0.3 + batch / 40, .y = 0.9 * batch / (1 + batch / 30)});
    }
    figure.series.push_back(series);
  }
  figure.guides.push_back({.axis = Guide::Across::y, .at = 72, .label = "peak of one thread, 72"});
  return figure;
}

Figure names_figure() {
  Figure figure{.id = "memory-names",
                .title = "onednn",
                .alt = "Graph holds less than eager.",
                .x = {.label = "", .names = {"eager/off", "eager/on", "planned/off", "graph/on"}},
                .y = {.label = "bytes reserved", .least = 0.0}};
  figure.spread = Figure::Spread::bars;
  figure.series.push_back({.name = "first step",
                           .look = {.color = 3, .shape = 3},
                           .line = false,
                           .marks = {{0, 1.4e6, 1.3e6, 1.5e6}, {1, 1.2e6}, {2, 9e5}, {3, 8e5}}});
  figure.series.push_back({.name = "steady",
                           .look = {.color = 4, .shape = 4, .filled = false, .dash = 1},
                           .line = false,
                           .marks = {{0, 1.1e6}, {1, 1.0e6}, {2, 8e5}, {3, 7e5}}});
  return figure;
}

Figure missing_figure() {
  Figure figure{.id = "where-trace", .title = "eigen", .alt = "Nothing.", .x = {}, .y = {}};
  figure.missing = "not measured: no trace was taken";
  return figure;
}

Table::Column text_column(std::string key, std::string title, std::string meaning) {
  return {.key = std::move(key),
          .title = std::move(title),
          .meaning = std::move(meaning),
          .unit = "",
          .align = Table::Align::left,
          .parts = {}};
}

Table::Column number_column(std::string key, std::string title, std::string meaning,
                            std::string unit = "") {
  return {.key = std::move(key),
          .title = std::move(title),
          .meaning = std::move(meaning),
          .unit = std::move(unit),
          .align = Table::Align::right,
          .parts = {}};
}

Table verdict_table_sample() {
  Table table("verdicts", "Graph against eager, fused against not",
              {text_column("backend", "backend", "Whose kernels computed the step"),
               number_column("batch", "batch", "Rows of a batch"),
               text_column("arm", "arm", "Mode and fusion"),
               text_column("base", "base", "The arm that it is divided by"),
               number_column("time_ratio", "time ratio", "Time of the arm over time of its base"),
               number_column("interval", "95 % interval", "Where the ratio lies"),
               number_column("base_time", "base time", "What a step of the base takes", "ns"),
               number_column("arm_time", "arm time", "What a step of the arm takes", "ns"),
               number_column("p", "p (Holm)", "Chance of so clear a ratio"),
               text_column("verdict", "verdict", "What may be said of it")});
  const char* verdicts[] = {"FASTER", "SLOWER", "SAME", "UNDECIDED", "exploratory", "void"};
  int i = 0;
  for (const char* backend : {"eigen", "onednn"}) {
    for (const int batch : {1, 32, 1024}) {
      table.add({backend,
                 {fmt::format("{}", batch), 1.0 * batch},
                 "graph/on",
                 "eager/off",
                 {"0.912", 0.912},
                 "0.897 .. 0.931",
                 {"12.3 us", 12300},
                 {"11.2 us", 11200},
                 "0.0001",
                 verdicts[i++]});
    }
  }
  table.notes = {"A ratio below 1: the arm takes less time than its base."};
  return table;
}

Table long_table() {
  Table table("latency", "Latency: each step waited for",
              {text_column("backend", "backend", "Whose kernels computed the step"),
               text_column("arm", "arm", "Mode and fusion"),
               number_column("batch", "batch", "Rows of a batch"),
               number_column("median", "median", "Half of the steps took less", "ns"),
               number_column("quartiles", "quartiles", "A quarter took less, a quarter more", "ns"),
               text_column("flags", "flags", "Warnings that change no number")});
  for (const char* backend : {"eigen", "onednn"}) {
    for (int i = 0; i < 30; ++i) {
      table.add(
          {backend,
           fmt::format("{}/{}", kModes[i % 3], i % 2 == 0 ? "on" : "off"),
           {fmt::format("{}", 1 << (i / 6)), 1.0 * (1 << (i / 6))},
           i == 7 ? Cell("not measured") : Cell(fmt::format("{:.1f} us", 9.0 + i), 9e3 + i),
           fmt::format("{:.1f} .. {:.1f} us", 8.5 + i, 9.5 + i),
           i == 3 ? "drift: times change over the run by up to +17.9 % in 2 of 5 processes" : ""});
    }
  }
  return table;
}

std::vector<Section> sample_sections() {
  std::vector<Section> sections;
  sections.push_back({.id = "verdicts",
                      .title = "Is the difference real?",
                      .text = {"The control held: its floor is 1.2 %."},
                      .figures = {},
                      .tables = {verdict_table_sample()},
                      .notes = {"blocks voided, and kept in the record: 12 of 480"}});
  sections.push_back({.id = "time",
                      .title = "Time per step against batch size",
                      .text = {},
                      .figures = {{.id = "throughput",
                                   .title = "Throughput",
                                   .how = "Both axes are logarithmic; a band holds the quartiles.",
                                   .figures = {time_figure("eigen"), time_figure("onednn"),
                                               time_figure("reference")}}},
                      .tables = {long_table()},
                      .notes = {}});
  sections.push_back(
      {.id = "ratio",
       .title = "What a graph, a plan and fusion change, by batch",
       .text = {},
       .figures = {{.id = "ratios",
                    .title = "Graph over eager",
                    .how = "Below 1 the graph takes less time; a bar is the interval.",
                    .figures = {ratio_figure("eigen"), ratio_figure("onednn")}}},
       .tables = {},
       .notes = {}});
  sections.push_back(
      {.id = "where",
       .title = "Where the time goes",
       .text = {"not measured: queue delay, since no trace was taken"},
       .figures = {{.id = "trace", .title = "Trace", .how = "", .figures = {missing_figure()}}},
       .tables = {},
       .notes = {}});
  sections.push_back(
      {.id = "counts",
       .title = "Launches and bytes",
       .text = {},
       .figures = {{.id = "calls",
                    .title = "Calls by phase",
                    .how = "",
                    .figures = {bars_figure(), names_figure()}},
                   {.id = "roof", .title = "Roofline", .how = "", .figures = {roofline_figure()}}},
       .tables = {},
       .notes = {}});
  sections.push_back({.id = "once",
                      .title = "What is paid once",
                      .text = {"not measured: the record has no one-off costs"},
                      .figures = {},
                      .tables = {},
                      .notes = {}});
  return sections;
}

}  // namespace

Figure time_figure(const std::string& backend) {
  Figure figure{.id = fmt::format("time-{}", backend),
                .title = backend,
                .alt = "The curves meet from batch 128 on.",
                .x = {.label = "batch size", .logarithmic = true},
                .y = {.label = "time per step, us", .logarithmic = true}};
  figure.spread = Figure::Spread::band;
  for (std::size_t mode = 0; mode < 3; ++mode) {
    for (const bool fused : {true, false}) {
      Series series{.name = fmt::format("{}/{}", kModes[mode], fused ? "on" : "off"),
                    .look = look_of(mode, fused)};
      for (double batch = 1; batch <= 4096; batch *= 2) {
        const double time =
            3.0 * static_cast<double>(3 - mode) + (fused ? 0.8 : 1.0) * (4 + 2.1 * batch);
        series.marks.push_back({.x = batch, .y = time, .low = time * 0.92, .high = time * 1.15});
      }
      figure.series.push_back(series);
    }
  }
  return figure;
}

Figure ratio_figure(const std::string& backend) {
  Figure figure{.id = fmt::format("ratio-{}", backend),
                .title = backend,
                .alt = "Faster up to batch 32, then the same.",
                .x = {.label = "batch size", .logarithmic = true},
                .y = {.label = "time ratio"}};
  figure.spread = Figure::Spread::bars;
  for (const bool fused : {true, false}) {
    Series series{.name = fused ? "graph over eager, fused" : "graph over eager",
                  .look = look_of(2, fused)};
    for (const double batch : {1, 8, 32, 128, 512, 4096}) {
      const double ratio = (fused ? 0.98 : 1.0) - 0.4 / (1 + batch / 6);
      series.marks.push_back({.x = batch, .y = ratio, .low = ratio - 0.03, .high = ratio + 0.03});
    }
    figure.series.push_back(series);
  }
  figure.guides = {
      {.axis = Guide::Across::y, .at = 0.98, .to = 1.02, .label = "SAME"},
      {.axis = Guide::Across::x, .at = 64, .to = {}, .label = "crossover 64"},
      {.axis = Guide::Across::x, .at = 256, .to = {}, .label = "crossover, fused 256"}};
  return figure;
}

Figure bars_figure() {
  Figure figure{.id = "calls-eigen",
                .title = "eigen, batch 32",
                .alt = "Fusion removes three calls.",
                .x = {.label = "phases",
                      .names = {"forward", "loss", "backward", "update", "forward+loss+backward"}},
                .y = {.label = "calls per step"}};
  figure.kind = Figure::Kind::bars;
  figure.series.push_back({.name = "fused",
                           .look = {.color = 2},
                           .line = false,
                           .marks = {{0, 3}, {2, 4}, {3, 2}, {4, 1}}});
  figure.series.push_back({.name = "not fused",
                           .look = {.color = 2, .filled = false, .dash = 1},
                           .line = false,
                           .marks = {{0, 5}, {1, 2}, {2, 6}, {3, 4}}});
  return figure;
}

Document sample_document() {
  return {.title = "mlp:784-128-10: eager, planned and graph on eigen and onednn",
          .summaries =
              {{.about = "mlp:784-128-10 on Intel Xeon, Linux 6.1, g++ 12.2.0",
                .status = "complete",
                .sentences = {"On eigen, eager dispatch alone takes 1.09 us a step at batch 32 "
                              "(64.2 ns per op; 0.5 % of a step of 209 us in throughput).",
                              "On eigen, graph hands over 1 submission a step in place of 17: at "
                              "batch 1 FASTER, 0.901 of eager's 10.0 us; at batch 32 SAME."}},
               {.about = "small_cnn on Intel Xeon, Linux 6.1, g++ 12.2.0",
                .status = "void: the control excludes 1",
                .sentences = {"The run is void: no ratio of it may be quoted."}}},
          .sections = sample_sections()};
}

Document hostile_document() {
  const std::string bad = kHostile;
  Table table("bad", bad, {text_column("key", bad, bad), number_column("verdict", bad, bad, bad)});
  table.add({bad, bad});
  table.add({"FASTER", "FASTER"});
  table.notes = {bad};
  Figure marks = time_figure("bad");
  marks.title = marks.alt = marks.x.label = marks.y.label = bad;
  for (Series& series : marks.series) series.name = bad;
  marks.guides = {{.axis = Guide::Across::x, .at = 8, .to = {}, .label = bad},
                  {.axis = Guide::Across::y, .at = 50, .to = {}, .label = bad}};
  Figure bars = bars_figure();
  bars.x.names[1] = bars.y.label = bad;
  Figure missing = missing_figure();
  missing.missing = bad;
  return {.title = bad,
          .summaries = {{.about = bad, .status = bad, .sentences = {bad}}},
          .sections = {
              {.id = "bad-section",
               .title = bad,
               .text = {bad},
               .figures =
                   {{.id = "group", .title = bad, .how = bad, .figures = {marks, bars, missing}}},
               .tables = {table},
               .notes = {bad}}}};
}

}  // namespace stepscope::test
