// Finding the ops of the models, and naming them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/op_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "backends/execution/program.h"
#include "graph/passes/fusion.h"
#include "ops/ir/op_def.h"

namespace stepscope::suites {
namespace {

constexpr std::size_t kMostShapes = 4;

// `name = value` by `name = value`; commas within braces part nothing.
std::vector<std::string> settings_of(const Attrs& attrs) {
  std::vector<std::string> settings(1);
  int depth = 0;
  for (const char c : to_string(attrs)) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      settings.emplace_back();
    } else if (c != ' ' || !settings.back().empty()) {
      settings.back() += c;
    }
  }
  return settings;
}

// As a part of a name, without spaces and braces: type=f32.32_10, step=Scale_0.5_current_first.
std::string in_name(const std::string& setting) {
  std::string text;
  for (std::size_t i = 0; i < setting.size(); ++i) {
    if (setting.substr(i, 3) == " = ") {
      text += '=';
      i += 2;
    } else if (setting[i] == ' ' || setting[i] == ',') {
      text += text.ends_with('_') ? "" : "_";
    } else if (setting[i] != '}') {
      text += setting[i] == '{' ? '.' : setting[i];
    }
  }
  return text;
}

std::string unusual_settings(const OpSite& site) {
  const std::vector<std::string> usual = settings_of(op_def(site.kind).attrs);
  std::string text;
  for (const std::string& setting : settings_of(site.attrs)) {
    if (setting.empty() || std::find(usual.begin(), usual.end(), setting) != usual.end()) continue;
    text += fmt::format("{}{}", text.empty() ? "/" : ",", in_name(setting));
  }
  return text;
}

std::string shape_text(const TensorType& type) {
  std::string text = type.shape.rank() == 0 ? "s" : "";
  for (const std::int64_t size : type.shape.dims()) {
    text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  }
  if (type.layout != LayoutId::row_major) {
    text += fmt::format("@{}", static_cast<int>(type.layout));
  }
  return text;
}

// M, K, N of a product whose operands begin at input `first`.
std::string product_text(const OpSite& site, std::size_t first, bool transpose_a,
                         bool transpose_b) {
  const Shape& a = site.in[first].shape;
  const Shape& b = site.in[first + 1].shape;
  return fmt::format("{}x{}x{}", a[transpose_a ? 1 : 0], a[transpose_a ? 0 : 1],
                     b[transpose_b ? 0 : 1]);
}

std::string sizes_text(const OpSite& site) {
  if (const auto* product = std::get_if<MatMulAttrs>(&site.attrs)) {
    return product_text(site, 0, product->transpose_a, product->transpose_b);
  }
  if (const auto* update = std::get_if<ProductUpdateAttrs>(&site.attrs)) {
    return product_text(site, 1, update->transpose_a, update->transpose_b);
  }
  if (site.in.size() > kMostShapes) {
    std::int64_t elements = 0;
    for (const TensorType& type : site.out) elements += type.shape.elements();
    return fmt::to_string(elements);
  }
  std::string text;
  for (const TensorType& type : site.in) {
    text += fmt::format("{}{}", text.empty() ? "" : ",", shape_text(type));
  }
  return text.empty() ? shape_text(site.out.front()) : text;
}

Model model_of(const OpPlace& place) { return make_model(place.model, {.kind = place.optimizer}); }

// Those of a model that has any, by the order of places.
std::vector<OpPlace> places_of(const std::string& model, std::int64_t batch,
                               bool with_all_optimizers) {
  std::vector<OpPlace> places;
  const bool has_loss = make_model(model).has_loss();
  for (const char* fusion : {"off", "on"}) {
    for (const auto optimizer :
         {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
      if (optimizer != OptimizerSpec::Kind::sgd && !with_all_optimizers) continue;
      places.push_back({model, optimizer, fusion, false, batch});
    }
    if (has_loss) places.push_back({model, OptimizerSpec::Kind::sgd, fusion, true, batch});
  }
  return places;
}

}  // namespace

std::string op_shape(const OpSite& site) { return sizes_text(site) + unusual_settings(site); }

Graph graph_of(const OpPlace& place, Backend& backend) {
  const Model model = model_of(place);
  return run_passes(place.evaluation ? model.evaluation(place.batch) : model.step(place.batch),
                    passes_for(parse_fusion(place.fusion), backend.wishes()))
      .graph;
}

std::vector<OpCase> op_cases(std::span<const std::string> models,
                             std::span<const std::int64_t> batches, Backend& backend) {
  std::vector<OpCase> cases;
  std::set<std::string> known;
  std::set<std::size_t> trained;  // ranks of rows: vectors, images
  for (const std::string& model : models) {
    const Model made = make_model(model);
    const bool all_optimizers = made.has_loss() && trained.insert(made.row.rank()).second;
    for (const std::int64_t batch : batches) {
      for (const OpPlace& place : places_of(model, batch, all_optimizers)) {
        const Graph graph = graph_of(place, backend);
        for (std::size_t op = 0; op < graph.ops().size(); ++op) {
          const OpSite site = site_of(graph, op);
          OpCase found{std::string(name(site.kind)), op_shape(site), place, op};
          if (known.insert(found.kind + "/" + found.shape).second) cases.push_back(found);
        }
      }
    }
  }
  return cases;
}

}  // namespace stepscope::suites
