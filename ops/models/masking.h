// Whether rows of a batch can be left out by their label: what a padded last batch rests on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ops/ir/graph.h"

namespace stepscope {

// Empty when a row of `x` can be left out of the step or evaluation by label -1: `loss` depends on
// x only through losses of `labels` (SoftmaxCrossEntropy), and no op on the way there mixes rows,
// dimension 0 of what depends on x. Otherwise one line of reason that names the op and its output,
// as in `ReduceSum makes mean from all rows of h`. What is read from rows left out (probabilities,
// kept values of other names) is not looked at.
//
// A row left out still counts in the size of the batch, so nothing on the way may depend on that
// either: `at_another_batch` is the same graph of the same model at any other batch size, and what
// differs between both, but the number of rows, is a reason: `Scale makes loss with factor = 0.5 at
// a batch of 32, with factor = 16 at one of 1`.
std::string why_rows_cannot_be_left_out(const Graph& at, const Graph& at_another_batch);

}  // namespace stepscope
