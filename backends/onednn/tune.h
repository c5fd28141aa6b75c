// Timing the routines for given products: cold, explicit, and the only clock of this backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "backends/api/backend.h"
#include "backends/onednn/choices.h"

namespace stepscope::onednn {

// Times both routines for each product among the sites that has a choice, on a backend of
// options.threads, and adds the faster one to the choices of `file`: those that it holds already
// stay. Written beside the file and renamed. Throws as make_backend and Choices::read do, and io
// when the file cannot be written.
void tune(std::span<const OpSite> sites, const BackendOptions& options, const std::string& file);

// One site; the faster routine by the median of the runs.
Routine faster(const OpSite& site, int threads);

}  // namespace stepscope::onednn
