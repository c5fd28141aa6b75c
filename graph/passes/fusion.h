// Fusion: passes that put several ops into one, the table of them, and the choice among them.
// Each is described in docs/fusion.md. Every mode runs with and without them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/passes/pass.h"
#include "graph/plan/wishes.h"

namespace stepscope {

// What stays apart, and why, is in the notes of each.
PassResult fuse_epilogue(const Graph& graph);
PassResult fuse_loss_grad(const Graph& graph);
PassResult fuse_relu_grad(const Graph& graph);
PassResult fuse_bias_grad(const Graph& graph);
PassResult fold_sgd(const Graph& graph);
PassResult fuse_multi_tensor(const Graph& graph);
PassResult fuse_pointwise(const Graph& graph);

// Passes that wait for a wish of the backend: without one they have no `run`.
//
// A relu in a product saves where a gradient passes, and the gradient in a product reads that.
Pass relu_mask_pass(const Wishes& wishes);
// The product that updates a small weight goes into the update of the other parameters behind it.
Pass small_update_pass(const Wishes& wishes);
// Puts values into the layouts that a backend wants, and reorders where two wishes meet. Values
// that are kept stay row-major. The chooser must outlive the pass.
Pass layout_pass(const Wishes& wishes);

// All of them in an order that works. What waits for another wish than these has no `run`.
std::vector<Pass> fusion_passes(const Wishes& wishes);

// Names of all that can be chosen, in the order in which they run.
std::vector<std::string> fusion_names();

// Which of them run. Made by parse_fusion, or as a list of names; order and doubles do not matter.
struct FusionChoice {
  std::vector<std::string> passes;  // empty: fusion is off
  bool has(std::string_view pass) const;
};

// `on`, `off`, `epilogue,loss_grad` (these alone) or `-fold_sgd,-layout` (all but these).
// Throws bad_input: names that there are not (with the nearest), both kinds in one text, no text.
FusionChoice parse_fusion(std::string_view text);

// The text that stands for the choice: parse_fusion gives the choice back, and equal choices have
// equal texts. `on`, `off`, or the shorter of the two lists, in the order of fusion_names().
std::string to_string(const FusionChoice& choice);

// What a session runs: simplify, the chosen passes, of those that wait for a wish of the backend
// the ones that it wishes for, schedule. With fusion off these are standard_passes().
std::vector<Pass> passes_for(const FusionChoice& choice, const Wishes& wishes);

}  // namespace stepscope
