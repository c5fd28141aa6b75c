// Step files: parsed, made a graph at two batch sizes, printed and parsed again.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/error.h"
#include "ops/ir/parse.h"
#include "ops/ir/print.h"
#include "ops/ir/verify.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {
namespace {

void must_read(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    require(false, error.what());
  }
}

// What was printed here, read again: there is no reason to refuse it.
StepFile parse_printed(const std::string& text) {
  StepFile file;
  must_read([&] { file = parse_step(text, "printed"); });
  return file;
}

void graph_at(const StepFile& file, std::int64_t batch) {
  Graph graph;
  if (!accepts([&] { graph = instantiate(file, batch); })) return;
  must_read([&] { verify(graph, "input"); });
  const std::string text = to_text(graph);
  const StepFile printed = parse_printed(text);
  Graph again;
  must_read([&] { again = instantiate(printed, batch); });
  require(to_text(again) == text, "another graph when it is printed and parsed again");
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
  StepFile file;
  if (!accepts([&] { file = parse_step(as_text(input), "input"); })) return;
  const std::string text = to_text(file);
  require(to_text(parse_printed(text)) == text, "other text when it is printed and parsed again");
  for (const std::int64_t batch : {1, 3}) graph_at(file, batch);
}

}  // namespace stepscope::fuzz
