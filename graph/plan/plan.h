// Plan: where every value of a step lives, fixed for good. Knows no library: it is told sizes.
//
// Memory has two parts. The *model segment* holds inputs, parameters and states: one per model, the
// same addresses for every plan of that model (full batch, partial batch, evaluation). The *arena*
// holds what a step computes, what ops save for their gradients, and scratch: one per plan.
// The ops run in the order of the graph (graph/plan/schedule.h chooses it beforehand).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/plan/model_layout.h"
#include "ops/ir/graph.h"

namespace stepscope {

// What a kernel needs beyond its operands; known once the op is lowered.
struct Needs {
  std::size_t scratch = 0;     // bytes, live during this op alone
  std::size_t saved = 0;       // bytes of each output with Role::saved
  std::uint32_t in_place = 0;  // bit i: output 0 can be written over input i
  // Per output, when a layout is larger than dense; empty: dense. Saved outputs go by `saved`.
  std::vector<std::size_t> output_bytes;
};

enum class Segment : std::uint8_t { model, arena };

struct Slot {
  Segment segment = Segment::arena;
  std::size_t offset = 0;  // bytes from the start of the segment; a multiple of the alignment
  std::size_t bytes = 0;   // unrounded
  friend bool operator==(const Slot&, const Slot&) = default;
};

// Sizes of a plan, all in bytes. Temporaries: computed and saved values and scratch; no model
// segment. The bound is the largest sum of unrounded temporaries live at one op, for the given
// order and the given sharing; no_reuse is what a slot for each value and each scratch would take,
// sharing none.
struct ArenaBytes {
  std::size_t arena = 0;
  std::size_t bound = 0;
  std::size_t no_reuse = 0;
};

struct Plan {
  std::shared_ptr<const Graph> graph;
  std::vector<Slot> slots;    // per value; a view or overwrite has that of its storage
  std::vector<Slot> scratch;  // per op; bytes == 0: none
  // Per value: the first value in its memory. Itself, or its storage if it is a view or an
  // overwrite; for a value written in place, that of the input whose slot it took over.
  std::vector<ValueId> memory_of;
  // Per op: the values (owners of their storage, in the arena) that no later op reads and nobody
  // keeps. Made without in-place sharing: eager frees by this list.
  std::vector<std::vector<ValueId>> dies_after;
  std::size_t alignment = 64;
  ArenaBytes bytes;
};

enum class InPlace : std::uint8_t { off, on };

struct PlanOptions {
  std::size_t alignment = 64;  // bytes, a power of two; 64 on a CPU, 256 on CUDA
  InPlace in_place = InPlace::on;
  // Of the local search behind best fit; 0: best fit alone. Most steps need none, since best fit
  // reaches the bound.
  int search_rounds = 1000;
};

// Places every value. Largest first, best fit, then a local search with a fixed seed: the same
// arguments give the same plan. Requires: needs has one entry per op, and the layout was told of
// the graph. Throws bad_graph otherwise.
Plan make_plan(std::shared_ptr<const Graph> graph, std::span<const Needs> needs,
               const ModelLayout& layout, const PlanOptions& options = {});

// First op that writes the memory of `value`'s storage, and last that reads it (or writes it, when
// nobody reads it); a kept value lives to the last op, a declared one from the first op to the
// last. In op indices, both included.
struct Lifetime {
  std::int32_t first = 0;
  std::int32_t last = 0;
};
std::vector<Lifetime> lifetimes(const Graph& graph);  // per value; of its storage

// A table for people: op, phase, inputs and outputs with slots, bytes, flops; then the totals.
std::string to_text(const Plan& plan);

}  // namespace stepscope
