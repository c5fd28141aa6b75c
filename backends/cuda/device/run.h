// The functions that submit own kernels. Each submits one, unless it says otherwise; none
// allocates, waits, or chooses by anything but its numbers. They answer what the submission
// answered.
//
// Operands are addresses of the inputs, then of the outputs, each a multiple of 256 bytes; shapes
// stand at the kernels. Output 0 may lie over the inputs that backends/cuda/kernels.cpp names.
// Products use some as well: run_relu_grad over {dx, y, dx} is the gate, run_relu, run_tanh and
// run_sigmoid over {y, y} the activations, run_reduce_sum of {1, rows, columns} the column sums;
// run_relu_mask and run_mask_gate are theirs alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "backends/api/schedule_numbers.h"
#include "backends/cuda/device/numbers.h"
#include "backends/cuda/submission.h"

namespace stepscope::cuda {

using Operands = std::byte* const*;

cudaError_t run_add(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_sub(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_mul(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_scale(Submission& to, Operands operands, const Scaled& numbers);
cudaError_t run_fill(Submission& to, Operands operands, const Scaled& numbers);
cudaError_t run_relu(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_relu_grad(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_tanh(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_tanh_grad(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_sigmoid(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_sigmoid_grad(Submission& to, Operands operands, const Elements& numbers);
cudaError_t run_chain(Submission& to, Operands operands, const Chain& numbers);
cudaError_t run_cast(Submission& to, Operands operands, const Casting& numbers);

cudaError_t run_add_bias(Submission& to, Operands operands, const Axis& numbers);
cudaError_t run_broadcast(Submission& to, Operands operands, const Axis& numbers);
cudaError_t run_reduce_sum(Submission& to, Operands operands, const Axis& numbers);
cudaError_t run_bias_grad(Submission& to, Operands operands, const Axis& numbers);

// Over {y, mask}, y in place: relu, and its bits; over {dx, mask}, dx in place: what they let pass.
cudaError_t run_relu_mask(Submission& to, Operands operands, const Mask& numbers);
cudaError_t run_mask_gate(Submission& to, Operands operands, const Mask& numbers);

// One number of all rows: blocks meet in `scratch`, numbers.partial_bytes() of it.
cudaError_t run_softmax(Submission& to, Operands operands, std::byte* scratch, const Rows& numbers);
cudaError_t run_softmax_with_grad(Submission& to, Operands operands, std::byte* scratch,
                                  const Rows& numbers);
cudaError_t run_correct_count(Submission& to, Operands operands, std::byte* scratch,
                              const Rows& numbers);
cudaError_t run_softmax_grad(Submission& to, Operands operands, const Rows& numbers);
cudaError_t run_argmax(Submission& to, Operands operands, const Rows& numbers);

// All tensors in one kernel; the rate and the step count are read from their operands.
cudaError_t run_sgd(Submission& to, Operands operands, const Update& numbers);
cudaError_t run_momentum(Submission& to, Operands operands, const Update& numbers);
cudaError_t run_adam(Submission& to, Operands operands, const Update& numbers);
cudaError_t run_scheduled_rate(Submission& to, Operands operands, const ScheduleNumbers& numbers);

// And a small product, whose blocks meet in `scratch`.
cudaError_t run_small_update(Submission& to, Operands operands, std::byte* scratch,
                             const SmallUpdate& numbers);

cudaError_t run_gather(Submission& to, Operands operands, const Indexed& numbers);
cudaError_t run_scatter_add(Submission& to, Operands operands, const Indexed& numbers);

}  // namespace stepscope::cuda
