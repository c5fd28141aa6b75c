// What figures of arms have in common: curves over batch sizes, groups at a batch size, names, and
// what is said to those who cannot see them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report/arms.h"
#include "bench/report/document.h"
#include "bench/report/runs.h"

namespace stepscope {

// The curves of one backend: a series for each arm, through its batch sizes.
struct Curves {
  std::string backend;
  std::vector<Series> series;
  bool simulated = false;

  bool empty() const;  // not one mark
};
// `mark_of`: nothing for an arm that has no such value. Backends in the order of the records.
std::vector<Curves> curves_of(const Runs& runs, const ModelRuns& model,
                              const std::function<std::optional<Mark>(const ArmRecord&)>& mark_of);

// "graph/on", of a run "graph/on, run 2" where runs of the model cannot share a line; such runs
// differ by the shape of their marks.
std::string series_name(const Runs& runs, const ModelRuns& model, std::size_t run,
                        std::string_view name);
Look look_in_run(const ModelRuns& model, std::size_t run, Look look);

// The arms of one backend and batch.
struct Placed {
  std::size_t run = 0;
  std::string backend;
  std::int64_t batch = 0;
  Group group;
};
enum class Ends : std::uint8_t { largest, both };  // of the batch sizes of each backend
std::vector<Placed> placed_groups(const Runs& runs, const ModelRuns& model, Ends ends);
// "eigen, batch 32"; with the run where there are several of the model.
std::string title_of(const Runs& runs, const ModelRuns& model, const Placed& placed);

// An empty group: id and title name the model where the report has several.
FigureGroup make_group(const Runs& runs, const ModelRuns& model, std::string_view id,
                       std::string_view title, std::string how);
// Its id follows from that of the group.
Figure make_figure(const FigureGroup& group, std::string_view title);

// "graph/on: 9.00 at 1 to 99.8 at 32; ...": the ends of each series. Where the axis has names there
// is no order: all marks. Bars are counts, and whole.
std::string ends_text(const Figure& figure);

}  // namespace stepscope
