// Figures as data, of the runs of one model. Each takes its numbers from the summaries and ratios
// of the records; none is made by subtracting one time from another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/report/document.h"
#include "bench/report/runs.h"

namespace stepscope {

// Each group has no figures where the runs have nothing for it; a figure of a backend that was not
// measured says so (Figure::missing).

FigureGroup time_figures(const Runs& runs, const ModelRuns& model);
FigureGroup memory_figures(const Runs& runs, const ModelRuns& model);
// What a graph, a plan, fusion and a backend change: a group for each.
std::vector<FigureGroup> ratio_figures(const Runs& runs, const ModelRuns& model);
// Dispatch, copy and step of each arm, at the smallest and the largest batch.
FigureGroup where_figures(const Runs& runs, const ModelRuns& model);
FigureGroup loss_figures(const Runs& runs, const ModelRuns& model);  // of `train`

// At the largest batch of each backend.
FigureGroup submission_figures(const Runs& runs, const ModelRuns& model);
FigureGroup phase_figures(const Runs& runs, const ModelRuns& model);
FigureGroup pass_figures(const Runs& runs, const ModelRuns& model);

FigureGroup ablation_figures(const Runs& runs, const ModelRuns& model);
FigureGroup roofline_figures(const Runs& runs, const ModelRuns& model);

}  // namespace stepscope
