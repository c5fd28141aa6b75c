// How series look, in every figure of a report alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "bench/report/figure.h"

namespace stepscope {

// Of an arm: colour and shape by mode (eager, planned, graph, then others), filling and dashes by
// fusion: filled and solid with all passes, hollow and dashed with none, hollow and dotted with
// others.
Look look_of_arm(std::string_view mode, std::string_view fusion);

// Of what is no arm: the n-th of its kind, told apart by all three.
Look look_of_kind(std::size_t n);

// A ceiling: a line without marks.
Look look_of_ceiling(std::size_t n);

}  // namespace stepscope
