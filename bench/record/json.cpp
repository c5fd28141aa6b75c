// JSON of a record, both directions by the lists in fields.h. Lists of numbers stand on one line.
// SPDX-License-Identifier: Apache-2.0
#include "bench/record/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/record/fields.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

using nlohmann::ordered_json;
using record_fields::fields;
using Groups = std::vector<std::pair<std::string, Facts>>;

template <class T>
concept HasFields = requires(T& value) {
  fields([](const char*, auto&) {}, value);
};

// Null where it is as it was made, since then nobody measured it: no zeros for numbers.
template <class T>
concept NullWhenUntouched = std::is_same_v<T, TimeSummary> || std::is_same_v<T, StepCounts> ||
    std::is_same_v<T, MemoryWindow>;

// Where a walk over a record stands, as arms/2/latency/0.
class Place {
 public:
  template <class Part, class Visit>
  void in(const Part& part, Visit&& visit) {
    const std::size_t length = text_.size();
    text_ += fmt::format("{}{}", text_.empty() ? "" : "/", part);
    visit();
    text_.resize(length);  // after an error it stays, and says where it was
  }
  std::string text() const { return text_.empty() ? "it" : text_; }

 private:
  std::string text_;
};

class Writer {
 public:
  // Reasons of the doubles that JSON has no number for.
  const std::vector<std::string>& lost() const { return lost_; }

  template <class T>
  ordered_json write(const T& value) {
    if constexpr (NullWhenUntouched<T>) {
      if (value == T{}) return {};
    }
    if constexpr (HasFields<const T>) {
      ordered_json json = ordered_json::object();
      fields([&](const char* name,
                 const auto& field) { place_.in(name, [&] { json[name] = write(field); }); },
             value);
      return json;
    } else {
      return value;
    }
  }

  ordered_json write(const double& value) {
    if (std::isfinite(value)) return value;
    lost_.push_back(fmt::format("{}: null, since it was {}", place_.text(),
                                std::isnan(value) ? "not a number" : "infinite"));
    return {};
  }

  ordered_json write(const TimedSlot& slot) {
    ordered_json json = ordered_json::array();
    fields([&](const char*, const auto& field) { json.push_back(field); }, slot);
    return json;
  }

  ordered_json write(const Facts& facts) {
    ordered_json json = ordered_json::object();
    for (const auto& [name, value] : facts) json[name] = value;
    return json;
  }

  ordered_json write(const Groups& groups) {
    ordered_json json = ordered_json::object();
    for (const auto& [name, facts] : groups) json[name] = write(facts);
    return json;
  }

  ordered_json write(const std::vector<Fact>& facts) {
    ordered_json json = ordered_json::object();
    for (const Fact& fact : facts) {
      ordered_json& entry = json[fact.name];
      entry["value"] = write(fact.value);
      if (!fact.value) entry["reason"] = fact.reason;
    }
    return json;
  }

  template <class T>
  ordered_json write(const std::optional<T>& value) {
    return value ? write(*value) : ordered_json();
  }

  template <class T>
  ordered_json write(const std::vector<T>& values) {
    return write_list(values);
  }

  template <class T, std::size_t count>
  ordered_json write(const std::array<T, count>& values) {
    return write_list(values);
  }

 private:
  template <class List>
  ordered_json write_list(const List& values) {
    ordered_json json = ordered_json::array();
    for (const auto& value : values) {
      place_.in(json.size(), [&] { json.push_back(write(value)); });
    }
    return json;
  }

  Place place_;
  std::vector<std::string> lost_;
};

class Reader {
 public:
  // Where it was when something threw.
  std::string place() const { return place_.text(); }

  template <class T>
  void read(const ordered_json& json, T& value) {
    if constexpr (NullWhenUntouched<T>) {
      if (json.is_null()) return;
    }
    if constexpr (HasFields<T>) {
      want(json.is_object(), "an object");
      fields([&](const char* name,
                 auto& field) { place_.in(name, [&] { read(member(json, name), field); }); },
             value);
    } else if constexpr (std::is_same_v<T, bool>) {
      want(json.is_boolean(), "true or false");
      json.get_to(value);
    } else if constexpr (std::is_integral_v<T>) {
      want(json.is_number_integer(), "a whole number");
      want(std::is_signed_v<T> || json.is_number_unsigned(), "a whole number, not below zero");
      json.get_to(value);
    } else {
      static_assert(std::is_same_v<T, std::string>);
      want(json.is_string(), "a text");
      json.get_to(value);
    }
  }

  void read(const ordered_json& json, double& value) {
    want(json.is_number() || json.is_null(), "a number or null");
    value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
  }

  void read(const ordered_json& json, TimedSlot& slot) {
    constexpr std::size_t kNumbers = 7;
    want(json.is_array() && json.size() == kNumbers, "a list of 7 numbers");
    std::size_t next = 0;
    fields([&](const char*, auto& field) { read(json[next++], field); }, slot);
  }

  void read(const ordered_json& json, Facts& facts) {
    want(json.is_object(), "an object");
    for (const auto& [name, value] : json.items()) {
      place_.in(name, [&] { read(value, facts.emplace_back(name, "").second); });
    }
  }

  void read(const ordered_json& json, Groups& groups) {
    want(json.is_object(), "an object");
    for (const auto& [name, value] : json.items()) {
      place_.in(name, [&] { read(value, groups.emplace_back(name, Facts{}).second); });
    }
  }

  void read(const ordered_json& json, std::vector<Fact>& facts) {
    want(json.is_object(), "an object");
    for (const auto& [name, entry] : json.items()) {
      place_.in(name, [&] {
        Fact& fact = facts.emplace_back();
        fact.name = name;
        want(entry.is_object(), "an object");
        read(member(entry, "value"), fact.value);
        if (!fact.value) read(member(entry, "reason"), fact.reason);
      });
    }
  }

  template <class T>
  void read(const ordered_json& json, std::optional<T>& value) {
    if (!json.is_null()) read(json, value.emplace());
  }

  template <class T>
  void read(const ordered_json& json, std::vector<T>& values) {
    want(json.is_array(), "a list");
    values.reserve(json.size());
    for (const ordered_json& each : json) {
      place_.in(values.size(), [&] { read(each, values.emplace_back()); });
    }
  }

  template <class T, std::size_t count>
  void read(const ordered_json& json, std::array<T, count>& values) {
    want(json.is_array() && json.size() == count, "a list of the stated length");
    for (std::size_t i = 0; i < count; ++i) place_.in(i, [&] { read(json[i], values[i]); });
  }

 private:
  static void want(bool good, std::string_view what) {
    if (!good) throw std::invalid_argument(fmt::format("wants {}", what));
  }
  static const ordered_json& member(const ordered_json& json, const char* name) {
    const auto at = json.find(name);
    if (at == json.end()) throw std::invalid_argument("is missing");
    return *at;
  }

  Place place_;
};

bool of_numbers(const ordered_json& list) {
  return std::all_of(list.begin(), list.end(),
                     [](const ordered_json& each) { return each.is_number() || each.is_null(); });
}

std::string one_line(const ordered_json& json) {
  // Bytes that are no UTF-8, as a command line may hold, are replaced.
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void print(const ordered_json& json, std::size_t indent, std::string& to) {
  const bool broken =
      json.is_structured() && !json.empty() && !(json.is_array() && of_numbers(json));
  if (!broken) {
    to += one_line(json);
    return;
  }
  const bool named = json.is_object();
  to += named ? "{" : "[";
  const char* separator = "\n";
  for (const auto& [name, value] : json.items()) {
    to += separator;
    to.append(indent + 1, ' ');
    if (named) to += one_line(name) + ": ";
    print(value, indent + 1, to);
    separator = ",\n";
  }
  to += "\n";
  to.append(indent, ' ');
  to += named ? "}" : "]";
}

// What the parser says, without its name for the kind of error.
std::string plain(const nlohmann::json::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  return std::string(text.starts_with("[") && end != text.npos ? text.substr(end + 2) : text);
}

// Reads what `text` is said to be. Any error is bad_input with source and place.
template <class T>
T parse(std::string_view text, std::string_view source, std::string_view what,
        void (*check_first)(const ordered_json&, std::string_view source)) {
  Reader reader;
  try {
    const ordered_json json = ordered_json::parse(text);
    check_first(json, source);
    T value;
    reader.read(json, value);
    return value;
  } catch (const nlohmann::json::exception& error) {
    fail(Fault::bad_input, "{}: {} {}: {}", source, what, kRecordSchema, plain(error));
  } catch (const std::invalid_argument& error) {
    fail(Fault::bad_input, "{}: {} {}: {} {}", source, what, kRecordSchema, reader.place(),
         error.what());
  }
}

}  // namespace

std::string Fact::text() const { return value ? *value : fmt::format("not available: {}", reason); }

std::string to_json(const Record& record) {
  Writer writer;
  ordered_json json = writer.write(record);
  for (const std::string& reason : writer.lost()) {
    const std::vector<std::string>& notes = record.notes;
    if (std::find(notes.begin(), notes.end(), reason) == notes.end()) {
      json["notes"].push_back(reason);
    }
  }
  std::string text;
  print(json, 0, text);
  return text + "\n";
}

std::string to_json(const std::vector<EpochRecord>& epochs) {
  return one_line(Writer().write(epochs));
}

std::vector<EpochRecord> epochs_from_json(std::string_view text, std::string_view source) {
  return parse<std::vector<EpochRecord>>(text, source, "are no epochs of a",
                                         [](const ordered_json&, std::string_view) {});
}

// What the schemas of all versions begin with.
constexpr std::string_view kRecords = "stepscope-record ";

Record record_from_json(std::string_view text, std::string_view source) {
  return parse<Record>(text, source, "is no", [](const ordered_json& json, std::string_view from) {
    const auto at = json.is_object() ? json.find("schema") : json.end();
    if (at == json.end() || !at->is_string()) {
      fail(Fault::bad_input, "{}: is no {}: it has no schema", from, kRecordSchema);
    }
    const auto schema = at->get<std::string>();
    check(schema == kRecordSchema, Fault::bad_input, "{}: is '{}', this program reads '{}'{}", from,
          schema, kRecordSchema,
          schema.starts_with(kRecords)
              ? "; measure anew, or read it with the stepscope that wrote it"
              : "");
  });
}

}  // namespace stepscope
