// The lab's lists as JSON and as a table.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/lab_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/report/columns.h"
#include "bench/report/numbers.h"
#include "bench/report/renderers.h"
#include "bench/report/table.h"

namespace stepscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kQuartiles = "type 7 (Hyndman and Fan 1996), linear interpolation";

struct NamedList {
  const char* name;
  LabList LabReport::*list;
};
constexpr NamedList kLists[] = {{"data", &LabReport::data_ms},
                                {"step", &LabReport::step_ms},
                                {"total", &LabReport::total_ms},
                                {"residual", &LabReport::residual_ms}};

// One value of each list, by name.
Json values_of(const LabReport& report, double LabList::*value) {
  Json values = Json::object();
  for (const NamedList& named : kLists) {
    const LabList& list = report.*named.list;
    values[named.name] = list.ms.empty() ? Json() : Json(list.*value);
  }
  return values;
}

Json environment_of(const LabReport& report) {
  Json facts = Json::object();
  for (const Fact& fact : report.environment) {
    facts[fact.name] = fact.value ? Json{{"value", *fact.value}}
                                  : Json{{"value", nullptr}, {"reason", fact.reason}};
  }
  return facts;
}

std::string ms_cell(double ms) { return time_text(ms * 1e6); }

std::string lists_text(const LabReport& report) {
  Table table("lists", "", columns({"list", "median", "quartiles", "least_most", "samples"}));
  for (const NamedList& named : kLists) {
    const LabList& list = report.*named.list;
    if (list.ms.empty()) {
      table.add({named.name, kNotMeasured, "", "", "0"});
      continue;
    }
    table.add({named.name, ms_cell(list.median),
               fmt::format("{} .. {}", ms_cell(list.q1), ms_cell(list.q3)),
               fmt::format("{} .. {}", ms_cell(list.min), ms_cell(list.max)),
               fmt::to_string(list.ms.size())});
  }
  return terminal_text(table);
}

}  // namespace

std::string lab_json(const LabReport& report) {
  Json json;
  json["schema"] = "stepscope-lab 1";
  json["status"] = report.status;
  json["status_reason"] = report.status_reason;
  json["version"] = report.version;
  json["created"] = report.created;
  json["preset"] = report.preset;
  json["device"] = report.device;
  json["backend"] = report.backend;
  json["mode"] = report.mode;
  json["threads"] = report.threads;
  json["model"] = report.model;
  json["optimizer"] = report.optimizer;
  json["rate"] = report.rate;
  json["dtype"] = report.dtype;
  json["data"] = report.data;
  json["seed"] = report.seed;
  json["batch_size"] = report.batch_size;
  json["warmup"] = report.warmup;
  json["repeat"] = report.repeat;
  json["scope"] = "pipeline";
  json["includes"] = {"data", "input_copy", "loss_readback"};
  json["shuffle"] = kLabShuffle;
  json["loss_readback"] = kLabReadback;
  json["clock"] = "steady";
  json["quartile_method"] = kQuartiles;
  for (const NamedList& named : kLists) {
    const LabList& list = report.*named.list;
    json[fmt::format("{}_ms", named.name)] = list.ms.empty() ? Json() : Json(list.ms);
  }
  json["median"] = values_of(report, &LabList::median);
  json["min"] = values_of(report, &LabList::min);
  json["max"] = values_of(report, &LabList::max);
  json["q1"] = values_of(report, &LabList::q1);
  json["q3"] = values_of(report, &LabList::q3);
  json["environment"] = environment_of(report);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string lab_text(const LabReport& report) {
  std::string text = fmt::format(
      "{} on {} ({}), mode {}, batch {}, warm-up {}, repeat {}, seed {}, data: {}\n", report.model,
      report.device, report.backend.empty() ? "no backend" : report.backend, report.mode,
      report.batch_size, report.warmup, report.repeat, report.seed, report.data);
  if (report.status != "complete") {
    text += fmt::format("status: {}: {}\n", report.status, report.status_reason);
  }
  text += lists_text(report);
  return text + fmt::format(
                    "quartiles of {}; residual: total less data less step\n"
                    "scope: pipeline; shuffling {}; loss read back {}\n",
                    kQuartiles, kLabShuffle, kLabReadback);
}

}  // namespace stepscope
