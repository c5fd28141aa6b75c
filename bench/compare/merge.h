// Putting the parts of several processes together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/cache_sizes.h"
#include "bench/record/record.h"

namespace stepscope {

// Adds what another process measured: lists and blocks behind those of the same arms and pairs,
// gates and processes behind the others. Counts and passes of an arm are those of its first
// process. Throws device, naming arm and process, when the same arm did other work or made other
// counts there.
void add_process(Record& record, Record&& part);

// Adds what the pilot found out: calibration, gates, and of each arm everything but its times,
// which are too few to be kept.
void add_pilot(Record& record, Record&& part);

// When all parts are in: pairs between backends, summaries, protocol and its hash, and the lower
// bounds of each arm's step (bench/compare/bounds.h) by the best rates that were probed. `caches`:
// of the machine that measured.
void complete_record(Record& record, const CacheSizes& caches = cache_sizes());

}  // namespace stepscope
