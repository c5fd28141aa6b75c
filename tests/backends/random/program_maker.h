// ProgramMaker: draws one random step. Its parts are in files of their own: forward ops
// (make_forward), images (make_images), all from the loss on (make_training).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "ops/base/philox.h"
#include "tests/backends/random/random_program.h"

namespace stepscope::test {

class ProgramMaker {
 public:
  ProgramMaker(Contents contents, std::uint64_t seed, std::uint64_t attempt);

  RandomProgram run();

 private:
  using Rule = bool (ProgramMaker::*)();

  // Products multiply the digits of their factors: three of them still fit into 24 bits.
  static constexpr int kHighestDegree = 3;
  static constexpr std::int64_t kMostElements = 65 * 65;
  static constexpr std::int64_t kMostProducts = 200'000;  // of one convolution

  static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }
  std::uint64_t below(std::uint64_t bound) { return draws_.below(bound); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::int64_t dim() { return kDims[below(kDims.size())]; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  std::size_t rank(ValueId id) const { return graph_.type(id).shape.rank(); }
  Shape shape(ValueId id) const { return graph_.type(id).shape; }
  std::int64_t elements(ValueId id) const { return graph_.type(id).shape.elements(); }
  static TensorType f32(const Shape& of) { return {of, DType::f32}; }

  // Half of the time one of the last four: long chains. Else any: fan-out and long lives.
  ValueId pick();
  // A random one of the pool that fits; invalid when there is none.
  template <class Fits>
  ValueId pick_where(Fits&& fits) {
    std::vector<ValueId> fitting;
    std::copy_if(pool_.begin(), pool_.end(), std::back_inserter(fitting), fits);
    return fitting.empty() ? ValueId{} : fitting[below(fitting.size())];
  }
  // A new one; some can be read like any other value.
  ValueId parameter(const Shape& of);
  // A new input of whole numbers in [0, bound).
  ValueId numbers(const Shape& of, std::string name, std::int64_t bound);
  int degree(ValueId id) const;
  void set_degree(ValueId id, int degree);
  bool add(ValueId made, int degree);  // to the pool
  bool product_fits(int a, int b) const { return real_ || a + b <= kHighestDegree; }

  void choose_passes();

  // Each appends some ops and adds what they make to the pool, or answers false.
  void append_forward();
  bool matmul();
  bool bias();
  bool binary();
  bool scale();
  bool unary();
  bool reduce();
  bool broadcast();
  bool view();
  bool constant();
  bool layers();
  bool gather();
  bool scatter();
  bool cast();
  bool copy();
  ValueId activated(ValueId x);  // most of the time
  ValueId shifted(ValueId x);    // by a bias, most of the time

  bool images();
  bool convolve();
  bool pool();
  ValueId image();
  ValueId fresh_image();
  ValueId shown_as_image(ValueId x);
  ValueId convolved(ValueId x);
  ValueId pooled(ValueId x);
  Pool2dAttrs window(const Shape& x, bool for_mean);

  void append_loss();
  ValueId sum_of_heads();
  ValueId class_loss();
  std::vector<ValueId> unread(std::size_t at_most) const;
  bool is_constant(ValueId id) const;
  ValueId scalar_of(ValueId head);
  void take_labels_below(std::int64_t classes);
  void append_backward();
  void append_readers(const std::vector<ValueId>& readable);
  ValueId reader_of(ValueId id);
  void append_updates();
  ScheduleAttrs some_schedule();
  void append_update(const std::vector<std::size_t>& which, std::size_t k, bool last);
  void keep_some(const std::vector<ValueId>& readable);

  bool real_;
  Philox draws_;
  RandomProgram program_;
  Graph graph_;
  // A classifier under plain SGD whose gradients nobody else reads: what fold_sgd wants.
  bool plain_sgd_ = false;
  ValueId x_, labels_, loss_, rate_, step_;
  ValueId hub_;  // picked by the next hub_uses_ ops
  int hub_uses_ = 0;
  std::vector<ValueId> pool_;            // floating values that a next op may read
  std::vector<int> degrees_;             // per value, as a polynomial in what is declared; 0: one
  std::vector<ValueId> readable_later_;  // join the pool behind the backward ops
  std::vector<ValueId> parameters_;      // those with a gradient, once there are gradients
  std::vector<ValueId> gradients_, updated_;
  std::vector<ValueId> keepable_;
  std::int64_t classes_ = 3;
  bool has_labels_ = false;
};

}  // namespace stepscope::test
