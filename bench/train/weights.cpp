// Matching of tensors with parameters, by name and shape.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "bench/files/files.h"
#include "bench/files/npy.h"
#include "bench/files/npz.h"
#include "bench/files/safetensors.h"
#include "bench/files/shown.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {
namespace {

enum class Form : std::uint8_t { npy, npz, safetensors };

// What the first bytes say.
Form form_of(std::span<const std::uint8_t> bytes, std::string_view who) {
  const auto begins = [&](std::string_view text, std::size_t at) {
    return bytes.size() >= at + text.size() &&
           std::equal(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
  };
  if (begins("\x93NUMPY", 0)) return Form::npy;
  if (begins("PK\x03\x04", 0) || begins("PK\x05\x06", 0)) return Form::npz;
  check(begins("{", 8), Fault::bad_input,
        "{}: is neither NPZ nor safetensors: expected PK at byte 0, or '{{' at byte 8", who);
  return Form::safetensors;
}

struct TensorFile {
  std::vector<HostTensor> tensors;
  std::vector<UnreadTensor> unread;
  bool is_npy = false;  // one tensor, without a name
};

TensorFile read_tensors(const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes = read_bytes(path);
  const std::string who = path.string();
  TensorFile file;
  switch (form_of(bytes, who)) {
    case Form::npy:
      file.tensors.push_back(read_npy(bytes, who));
      file.is_npy = true;
      break;
    case Form::npz:
      file.tensors = read_npz(bytes, who, &file.unread);
      break;
    case Form::safetensors:
      file.tensors = read_safetensors(bytes, who, &file.unread).tensors;
      break;
  }
  return file;
}

// Throws bad_input: with the nearest name, or with the type of elements that are not read.
const HostTensor& find_tensor(const TensorFile& file, std::string_view wanted,
                              std::string_view who) {
  std::vector<std::string> names;
  for (const HostTensor& tensor : file.tensors) {
    if (tensor.name == wanted) return tensor;
    names.push_back(tensor.name);
  }
  for (const UnreadTensor& tensor : file.unread) {
    check(tensor.name != wanted, Fault::bad_input, "{}", tensor.why);
    names.push_back(tensor.name);
  }
  fail(Fault::bad_input, "{}: {}", who, unknown_name("tensor", wanted, names));
}

bool is_float(Element element) {
  return element == Element::f16 || element == Element::bf16 || element == Element::f32 ||
         element == Element::f64;
}

// Steps compute in f32, whatever the file holds.
void check_finite(const std::vector<double>& values, const HostTensor& tensor,
                  std::string_view who) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < values.size(); ++i) {
    check(std::abs(values[i]) <= kLargest, Fault::bad_input,
          "{}: tensor {}: element {} is {}, expected a finite number that f32 holds", who,
          shown(tensor.name), i, values[i]);
  }
}

// The elements of `tensor` in the order of the parameter.
std::vector<double> values_for(const Value& parameter, const HostTensor& tensor, bool transposed,
                               std::string_view who) {
  check(is_float(tensor.element), Fault::bad_input,
        "{}: tensor {} holds {}, expected a floating-point type", who, shown(tensor.name),
        name(tensor.element));
  const auto dims = parameter.type.shape.dims();
  std::vector<std::int64_t> wanted(dims.begin(), dims.end());
  check(!transposed || wanted.size() == 2, Fault::bad_input,
        "{}: '{}' is {}: only two dimensions can be transposed", who, parameter.name,
        to_text(wanted));
  if (transposed) std::swap(wanted[0], wanted[1]);
  if (tensor.shape != wanted) {
    const bool turned = wanted.size() == 2 && !transposed && tensor.shape.size() == 2 &&
                        tensor.shape[0] == wanted[1] && tensor.shape[1] == wanted[0];
    fail(Fault::bad_input, "{}: tensor {} is {}, '{}' is {}{}", who, shown(tensor.name),
         to_text(tensor.shape), parameter.name, to_text(dims),
         transposed ? " and takes it transposed"
         : turned   ? ": give a map with `transposed` behind it"
                    : "");
  }
  std::vector<double> values = to_doubles(tensor);
  check_finite(values, tensor, who);
  if (!transposed) return values;
  const auto rows = static_cast<std::size_t>(dims[0]);
  const auto columns = static_cast<std::size_t>(dims[1]);
  std::vector<double> turned(values.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) turned[i * columns + j] = values[j * rows + i];
  }
  return turned;
}

void set_values(Initial& initial, std::vector<double> values) {
  initial.kind = Initial::Kind::values;
  initial.values = std::make_shared<const std::vector<double>>(std::move(values));
}

Initial& initial_of(Model& model, std::string_view name) {
  const auto found = std::find_if(model.initial.begin(), model.initial.end(),
                                  [&](const Initial& each) { return each.name == name; });
  check(found != model.initial.end(), Fault::bad_graph, "model '{}': '{}' has no initial value",
        model.name, name);
  return *found;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Nothing for a line that says nothing.
std::optional<WeightsMap::Entry> parse_line(std::string_view line, std::int64_t number,
                                            std::string_view who) {
  line = trimmed(line.substr(0, line.find('#')));
  if (line.empty()) return std::nullopt;
  constexpr std::string_view kBlanks = " \t";
  const std::size_t equals = line.find('=');
  const std::string_view left = trimmed(line.substr(0, equals));
  std::string_view right = equals == std::string_view::npos ? "" : trimmed(line.substr(equals + 1));
  const std::size_t blank = right.find_first_of(kBlanks);
  const std::string_view option =
      blank == std::string_view::npos ? "" : trimmed(right.substr(blank));
  right = right.substr(0, blank);
  check(!left.empty() && left.find_first_of(kBlanks) == std::string_view::npos && !right.empty() &&
            (option.empty() || option == "transposed"),
        Fault::bad_input,
        "{}: line {}: {}: expected `parameter = tensor` or `parameter = tensor transposed`", who,
        number, shown(line));
  return WeightsMap::Entry{std::string(left), std::string(right), !option.empty(), number};
}

// Throws bad_input when a line names no parameter.
void check_map(const WeightsMap& map, const Graph& step) {
  std::vector<std::string> names;
  for (const Value& value : step.values()) {
    if (value.role == Role::parameter && value.sharing == Sharing::own) names.push_back(value.name);
  }
  for (const WeightsMap::Entry& entry : map.entries) {
    check(std::find(names.begin(), names.end(), entry.parameter) != names.end(), Fault::bad_input,
          "{}: line {}: {}", map.source, entry.line,
          unknown_name("parameter", entry.parameter, names));
  }
}

}  // namespace

WeightsMap read_weights_map(const std::filesystem::path& path) {
  return parse_weights_map(read_file(path), path.string());
}

WeightsMap parse_weights_map(std::string_view text, std::string_view who) {
  WeightsMap map{.source = std::string(who), .entries = {}};
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::optional<WeightsMap::Entry> entry = parse_line(text.substr(0, end), ++number, who);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!entry) continue;
    for (const WeightsMap::Entry& other : map.entries) {
      check(other.parameter != entry->parameter, Fault::bad_input,
            "{}: line {}: '{}' has a line already, line {}", who, number, entry->parameter,
            other.line);
    }
    map.entries.push_back(std::move(*entry));
  }
  return map;
}

void load_weights(Model& model, const std::filesystem::path& file, const WeightsMap& map) {
  const std::string who = file.string();
  const TensorFile tensors = read_tensors(file);
  check(!tensors.is_npy, Fault::bad_input,
        "{}: is NPY, one array without a name; expected NPZ or safetensors", who);
  const Graph step = model.step(1);
  check_map(map, step);
  for (const Value& value : step.values()) {
    if (value.role != Role::parameter || value.sharing != Sharing::own) continue;
    const auto entry = std::find_if(map.entries.begin(), map.entries.end(),
                                    [&](const auto& each) { return each.parameter == value.name; });
    const bool mapped = entry != map.entries.end();
    const std::string wanted = mapped ? entry->tensor : value.name;
    const std::string place =
        mapped ? fmt::format("{} (line {} of {})", who, entry->line, map.source) : who;
    set_values(initial_of(model, value.name), values_for(value, find_tensor(tensors, wanted, place),
                                                         mapped && entry->transposed, place));
  }
}

void resolve_files(Model& model, const std::filesystem::path& folder) {
  std::map<std::string, TensorFile> files;  // each is read once
  std::optional<Graph> step;
  for (Initial& initial : model.initial) {
    if (initial.kind != Initial::Kind::file) continue;
    if (!step) step = model.step(1);
    const std::filesystem::path path = folder / initial.file;
    if (files.count(path.string()) == 0) files[path.string()] = read_tensors(path);
    const TensorFile& file = files.at(path.string());
    const HostTensor& tensor =
        file.is_npy ? file.tensors[0] : find_tensor(file, initial.tensor, path.string());
    check(!file.is_npy || initial.tensor.empty(), Fault::bad_input,
          "{}: is NPY, one array without a name, '{}' asks for tensor {} of it", path.string(),
          initial.name, shown(initial.tensor));
    for (const Value& value : step->values()) {
      if (value.name != initial.name) continue;
      set_values(initial, values_for(value, tensor, false, path.string()));
      break;
    }
    check(initial.kind == Initial::Kind::values, Fault::bad_graph,
          "model '{}': '{}' has an initial value and is not in the step", model.name, initial.name);
  }
}

void save_weights(Session& session, const std::filesystem::path& file) {
  const Graph step = session.model().step(1);
  Safetensors content{.tensors = {}, .metadata = {{"model", session.model().name}}};
  for (const Value& value : step.values()) {
    if (value.role != Role::parameter || value.sharing != Sharing::own) continue;
    const auto dims = value.type.shape.dims();
    const Element element = session.options().dtype == DType::f64 ? Element::f64 : Element::f32;
    content.tensors.push_back({.name = value.name,
                               .element = element,
                               .shape = {dims.begin(), dims.end()},
                               .bytes = session.memory().read(session.stream(), value.name)});
  }
  write_file(file, to_safetensors(content));
}

}  // namespace stepscope
