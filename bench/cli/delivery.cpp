// Beginning a record and delivering it.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>

#include "bench/cli/commands.h"
#include "bench/files/files.h"
#include "bench/measure/begin_record.h"
#include "bench/measure/git_state.h"
#include "bench/record/json.h"
#include "bench/train/checkpoint.h"
#include "ops/base/check.h"

namespace stepscope::cli {

Record begin_record(const Context& context) {
  Record record = stepscope::begin_record(STEPSCOPE_VERSION, context.command_line);
  record.environment.push_back(git_state());
  return record;
}

namespace {

struct Place {
  std::string_view flag;
  std::filesystem::path given;
  std::filesystem::path path;  // what it names, whatever way
};

}  // namespace

void check_outputs(const Flags& flags) {
  std::vector<Place> written;
  const auto add = [](std::vector<Place>& to, std::string_view flag, const std::string& file) {
    std::error_code error;
    if (!file.empty()) to.push_back({flag, file, std::filesystem::weakly_canonical(file, error)});
  };
  const std::filesystem::path record = std::filesystem::path(flags.out) / "record.json";
  add(written, "--out", flags.out.empty() ? "" : record.string());
  add(written, "--json", json_on_stdout(flags) ? "" : flags.json);
  add(written, "--checkpoint", flags.checkpoint);
  add(written, "--save-weights", flags.save_weights);
  std::vector<Place> taken;  // read, or written by a flag before
  add(taken, "--resume", flags.resume);
  add(taken, "--weights", flags.weights);
  add(taken, "--weights-map", flags.weights_map);
  add(taken, "--tune", flags.tune);
  add(taken, "--baseline", flags.baseline);
  for (const Place& place : written) {
    for (const Place& other : taken) {
      const bool goes_on = place.flag == "--checkpoint" && other.flag == "--resume";
      if (goes_on || place.path != other.path) continue;
      throw UsageError(
          fmt::format("{} and {}: both name {}", place.flag, other.flag, place.given.string()));
    }
    taken.push_back(place);
  }
  for (const Place& place : written) {
    if (place.flag == "--checkpoint") {
      check_checkpoint_can_be_written(place.given);
    } else {
      check_can_be_written(place.given);
    }
  }
}

bool json_on_stdout(const Flags& flags) { return flags.json == "-"; }

void deliver(const Record& record, const Flags& flags) {
  if (flags.out.empty() && flags.json.empty()) return;
  const std::string json = to_json(record);
  if (!flags.out.empty()) {
    const std::filesystem::path path = std::filesystem::path(flags.out) / "record.json";
    write_file(path, json);
    if (!flags.quiet) fmt::print(stderr, "record: {}\n", path.string());
  }
  if (json_on_stdout(flags)) {
    const bool written =
        std::fwrite(json.data(), 1, json.size(), stdout) == json.size() && std::fflush(stdout) == 0;
    check(written, Fault::io, "standard output: the record cannot be written");
  } else if (!flags.json.empty()) {
    write_file(flags.json, json);
    if (!flags.quiet) fmt::print(stderr, "record: {}\n", flags.json);
  }
}

Data data_for(const Options& options) {
  DataOptions data;
  // Fashion-MNIST has 28 x 28 images in ten classes.
  const bool fits = options.model.features == 28 * 28 &&
                    (options.model.classes == 10 || options.model.classes == 0);
  std::string source = options.flags.data;
  if (source.empty()) source = fits ? "fashion-mnist" : "generated";
  try {
    check_data_name(source);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  data.classes = options.model.classes;  // 0, no labels: takes any, it sees the images alone
  // Generated images have the model's size: square where that is possible, else one row.
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(options.model.features)));
  const bool square = side * side == options.model.features;
  data.rows = square ? side : 1;
  data.columns = square ? side : options.model.features;
  Data loaded = load_data(source, data);
  check_fits(loaded.train, options.model.name, options.model.features, options.model.classes);
  return loaded;
}

}  // namespace stepscope::cli
