// executor: to be written.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/executor.h"
