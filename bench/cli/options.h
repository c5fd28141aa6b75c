// Flags: the same names mean the same in every command.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/execution/executor.h"
#include "backends/registry/registry.h"
#include "bench/data/batches.h"
#include "bench/data/load.h"
#include "graph/passes/fusion.h"
#include "ops/models/model.h"

namespace CLI {
class App;
}

namespace stepscope::cli {

inline constexpr std::string_view kSwitch[] = {"on", "off"};  // of --tf32
// Named in the documentation; not each is part of every build.
inline constexpr std::string_view kDocumentedBackends[] = {"eigen", "onednn", "cuda"};
inline constexpr const char* kFilesOperand = "FILE";  // of `report`

// Of `lab` alone.
struct LabFlags {
  std::string preset = "lab-cpu";
  std::string backend;                // empty: as the preset says
  std::optional<std::uint64_t> seed;  // empty: what is usual for what is done
  std::string report;                 // file; empty: measure_report.json in --out
  bool fifo = false;                  // a stream worked out, nothing measured
  std::vector<double> launch, device;
  std::optional<double> stop;
};

// What the flags say, as text and numbers; resolve() checks the names.
struct Flags {
  std::string model = "mlp";
  std::vector<std::string> backends{"eigen"};
  std::vector<std::string> modes;    // empty: usual_modes, or graph alone with --ablate
  std::vector<std::string> fusions;  // empty: usual_fusions
  bool ablate = false;
  std::vector<std::int64_t> batches{32};
  int threads = 1;
  std::string record;                  // how graphs are recorded; empty: as the backend does
  std::string tf32 = "off";            // whether inputs of products may be rounded to TF32
  std::string input_copy = "outside";  // of the recording, or inside
  std::uint64_t seed = 1;
  std::string data;                  // empty: fashion-mnist where the model fits it, else generated
  std::string weights, weights_map;  // files; empty: the model's own initial values
  std::string make_data;             // folder of `lab`
  std::string data_shape = "glyphs";  // of `lab`
  std::int64_t images = 0;            // of `lab`; 0: the usual number of the shape
  std::string optimizer = "sgd";
  double rate = 0.1;
  std::string schedule = "constant";  // of the rate
  std::string partial = "second_plan";
  std::int64_t epochs = 5;
  std::int64_t steps = 0;  // of an epoch at most; 0: all
  std::int64_t loss_every = 10;
  int loader_workers = 0;             // threads that make batches; 0: the training thread
  std::int64_t prefetch = 0;          // batches ahead; 0: two for each worker
  std::string checkpoint;             // file; empty: none is written
  std::int64_t checkpoint_every = 0;  // steps; 0: at the end of each epoch
  std::string resume;                 // file of a checkpoint
  std::string save_weights;           // file
  std::string budget;                 // empty: 170s, or 20s with --quick
  bool quick = false;                 // of `compare`: one process, no verdict
  bool dry_run = false;               // of `compare`: the schedule alone
  bool self_check = false;            // of `compare`: arms whose answer is known
  std::string baseline;               // of `compare` and `report`: file of an older record
  bool judge = false;                 // of `report`: verdicts anew, from the raw blocks
  std::string fail_on;                // of `compare`: slower, or nothing
  std::string worker;                 // of a process that `compare` starts: file of its order
  std::string tune;                   // file of choices; empty: those that come with the backend
  std::string out;                    // folder; empty: nothing is written
  std::string json;                   // file, or - for standard output
  std::string format = "text";
  std::vector<std::string> records;  // of `report`: files, folders, or - for standard input
  std::vector<std::string> forms;    // of `report`: html, md, csv; empty: all of them, into --out
  std::string color = "auto";        // of verdicts: auto, always, never
  bool quiet = false;
  LabFlags lab;
  // Of the command: what stands where nothing is said.
  std::vector<std::string> usual_modes{"eager", "planned", "graph"};
  std::vector<std::string> usual_fusions{"off", "on"};
};

// The same with names resolved. Made before any work, so that a wrong flag costs nothing.
struct Options {
  Flags flags;
  Model model;
  OptimizerSpec optimizer;
  std::vector<Mode> modes;
  std::vector<FusionChoice> fusions;  // each once
  PartialBatch partial = PartialBatch::second_plan;
  std::optional<RecordAs> record_as;
  bool tf32 = false;
  InputCopy input_copy = InputCopy::outside;
  double budget_seconds = 170.0;
};

// What a backend is made with.
BackendOptions backend_options(const Options& options);

// A mistake in the flags: exit status 2. Everything else that throws is a failure: 1.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Each adds one group of flags to a command.
void add_model_flags(CLI::App& command, Flags& flags);
void add_backend_flags(CLI::App& command, Flags& flags);
void add_device_flags(CLI::App& command, Flags& flags);
void add_fusion_flags(CLI::App& command, Flags& flags);
void add_tune_flag(CLI::App& command, Flags& flags);
void add_data_flags(CLI::App& command, Flags& flags);
void add_weights_flags(CLI::App& command, Flags& flags);
void add_lab_flags(CLI::App& command, Flags& flags);
void add_partial_flag(CLI::App& command, Flags& flags);
void add_loader_flags(CLI::App& command, Flags& flags);
void add_checkpoint_flags(CLI::App& command, Flags& flags);
void add_protocol_flags(CLI::App& command, Flags& flags);
void add_color_flag(CLI::App& command, Flags& flags);
void add_output_flags(CLI::App& command, Flags& flags);
void add_report_flags(CLI::App& command, Flags& flags);

// Throws UsageError: unknown names with the nearest, numbers out of range.
Options resolve(const Flags& flags, const Registry& registry);

// 170s, 2m, 500ms. Throws UsageError.
double parse_seconds(const std::string& text);

}  // namespace stepscope::cli
