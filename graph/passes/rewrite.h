// Rewrite: what a fusion pass wants changed, said in values of the graph it was given, and then
// done at once. Refuses to put an op where it could not read what it reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/passes/pass.h"
#include "graph/passes/uses.h"

namespace stepscope {

// An op to be, in values of the old graph.
struct NewOp {
  OpKind kind{};
  Attrs attrs;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  // the old value each output stands for; invalid: none
  PhaseSet phases;
};

class Rewrite {
 public:
  explicit Rewrite(const Graph& graph);

  const Graph& graph() const { return graph_; }
  const Uses& uses() const { return uses_; }
  const Op& op(std::size_t index) const { return graph_.ops()[index]; }
  bool gone(std::size_t index) const { return gone_[index]; }
  // Phases of several ops together.
  PhaseSet phases(const std::vector<std::size_t>& ops) const;

  // Puts `made` where the last of `replaced` is or, if that is too late or too early, where the
  // first is. Requires: ascending, none gone. Answers why not, empty when done.
  std::string replace(const std::vector<std::size_t>& replaced, NewOp made);

  // The two halves of it, for passes that choose the place themselves: behind all that was put at
  // the place of op `index` before; index = count of ops: the end.
  void remove(std::size_t index) { gone_[index] = true; }
  void put(std::size_t index, NewOp made) { put_[index].push_back(std::move(made)); }

  void note(std::string text) { notes_.push_back(std::move(text)); }

  // The new graph, or the old one with `if_unchanged` as the note of a pass that has no other.
  PassResult finish(std::string if_unchanged);

 private:
  bool fits(std::size_t place, const std::vector<std::size_t>& replaced, const NewOp& made) const;
  Graph build() const;

  const Graph& graph_;
  Uses uses_;
  std::vector<bool> gone_;               // per op
  std::vector<std::size_t> place_;       // per op: its index, or that of what replaced it
  std::vector<std::vector<NewOp>> put_;  // per op, and one more for the end
  std::vector<std::string> notes_;
};

}  // namespace stepscope
