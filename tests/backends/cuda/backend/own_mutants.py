#!/usr/bin/env python3
"""Plants one mistake at a time in the backend's own kernels, as ../kernels/mutants.py does in its own.

Usage: own_mutants.py SETUP.json SCRATCH [NAME ...]   (SETUP.json is written by CMake; names select)
"""
# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "kernels"))
import mutants  # noqa: E402  (found by the line above)
from mutants import ALL, Mutant  # noqa: E402

MUTANTS = (
    # Barriers, and what stands in for them between blocks.
    Mutant("own-columns-barrier", "axis.cu", "  part[warp][lane] = sum;\n  __syncthreads();\n",
           "  part[warp][lane] = sum;\n", ALL),
    Mutant("own-adam-barrier", "updates.cu", "  __syncthreads();\n", "", ALL),
    Mutant("own-ticket-fence", "ticket.cuh", "  __threadfence();\n  if (atomicAdd", "  if (atomicAdd",
           ("tsan",), "softmax.cu"),
    Mutant("own-ticket-atomic", "ticket.cuh", "atomicAdd(ticket, 1u)", "(*ticket)++", ("tsan",),
           "updates.cu"),
    Mutant("own-ticket-early", "ticket.cuh", "!= drawers - 1)", "!= drawers - 2)", ALL, "updates.cu"),
    Mutant("own-ticket-stays", "ticket.cuh", "  atomicExch(ticket, 0u);\n", "", ALL, "softmax.cu"),
    Mutant("own-total-of-one-lane", "ticket.cuh", "value = sum_of_group(value);",
           "", ALL, "softmax.cu"),
    Mutant("own-step-of-each-block", "updates.cu", "blockIdx.x == 0 && threadIdx.x == 0",
           "threadIdx.x == 0", ALL),
    # Bounds, guards, indices.
    Mutant("own-map-vectors", "pointwise.cu", "if (i < vectors) {\n    const float4 a ",
           "if (i <= vectors) {\n    const float4 a ", ("asan",)),
    Mutant("own-map2-rest", "pointwise.cu", "last < n) y[last] = f(a[last], b[last])",
           "last <= n) y[last] = f(a[last], b[last])", ("asan",)),
    Mutant("own-chain-rest", "chain.cu", "if (first + kWidth <= n) {\n    const float4",
           "if (first <= n) {\n    const float4", ("asan",)),
    Mutant("own-cast-bound", "cast.cu", "if (i < n)", "if (i <= n)", ("asan",)),
    Mutant("own-columns-guard", "axis.cu", "if (begin + lane < inner) {",
           "if (begin + lane <= inner) {", ("asan",)),
    Mutant("own-short-rows-guard", "axis.cu", "if (row >= rows)", "if (row > rows)", ("asan",)),
    Mutant("own-planes-stride", "axis.cu", "i / inner * gridDim.x + blockIdx.x",
           "i / inner * gridDim.x", ("release", "asan")),
    Mutant("own-softmax-rows", "softmax.cu", "active = n < rows.N", "active = n <= rows.N",
           ("asan",)),
    Mutant("own-gather-bound", "indexing.cu", "if (i < n)", "if (i <= n)", ("asan",)),
    Mutant("own-scatter-indices", "indexing.cu", "first + lane < numbers.N &&",
           "first + lane <= numbers.N &&", ("asan",)),
    Mutant("own-scatter-columns", "indexing.cu", "if (column < numbers.row) y[",
           "if (column <= numbers.row) y[", ("asan",)),
    Mutant("own-tensor-of-block", "updates.cu", "blockIdx.x >= tensors", "blockIdx.x > tensors",
           ("release", "asan")),
    Mutant("own-update-rest", "updates.cu", "last < tensor.elements", "last <= tensor.elements",
           ("asan",)),
    # The small update.
    Mutant("own-small-first-barrier", "small_update.cu",
           "reinterpret_cast<float*>(rows));\n    __syncthreads();\n",
           "reinterpret_cast<float*>(rows));\n", ALL),
    Mutant("own-small-loop-barrier", "small_update.cu",
           "part.columns, sums);\n    __syncthreads();\n", "part.columns, sums);\n", ALL),
    Mutant("own-small-meeting-barrier", "small_update.cu",
           "  __syncthreads();\n  if (threadIdx.x == 0) last[0]", "  if (threadIdx.x == 0) last[0]",
           ("tsan",)),
    Mutant("own-small-rows", "small_update.cu", "row >= numbers.rows)", "row > numbers.rows)",
           ("asan",)),
    Mutant("own-small-depth", "small_update.cu", "at < part.end ? row_at", "at <= part.end ? row_at",
           ("asan",)),
    Mutant("own-small-columns", "small_update.cu", "at < part.end && column < part.columns",
           "at < part.end", ("asan",)),
    Mutant("own-small-transposed", "small_update.cu", "n * numbers.K + at", "at * numbers.N + n", ALL),
    Mutant("own-small-other-gradient", "small_update.cu", "3 + numbers.tensors + t - sums",
           "3 + numbers.tensors + t", ("release", "asan")),
    # What is computed.
    Mutant("own-chain-operands", "chain.cu", "apply(step, other, current)",
           "apply(step, current, other)", ALL),
    Mutant("own-label-zero", "softmax.cu", "labels[n] >= 0 ? 1 : 0", "labels[n] > 0 ? 1 : 0", ALL),
    Mutant("own-loss-of-left-out", "softmax.cu", "lane == 0 && label >= 0", "lane == 0",
           ("release", "asan")),
    Mutant("own-argmax-ties", "argmax.cu", "a.index < b.index", "a.index > b.index", ALL),
    Mutant("own-scatter-order", "indexing.cu", "n * numbers.row + column]",
           "(numbers.N - 1 - n) * numbers.row + column]", ALL),
)

# The cases that run the file's kernels.
CASES = {"argmax.cu": "OwnSoftmax.ArgmaxAndCount", "axis.cu": "OwnAxis.*", "cast.cu": "OwnCast.*",
         "chain.cu": "OwnChain.*", "indexing.cu": "OwnIndexing.*",
         "pointwise.cu": "OwnPointwise.*", "softmax.cu": "OwnSoftmax.*",
         "small_update.cu": "OwnSmallUpdate.*", "updates.cu": "OwnUpdates.*"}

if __name__ == "__main__":
    mutants.MUTANTS, mutants.CASES = MUTANTS, CASES
    try:
        sys.exit(mutants.main())
    except mutants.Broken as broken:
        sys.exit(f"mutants: {broken}")
