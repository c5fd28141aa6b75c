// The table of fusion passes, and choices among them as text.
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fusion.h"

#include <algorithm>
#include <utility>

#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {
namespace {

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Commas separate; an empty part stays one, so that it is refused.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string joined(std::span<const std::string> names, std::string_view before_each) {
  std::string text;
  for (const std::string& each : names) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", before_each, each);
  }
  return text;
}

}  // namespace

std::vector<Pass> fusion_passes(const Wishes& wishes) {
  // A product takes its bias before an activation would be chained; the loss gradient and the
  // products of weight gradients are in their final form before SGD is folded into them; updates
  // are one before a product joins them; what is left of the pointwise ops comes last.
  return {
      Pass{"epilogue", "bias and activation into products and convolutions", fuse_epilogue},
      Pass{"loss_grad", "softmax, cross-entropy and their gradient in one op", fuse_loss_grad},
      Pass{"relu_grad", "the gradient of relu into the op in front of it", fuse_relu_grad},
      Pass{"bias_grad", "gradients of bias and weight in one op", fuse_bias_grad},
      Pass{"fold_sgd", "SGD into the products that make weight gradients", fold_sgd},
      Pass{"multi_tensor", "updates of one kind in one op", fuse_multi_tensor},
      relu_mask_pass(wishes),
      small_update_pass(wishes),
      Pass{"pointwise", "chains of pointwise ops in one op", fuse_pointwise},
      layout_pass(wishes),
  };
}

std::vector<std::string> fusion_names() {
  std::vector<std::string> names;
  for (const Pass& pass : fusion_passes({})) names.emplace_back(pass.name);
  return names;
}

bool FusionChoice::has(std::string_view pass) const { return contains(passes, pass); }

FusionChoice parse_fusion(std::string_view text) {
  const std::vector<std::string> all = fusion_names();
  if (text == "off") return {};
  if (text == "on") return {all};
  check(!text.empty(), Fault::bad_input, "fusion: neither on, off nor names of passes ({})",
        fmt::join(all, ", "));
  const bool leaves_out = text.front() == '-';
  std::vector<std::string> named;
  for (std::string& part : parts_of(text)) {
    const bool minus = part.starts_with('-');
    check(minus == leaves_out || part.empty(), Fault::bad_input,
          "fusion '{}': either names of passes to run, or each with a minus to run all but these",
          text);
    if (minus) part.erase(0, 1);
    check(part != "on" && part != "off", Fault::bad_input, "fusion '{}': '{}' stands alone", text,
          part);
    check(contains(all, part), Fault::bad_input, "fusion '{}': {}", text,
          unknown_name("pass", part, all));
    named.push_back(std::move(part));
  }
  FusionChoice choice;
  std::copy_if(all.begin(), all.end(), std::back_inserter(choice.passes),
               [&](const std::string& each) { return contains(named, each) != leaves_out; });
  return choice;
}

std::string to_string(const FusionChoice& choice) {
  std::vector<std::string> chosen, others;
  for (std::string& each : fusion_names()) {
    (choice.has(each) ? chosen : others).push_back(std::move(each));
  }
  if (chosen.empty()) return "off";
  if (others.empty()) return "on";
  return others.size() < chosen.size() ? joined(others, "-") : joined(chosen, "");
}

std::vector<Pass> passes_for(const FusionChoice& choice, const Wishes& wishes) {
  std::vector<Pass> passes = {standard_passes().front()};
  for (Pass& pass : fusion_passes(wishes)) {
    if (pass.run && choice.has(pass.name)) passes.push_back(std::move(pass));
  }
  passes.push_back(standard_passes().back());
  return passes;
}

}  // namespace stepscope
