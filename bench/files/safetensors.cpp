// The header is read by events (SAX): what stands where it may not is refused as it comes, so that
// nothing nests deeper than the format does.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "bench/files/files.h"
#include "bench/files/shown.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;  // of the data: that of the widest element
constexpr std::string_view kMetadata = "__metadata__";

struct DtypeName {
  std::string_view name;
  Element element;
};
constexpr std::array kDtypes{DtypeName{"F64", Element::f64},  DtypeName{"F32", Element::f32},
                             DtypeName{"I64", Element::i64},  DtypeName{"I32", Element::i32},
                             DtypeName{"U8", Element::u8},    DtypeName{"F16", Element::f16},
                             DtypeName{"BF16", Element::bf16}};

// Types of the format that stepscope has not, and the bytes of an element.
struct ForeignType {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr std::array kForeignTypes{ForeignType{"BOOL", 1},    ForeignType{"I8", 1},
                                   ForeignType{"F8_E5M2", 1}, ForeignType{"F8_E4M3", 1},
                                   ForeignType{"F8_E8M0", 1}, ForeignType{"I16", 2},
                                   ForeignType{"U16", 2},     ForeignType{"U32", 4},
                                   ForeignType{"U64", 8},     ForeignType{"C64", 8}};

// One tensor of the header.
struct Entry {
  std::string name;
  std::string type;
  std::optional<Element> element;  // nothing for a type that stepscope has not
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> offsets;  // begin and end in the data
};

struct Header {
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
};

std::string why_unread(const Entry& entry, std::string_view who) {
  return fmt::format(
      "{}: header: tensor {}: element type {} is not supported; there are: F64, F32, I64, I32, U8, "
      "F16, BF16",
      who, shown(entry.name), shown(entry.type));
}

// What is done with tensors of a type that stepscope has not.
enum class Foreign : std::uint8_t { refused, left_out };

// Events in, Header out. Each handler throws bad_input for what may not stand there.
class HeaderReader {
 public:
  HeaderReader(std::string_view who, Foreign foreign, Header& header)
      : who_(who), foreign_(foreign), header_(header) {}

  // Requires: the bytes begin with '{'.
  void read(std::string_view text) { nlohmann::json::sax_parse(text, this); }

  bool null() { return refuse("null"); }
  bool boolean(bool) { return refuse("a truth value"); }
  bool number_float(double, const std::string& text) { return refuse(fmt::format("{}", text)); }
  bool number_integer(std::int64_t number) { return refuse(fmt::format("{}", number)); }
  bool binary(std::vector<std::uint8_t>&) { return refuse("binary data"); }

  bool number_unsigned(std::uint64_t number) {
    if (place_ != Place::in_list) return refuse(fmt::format("{}", number));
    check(number <= std::numeric_limits<std::int64_t>::max(), Fault::bad_input,
          "{}: header: {}: {} is {}, more than 63 bits", who_, subject(), field_, number);
    list().push_back(static_cast<std::int64_t>(number));
    return true;
  }

  bool string(std::string& text) {
    if (place_ == Place::metadata_value) {
      const bool is_new = header_.metadata.emplace(field_, text).second;
      check(is_new, Fault::bad_input, "{}: header: {} has {} twice", who_, kMetadata,
            shown(field_));
      place_ = Place::in_metadata;
      return true;
    }
    if (place_ != Place::field_value || field_ != "dtype") return refuse(shown(text));
    const auto* const found = std::find_if(
        kDtypes.begin(), kDtypes.end(), [&](const DtypeName& each) { return each.name == text; });
    Entry& entry = header_.entries.back();
    entry.type = text;
    if (found != kDtypes.end()) entry.element = found->element;
    check(entry.element || foreign_ == Foreign::left_out, Fault::bad_input, "{}",
          why_unread(entry, who_));
    place_ = Place::in_tensor;
    return true;
  }

  bool start_object(std::size_t) {
    switch (place_) {
      case Place::start:
        place_ = Place::top;
        return true;
      case Place::metadata:
        place_ = Place::in_metadata;
        return true;
      case Place::tensor:
        place_ = Place::in_tensor;
        fields_.clear();
        return true;
      default:
        return refuse("an object");
    }
  }

  bool key(std::string& text) {
    if (place_ == Place::top) {
      check(names_.insert(text).second, Fault::bad_input,
            "{}: header: tensor {} stands there twice", who_, shown(text));
      if (text == kMetadata) {
        place_ = Place::metadata;
        return true;
      }
      header_.entries.push_back({.name = text});
      place_ = Place::tensor;
      return true;
    }
    if (place_ == Place::in_tensor) {
      check(text == "dtype" || text == "shape" || text == "data_offsets", Fault::bad_input,
            "{}: header: {}: unknown field {}; expected dtype, shape and data_offsets", who_,
            subject(), shown(text));
      check(fields_.insert(text).second, Fault::bad_input, "{}: header: {}: {} stands there twice",
            who_, subject(), text);
      place_ = Place::field_value;
    } else {
      place_ = Place::metadata_value;
    }
    field_ = text;
    return true;
  }

  bool end_object() {
    if (place_ == Place::in_tensor) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        check(fields_.count(field) == 1, Fault::bad_input, "{}: header: {}: no {}", who_, subject(),
              field);
      }
      place_ = Place::top;
    } else if (place_ == Place::in_metadata) {
      place_ = Place::top;
    }
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ != Place::field_value || field_ == "dtype") return refuse("a list");
    place_ = Place::in_list;
    return true;
  }

  bool end_array() {
    const std::size_t size = header_.entries.back().offsets.size();
    check(field_ == "shape" || size == 2, Fault::bad_input,
          "{}: header: {}: data_offsets has {} numbers, expected begin and end", who_, subject(),
          size);
    place_ = Place::in_tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    fail(Fault::bad_input, "{}: the header is no JSON at byte {} of the file", who_,
         kLengthBytes + position - std::min<std::size_t>(position, 1));
  }

 private:
  enum class Place : std::uint8_t {
    start,           // an object is expected
    top,             // a name, or the end
    metadata,        // the object behind __metadata__
    in_metadata,     // a key, or the end
    metadata_value,  // a string
    tensor,          // the object behind a name
    in_tensor,       // a field, or the end
    field_value,     // dtype: a string; shape, data_offsets: a list
    in_list,         // a number, or the end
  };

  std::vector<std::int64_t>& list() {
    Entry& entry = header_.entries.back();
    return field_ == "shape" ? entry.shape : entry.offsets;
  }

  std::string subject() const {
    return fmt::format("tensor {}", shown(header_.entries.back().name));
  }

  [[noreturn]] bool refuse(const std::string& what) const {
    switch (place_) {
      case Place::metadata:
        fail(Fault::bad_input, "{}: header: {} is {}, expected an object of strings", who_,
             kMetadata, what);
      case Place::metadata_value:
        fail(Fault::bad_input, "{}: header: {}: {} is {}, expected a string", who_, kMetadata,
             shown(field_), what);
      case Place::tensor:
        fail(Fault::bad_input,
             "{}: header: {} is {}, expected an object of dtype, shape and data_offsets", who_,
             subject(), what);
      case Place::field_value:
        fail(Fault::bad_input, "{}: header: {}: {} is {}, expected {}", who_, subject(), field_,
             what, field_ == "dtype" ? "a string" : "a list of numbers");
      case Place::in_list:
        fail(Fault::bad_input, "{}: header: {}: {} holds {}, expected numbers from 0", who_,
             subject(), field_, what);
      default:
        fail(Fault::bad_input, "{}: the header is {}, expected an object", who_, what);
    }
  }

  std::string_view who_;
  Foreign foreign_;
  Header& header_;
  Place place_ = Place::start;
  std::set<std::string> names_, fields_;
  std::string field_;  // key of metadata, or field of a tensor
};

// 0 for a type of which nobody has said it.
std::uint64_t element_bytes(const Entry& entry) {
  if (entry.element) return bytes_per_element(*entry.element);
  const auto* const found =
      std::find_if(kForeignTypes.begin(), kForeignTypes.end(),
                   [&](const ForeignType& each) { return each.name == entry.type; });
  return found == kForeignTypes.end() ? 0 : found->bytes;
}

// The bytes that an entry claims, checked against its shape and the data.
void check_entry(const Entry& entry, std::uint64_t data_bytes, std::string_view who) {
  const std::int64_t begin = entry.offsets[0];
  const std::int64_t end = entry.offsets[1];
  check(begin <= end && static_cast<std::uint64_t>(end) <= data_bytes, Fault::bad_input,
        "{}: tensor {}: data_offsets {} to {} do not lie in the {} bytes of data", who,
        shown(entry.name), begin, end, data_bytes);
  const std::optional<std::int64_t> count = elements(entry.shape);
  const std::uint64_t each = element_bytes(entry);
  check(count && (each == 0 || static_cast<std::uint64_t>(*count) <=
                                   std::numeric_limits<std::uint64_t>::max() / each),
        Fault::bad_input, "{}: tensor {}: {} is too large", who, shown(entry.name),
        to_text(entry.shape));
  const std::uint64_t bytes = static_cast<std::uint64_t>(*count) * each;
  check(each == 0 || bytes == static_cast<std::uint64_t>(end - begin), Fault::bad_input,
        "{}: tensor {}: {} of {} take {} bytes, data_offsets give {}", who, shown(entry.name),
        entry.element ? name(*entry.element) : std::string_view(entry.type), to_text(entry.shape),
        bytes, end - begin);
}

// Every byte of the data belongs to one tensor.
void check_cover(const std::vector<Entry>& entries, std::uint64_t data_bytes,
                 std::string_view who) {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const Entry* a, const Entry* b) { return a->offsets < b->offsets; });
  std::int64_t covered = 0;
  for (const Entry* entry : sorted) {
    check(entry->offsets[0] == covered, Fault::bad_input,
          "{}: tensor {} begins at byte {} of the data, expected {}: {}", who, shown(entry->name),
          entry->offsets[0], covered,
          entry->offsets[0] < covered ? "tensors may not overlap" : "no byte may lie between them");
    covered = entry->offsets[1];
  }
  check(static_cast<std::uint64_t>(covered) == data_bytes, Fault::bad_input,
        "{}: {} bytes of data, the tensors take {}", who, data_bytes, covered);
}

std::string json_string(std::string_view text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    fail(Fault::bad_input, "safetensors: {} is no UTF-8", shown(text));
  }
}

std::string_view dtype_name(Element element) {
  return std::find_if(kDtypes.begin(), kDtypes.end(),
                      [&](const DtypeName& each) { return each.element == element; })
      ->name;
}

void check_tensors(const std::vector<HostTensor>& tensors) {
  std::set<std::string_view> names{kMetadata};
  for (const HostTensor& tensor : tensors) {
    check(names.insert(tensor.name).second, Fault::bad_input,
          "safetensors: tensor {} cannot be written {}", shown(tensor.name),
          tensor.name == kMetadata ? "under the name of the metadata" : "twice");
    check(bytes_of(tensor.shape, tensor.element) == tensor.bytes.size(), Fault::bad_input,
          "safetensors: tensor {}: {} bytes are not those of {} {}", shown(tensor.name),
          tensor.bytes.size(), name(tensor.element), to_text(tensor.shape));
  }
}

// Places of the tensors in the data: wide elements first, so that each lies at a multiple of its
// size; the given order among equals.
std::vector<std::size_t> data_order(const std::vector<HostTensor>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return bytes_per_element(tensors[a].element) > bytes_per_element(tensors[b].element);
  });
  return order;
}

std::string header_text(const Safetensors& content, const std::vector<std::uint64_t>& begins) {
  std::string text = "{";
  const auto separate = [&] { text += text.size() > 1 ? "," : ""; };
  if (!content.metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : content.metadata) {
      pairs.push_back(fmt::format("{}:{}", json_string(key), json_string(value)));
    }
    text += fmt::format("\"{}\":{{{}}}", kMetadata, fmt::join(pairs, ","));
  }
  for (std::size_t i = 0; i < content.tensors.size(); ++i) {
    const HostTensor& tensor = content.tensors[i];
    separate();
    text += fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        json_string(tensor.name), dtype_name(tensor.element),
                        fmt::join(tensor.shape, ","), begins[i], begins[i] + tensor.bytes.size());
  }
  text += '}';
  text.append((kAlignment - (kLengthBytes + text.size()) % kAlignment) % kAlignment, ' ');
  return text;
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  return read_safetensors(read_bytes(path), path.string());
}

Safetensors read_safetensors(std::span<const std::uint8_t> bytes, std::string_view who,
                             std::vector<UnreadTensor>* unread) {
  check(bytes.size() >= kLengthBytes, Fault::bad_input,
        "{}: {} bytes, expected a safetensors file, which begins with 8 of the header's length",
        who, bytes.size());
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::uint64_t{bytes[i]} << (8 * i);
  const std::uint64_t behind = bytes.size() - kLengthBytes;
  check(length <= kLargestSafetensorsHeader, Fault::bad_input,
        "{}: a header of {} bytes, expected a safetensors file, whose header has at most {}", who,
        length, kLargestSafetensorsHeader);
  check(length <= behind, Fault::bad_input, "{}: a header of {} bytes, there are {}", who, length,
        behind);
  const auto text = bytes.subspan(kLengthBytes, static_cast<std::size_t>(length));
  check(!text.empty() && text[0] == '{', Fault::bad_input,
        "{}: the header does not begin with '{{', expected a safetensors file", who);

  Header header;
  const Foreign foreign = unread == nullptr ? Foreign::refused : Foreign::left_out;
  HeaderReader(who, foreign, header)
      .read({reinterpret_cast<const char*>(text.data()), text.size()});
  const auto data = bytes.subspan(kLengthBytes + text.size());
  for (const Entry& entry : header.entries) check_entry(entry, data.size(), who);
  check_cover(header.entries, data.size(), who);

  Safetensors content{.tensors = {}, .metadata = std::move(header.metadata)};
  for (Entry& entry : header.entries) {
    if (!entry.element) {
      unread->push_back({.name = entry.name, .why = why_unread(entry, who)});
      continue;
    }
    const auto part =
        std::as_bytes(data.subspan(static_cast<std::size_t>(entry.offsets[0]),
                                   static_cast<std::size_t>(entry.offsets[1] - entry.offsets[0])));
    content.tensors.push_back({.name = std::move(entry.name),
                               .element = *entry.element,
                               .shape = std::move(entry.shape),
                               .bytes = {part.begin(), part.end()}});
  }
  return content;
}

std::string to_safetensors(const Safetensors& content) {
  check_tensors(content.tensors);
  const std::vector<std::size_t> order = data_order(content.tensors);
  std::vector<std::uint64_t> begins(order.size());
  std::uint64_t data_bytes = 0;
  for (const std::size_t i : order) {
    begins[i] = data_bytes;
    data_bytes += content.tensors[i].bytes.size();
  }
  const std::string header = header_text(content, begins);
  check(header.size() <= kLargestSafetensorsHeader, Fault::bad_input,
        "safetensors: the header would take {} bytes, the format has at most {}", header.size(),
        kLargestSafetensorsHeader);
  std::string file;
  file.reserve(kLengthBytes + header.size() + data_bytes);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  file += header;
  for (const std::size_t i : order) {
    const auto& bytes = content.tensors[i].bytes;
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return file;
}

}  // namespace stepscope
