// Checkpoint: all that a training run needs to go on as if it had never stopped, in one safetensors
// file. docs/training.md lists what is in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/files/files.h"
#include "bench/files/host_tensor.h"
#include "bench/record/record.h"

namespace stepscope {

inline constexpr std::string_view kCheckpointFormat = "stepscope-checkpoint 1";

struct Checkpoint {
  std::int64_t epoch = 0;    // epochs that are finished
  std::int64_t batches = 0;  // batches of the next one that were trained on
  std::int64_t steps = 0;    // of the run
  std::uint64_t seed = 0;    // of the order of epochs (bench/data/batches.h)
  double loss_sum = 0.0;     // of the losses read back in the epoch under way
  std::int64_t losses = 0;
  EpochRecord unfinished;           // of the epoch under way: samples and times so far
  std::vector<EpochRecord> epochs;  // finished
  Facts work;        // what decides the numbers: a run of other work cannot go on from here
  Facts conditions;  // what may differ, but then the bits will
  std::vector<std::string> notes;   // of the run, for its record
  std::vector<HostTensor> tensors;  // parameters, optimizer states, control block
};
// Lines for people: each fact that differs, with both values. `there` are those of the checkpoint.
std::vector<std::string> differences(const Facts& there, const Facts& asked);

// Writes it whole or not at all. Throws io, naming the path and the reason; then an older
// checkpoint stays as it was.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

// Throws io when it cannot be read, and bad_input, naming the file and what is wrong, when it is no
// whole checkpoint: of another format, cut short, changed.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// As check_can_be_written (bench/files/files.h), and refuses what cannot be read back: a pipe, a
// device.
void check_checkpoint_can_be_written(const std::filesystem::path& path);

}  // namespace stepscope
