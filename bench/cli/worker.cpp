// Orders and costs as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/worker.h"

#include <nlohmann/json.hpp>

#include "ops/base/check.h"

namespace stepscope::cli {
namespace {

template <class F>
auto parsed(const std::string& text, const std::string& source, F&& from) {
  try {
    return from(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    fail(Fault::bad_input, "{}: no message between processes of compare: {}", source, error.what());
  }
}

}  // namespace

std::string to_text(const WorkerOrder& order) {
  return nlohmann::json{{"backend", order.backend},
                        {"process", order.plan.process},
                        {"blocks", order.plan.blocks},
                        {"seed", order.plan.seed},
                        {"extras", order.plan.extras == Extras::all},
                        {"machine", order.plan.calibration.machine},
                        {"record", order.record},
                        {"costs", order.costs},
                        {"label", order.label},
                        {"share", {order.share.from, order.share.to}},
                        {"left_s", order.share.left_s.value_or(0.0)}}
      .dump();
}

WorkerOrder worker_order_from(const std::string& text, const std::string& source) {
  return parsed(text, source, [](const nlohmann::json& json) {
    const double left_s = json.at("left_s");
    return WorkerOrder{
        .backend = json.at("backend"),
        .plan = {.process = json.at("process"),
                 .blocks = json.at("blocks"),
                 .seed = json.at("seed"),
                 .extras = json.at("extras").get<bool>() ? Extras::all : Extras::none,
                 .calibration = {.machine = json.at("machine")}},
        .record = json.at("record"),
        .costs = json.at("costs"),
        .label = json.at("label"),
        .share = {.from = json.at("share").at(0),
                  .to = json.at("share").at(1),
                  .left_s = left_s > 0.0 ? std::optional(left_s) : std::nullopt}};
  });
}

std::string to_text(const ProcessCosts& costs) {
  return nlohmann::json{{"rounds_s", costs.rounds_s}, {"extras_s", costs.extras_s}}.dump();
}

ProcessCosts costs_from(const std::string& text, const std::string& source) {
  return parsed(text, source, [](const nlohmann::json& json) {
    return ProcessCosts{.rounds_s = json.at("rounds_s"), .extras_s = json.at("extras_s")};
  });
}

}  // namespace stepscope::cli
