// Records that have something for every section of a report.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/record/record.h"

namespace stepscope::test {

// Of `compare`: two backends, three modes, fused or not, two batches, and all that may stand beside
// them: controls, voids, flags, passes, memory, calibration, gates, a baseline.
Record full();
// Of `train`: epochs and submissions, and no arm that was timed.
Record trained();
// Nothing was run: a plan.
Record planned_only();

}  // namespace stepscope::test
