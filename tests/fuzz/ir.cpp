// Step files: parsed, made a graph at two batch sizes, printed and parsed again.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/parse.h"
#include "ops/ir/print.h"
#include "ops/ir/verify.h"
#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {
namespace {

void graph_at(const StepFile& file, std::int64_t batch) {
  accepts([&] {
    const Graph graph = instantiate(file, batch);
    verify(graph, "input");
    const std::string text = to_text(graph);
    const Graph again = instantiate(parse_step(text, "printed"), batch);
    require(to_text(again) == text, "another graph when it is printed and parsed again");
  });
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
  StepFile file;
  if (!accepts([&] { file = parse_step(as_text(input), "input"); })) return;
  const std::string text = to_text(file);
  const StepFile again = parse_step(text, "printed");
  require(to_text(again) == text, "other text when it is printed and parsed again");
  for (const std::int64_t batch : {1, 3}) graph_at(file, batch);
}

}  // namespace stepscope::fuzz
