// Checkpoints as safetensors: tensors as they are, everything else as strings of the metadata.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>

#include "bench/data/batches.h"
#include "bench/data/sha256.h"
#include "bench/files/files.h"
#include "bench/files/safetensors.h"
#include "bench/measure/facts_hash.h"
#include "bench/record/json.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

using Metadata = std::map<std::string, std::string>;

constexpr std::string_view kWork = "work.";
constexpr std::string_view kCondition = "condition.";
constexpr std::string_view kNote = "note.";

// Of everything in the file but itself: a bit that turned is found.
std::string content_digest(const Metadata& metadata, const std::vector<HostTensor>& tensors) {
  Sha256 hash;
  for (const auto& [key, value] : metadata) {
    if (key == "content_sha256") continue;
    hash.update_text(key);
    hash.update_text(value);
  }
  std::map<std::string_view, const HostTensor*> sorted;
  for (const HostTensor& tensor : tensors) sorted[tensor.name] = &tensor;
  for (const auto& [tensor_name, tensor] : sorted) {
    hash.update_text(tensor_name);
    hash.update_text(fmt::format("{} {}", name(tensor->element), to_text(tensor->shape)));
    hash.update(std::span<const std::byte>(tensor->bytes));
  }
  return to_hex(hash.finish());
}

void add_facts(Metadata& metadata, std::string_view prefix, const Facts& facts) {
  for (const auto& [key, value] : facts) metadata[fmt::format("{}{}", prefix, key)] = value;
}

Facts facts_with(const Metadata& metadata, std::string_view prefix) {
  Facts facts;
  for (const auto& [key, value] : metadata) {
    if (key.starts_with(prefix)) facts.emplace_back(key.substr(prefix.size()), value);
  }
  return facts;
}

Metadata metadata_of(const Checkpoint& at) {
  Metadata metadata{
      {"format", std::string(kCheckpointFormat)},
      {"epoch", fmt::to_string(at.epoch)},
      {"batches", fmt::to_string(at.batches)},
      {"steps", fmt::to_string(at.steps)},
      {"rows", fmt::to_string(at.unfinished.samples_seen)},
      // The order of an epoch is made anew from the beginning of its stream.
      {"shuffle_seed", fmt::to_string(at.seed)},
      {"shuffle_stream", fmt::to_string(kEpochStream + static_cast<std::uint64_t>(at.epoch))},
      {"shuffle_counter", "0"},
      {"loss_sum", fmt::format("{:a}", at.loss_sum)},
      {"losses", fmt::to_string(at.losses)},
      {"unfinished", to_json(std::vector<EpochRecord>{at.unfinished})},
      {"epochs", to_json(at.epochs)},
      {"work_hash", hash_of(at.work)},
  };
  add_facts(metadata, kWork, at.work);
  add_facts(metadata, kCondition, at.conditions);
  for (std::size_t i = 0; i < at.notes.size(); ++i) {
    metadata[fmt::format("{}{:04}", kNote, i)] = at.notes[i];
  }
  return metadata;
}

// Reads one file's metadata; every message names the file and the entry.
class Reader {
 public:
  Reader(const Metadata& metadata, std::string who) : metadata_(metadata), who_(std::move(who)) {}

  const std::string& text(const std::string& key) const {
    const auto found = metadata_.find(key);
    check(found != metadata_.end(), Fault::bad_input, "{}: is no whole checkpoint: it has no '{}'",
          who_, key);
    return found->second;
  }
  template <class T>
  T count(const std::string& key) const {
    const std::string& from = text(key);
    T value = 0;
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), value);
    check(error == std::errc() && end == from.data() + from.size() && value >= T{0},
          Fault::bad_input, "{}: is no whole checkpoint: '{}' is '{}', expected a count", who_, key,
          from);
    return value;
  }
  double number(const std::string& key) const {
    const std::string& from = text(key);
    char* end = nullptr;
    const double value = std::strtod(from.c_str(), &end);
    check(!from.empty() && *end == '\0', Fault::bad_input,
          "{}: is no whole checkpoint: '{}' is '{}', expected a number", who_, key, from);
    return value;
  }
  void expect(const std::string& key, const std::string& value) const {
    check(text(key) == value, Fault::bad_input,
          "{}: is no whole checkpoint: '{}' is '{}', expected '{}'", who_, key, text(key), value);
  }

 private:
  const Metadata& metadata_;
  std::string who_;
};

}  // namespace

std::vector<std::string> differences(const Facts& there, const Facts& asked) {
  const std::map<std::string, std::string> before(there.begin(), there.end());
  const std::map<std::string, std::string> now(asked.begin(), asked.end());
  std::set<std::string> keys;
  for (const auto& [key, value] : before) keys.insert(key);
  for (const auto& [key, value] : now) keys.insert(key);
  std::vector<std::string> lines;
  const auto shown = [](const auto& facts, const std::string& key) {
    const auto found = facts.find(key);
    return found == facts.end() || found->second.empty() ? std::string("none") : found->second;
  };
  for (const std::string& key : keys) {
    const std::string was = shown(before, key);
    const std::string is = shown(now, key);
    if (was != is) lines.push_back(fmt::format("{} is {} there, {} here", key, was, is));
  }
  return lines;
}

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint) {
  check_checkpoint_can_be_written(path);
  Safetensors file{.tensors = checkpoint.tensors, .metadata = metadata_of(checkpoint)};
  file.metadata["content_sha256"] = content_digest(file.metadata, file.tensors);
  const std::string bytes = to_safetensors(file);
  write_file(path, bytes);
}

Checkpoint read_checkpoint(const std::filesystem::path& path) {
  Safetensors file = read_safetensors(path);
  const std::string who = path.string();
  const auto format = file.metadata.find("format");
  check(format != file.metadata.end(), Fault::bad_input,
        "{}: is a safetensors file but no checkpoint: its metadata name no format", who);
  check(format->second == kCheckpointFormat, Fault::bad_input,
        "{}: is '{}', this program reads '{}'", who, format->second, kCheckpointFormat);
  const Reader read(file.metadata, who);
  read.expect("content_sha256", content_digest(file.metadata, file.tensors));
  Checkpoint at;
  at.epoch = read.count<std::int64_t>("epoch");
  at.batches = read.count<std::int64_t>("batches");
  at.steps = read.count<std::int64_t>("steps");
  at.seed = read.count<std::uint64_t>("shuffle_seed");
  at.loss_sum = read.number("loss_sum");
  at.losses = read.count<std::int64_t>("losses");
  at.epochs = epochs_from_json(read.text("epochs"), who);
  const std::vector<EpochRecord> unfinished = epochs_from_json(read.text("unfinished"), who);
  check(unfinished.size() == 1 && static_cast<std::int64_t>(at.epochs.size()) == at.epoch,
        Fault::bad_input, "{}: is no whole checkpoint: {} epochs are done, it tells of {}", who,
        at.epoch, at.epochs.size());
  at.unfinished = unfinished.front();
  read.expect("rows", fmt::to_string(at.unfinished.samples_seen));
  read.expect("shuffle_stream",
              fmt::to_string(kEpochStream + static_cast<std::uint64_t>(at.epoch)));
  read.expect("shuffle_counter", "0");
  at.work = facts_with(file.metadata, kWork);
  read.expect("work_hash", hash_of(at.work));
  at.conditions = facts_with(file.metadata, kCondition);
  for (auto& [key, value] : facts_with(file.metadata, kNote)) at.notes.push_back(value);
  at.tensors = std::move(file.tensors);
  return at;
}

void check_checkpoint_can_be_written(const std::filesystem::path& path) {
  check_can_be_written(path);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  check(!std::filesystem::exists(status) || std::filesystem::is_regular_file(status), Fault::io,
        "{}: cannot be written: it is no regular file, a checkpoint is read back", path.string());
}

}  // namespace stepscope
