// After how many steps an arm has paid back what it costs once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/record/record.h"

namespace stepscope {

// Extra one-off cost of `of` over the time per step that it saves. One-off: compile, capture,
// instantiate, upload and the first step; between backends also init. Within a backend init is the
// same work for both, and the first arm of a process would pay for loading the library; warm-up is
// a rule of measuring. The extra is the median over processes that both arms have.
// "never": no time is saved, or the interval of the difference contains 0. "at once": no extra
// cost. "nothing to pay back": neither costs nor saves anything. Requires an interval of
// difference_us and FASTER, SLOWER or SAME in `ratio`, thus a run of 5 processes that is not void,
// for an answer; else "not known: ...": what is UNDECIDED saves nothing that is known.
BreakEven break_even_of(const ArmRecord& base, const ArmRecord& of, const RatioRecord& ratio);

}  // namespace stepscope
