// The guarded image: operands with guard bytes before and behind each, copied in, used, copied out.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/run_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "backends/api/output_bytes.h"
#include "graph/plan/model_layout.h"
#include "ops/ir/op_def.h"

namespace stepscope::conformance {
namespace {

constexpr auto kGuard = std::byte{0xA5};
constexpr auto kUnwritten = std::byte{0xFF};  // NaN in every floating type

// Bytes of the image: a block of an operand, or a guard between two.
struct Range {
  std::size_t first = 0;
  std::size_t bytes = 0;
  std::string name;
};

class Image {
 public:
  Image(Backend& backend, const Kernel& kernel, const std::vector<Bytes>& inputs,
        const RunOptions& options)
      : backend_(backend), kernel_(kernel), inputs_(inputs), options_(options) {
    lay_out();
    memory_ = backend.allocate(image_.size());
    for (std::size_t range : operand_) operands_.push_back(memory_->data() + ranges_[range].first);
  }

  RunResult run() {
    const std::unique_ptr<Stream> stream = backend_.make_stream();
    stream->copy_in(memory_->data(), image_);
    mark_guards(&Backend::mark_dead);
    mark_guards(&Backend::mark_live);  // some builds fill what is dead: that is what must stay
    stream->copy_out(image_, memory_->data());
    mark_guards(&Backend::mark_dead);
    const Counters before = stream->counters();
    stream->submit(kernel_.bind(operands_.data(), scratch_address()), 0);
    stream->wait();
    RunResult result;
    result.counted = stream->counters() - before;
    mark_guards(&Backend::mark_live);
    Bytes after(image_.size());
    stream->copy_out(after, memory_->data());
    compare(after, result);
    return result;
  }

 private:
  // Appends a guard, then `bytes` of content at an aligned address plus the offset.
  std::size_t append(std::string name, Bytes content) {
    const std::size_t alignment = backend_.alignment();
    const std::size_t end = image_.size();
    const std::size_t first = round_up(end, alignment) + options_.gap * alignment + options_.offset;
    guards_.push_back({end, first - end, "in front of " + name});
    image_.resize(first, kGuard);
    ranges_.push_back({first, content.size(), std::move(name)});
    image_.insert(image_.end(), content.begin(), content.end());
    return ranges_.size() - 1;
  }

  void lay_out() {
    const OpSite& site = kernel_.site();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const bool shared = options_.shared_inputs && i == 1;
      operand_.push_back(shared ? operand_[0] : append(fmt::format("input {}", i), inputs_[i]));
      written_.push_back(false);
    }
    for (std::size_t k = 0; k < site.out.size(); ++k) {
      const int over = k == 0 && options_.in_place >= 0
                           ? options_.in_place
                           : overwritten_input(site.kind, site.attrs, site.in.size(), k);
      if (over >= 0) {
        const std::size_t range = operand_[static_cast<std::size_t>(over)];
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
          if (operand_[i] == range) written_[i] = true;
        }
        operand_.push_back(range);
      } else {
        operand_.push_back(
            append(fmt::format("output {}", k), Bytes(output_bytes(kernel_, k), kUnwritten)));
      }
    }
    if (kernel_.needs().scratch != 0) {
      scratch_ = append("scratch", Bytes(kernel_.needs().scratch, kUnwritten));
    }
    const std::size_t end = image_.size();
    const std::size_t last = 4 * backend_.alignment();
    guards_.push_back({end, last, "at the end"});
    image_.resize(end + last, kGuard);
  }

  std::byte* scratch_address() const {
    return scratch_ ? memory_->data() + ranges_[*scratch_].first : nullptr;
  }

  void mark_guards(void (Backend::*mark)(std::byte*, std::size_t)) {
    for (const Range& guard : guards_) {
      (backend_.*mark)(memory_->data() + guard.first, guard.bytes);
    }
  }

  void compare(const Bytes& after, RunResult& result) const {
    const auto changed = [&](const Range& range) {
      const auto first = image_.begin() + static_cast<std::ptrdiff_t>(range.first);
      const auto last = first + static_cast<std::ptrdiff_t>(range.bytes);
      return std::mismatch(first, last, after.begin() + static_cast<std::ptrdiff_t>(range.first))
                 .first != last;
    };
    for (const Range& guard : guards_) {
      if (changed(guard)) result.damage.push_back("wrote into the guard " + guard.name);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Range& range = ranges_[operand_[i]];
      if (!written_[i] && changed(range)) result.damage.push_back("changed " + range.name);
    }
    for (std::size_t k = 0; k < kernel_.site().out.size(); ++k) {
      const Range& range = ranges_[operand_[inputs_.size() + k]];
      const auto first = after.begin() + static_cast<std::ptrdiff_t>(range.first);
      result.outputs.emplace_back(first,
                                  first + static_cast<std::ptrdiff_t>(output_bytes(kernel_, k)));
    }
  }

  Backend& backend_;
  const Kernel& kernel_;
  const std::vector<Bytes>& inputs_;
  const RunOptions& options_;
  Bytes image_;                // as it must be, apart from outputs and scratch
  std::vector<Range> ranges_;  // operands and scratch
  std::vector<Range> guards_;
  std::vector<std::size_t> operand_;    // per operand of the launch, its range
  std::vector<bool> written_;           // per input: an output lies over it
  std::optional<std::size_t> scratch_;  // its range
  std::unique_ptr<Memory> memory_;
  std::vector<std::byte*> operands_;
};

}  // namespace

RunResult run_op(Backend& backend, const Kernel& kernel, const std::vector<Bytes>& inputs,
                 const RunOptions& options) {
  return Image(backend, kernel, inputs, options).run();
}

}  // namespace stepscope::conformance
