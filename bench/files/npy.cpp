// The header is the text of a Python dictionary; read here by a small strict reader, which knows
// strings, True, False, and tuples of numbers, and nothing else of Python.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/npy.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "bench/files/files.h"
#include "bench/files/shown.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // of the elements; NumPy's ARRAY_ALIGN

struct Description {
  std::string_view text;
  Element element;
};
constexpr std::array kDescriptions{
    Description{"<f4", Element::f32}, Description{"<f8", Element::f64},
    Description{"<i4", Element::i32}, Description{"<i8", Element::i64},
    Description{"|u1", Element::u8}};
constexpr std::string_view kExpected = "expected '<f4', '<f8', '<i4', '<i8' or '|u1'";

// The text of the header, read from front to back.
class DictReader {
 public:
  DictReader(std::string_view text, std::size_t offset, std::string_view who)
      : text_(text), offset_(offset), who_(who) {}

  // Skips blanks; takes `letter` where it stands next.
  bool take(char letter) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }
  void need(char letter) {
    if (!take(letter)) refuse(fmt::format("'{}'", letter));
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  bool next_is(char letter) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == letter;
  }

  std::string_view string() {
    const char quote = next_is('"') ? '"' : '\'';
    need(quote);
    const std::size_t end = text_.find(quote, at_);
    const std::string_view found = text_.substr(at_, end - at_);
    if (end == std::string_view::npos || found.find('\\') != std::string_view::npos) {
      refuse("the end of a plain string");
    }
    at_ = end + 1;
    return found;
  }

  bool truth() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return word == "True";
    }
    refuse("True or False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    need('(');
    while (!take(')')) {
      numbers.push_back(number());
      if (take(',')) continue;
      // One number in brackets is no tuple in Python.
      if (numbers.size() == 1) refuse("','");
      need(')');
      break;
    }
    return numbers;
  }

  [[noreturn]] void refuse(std::string_view expected) {
    fail(Fault::bad_input, "{}: header: expected {} at byte {}, there is {}", who_, expected,
         offset_ + at_, at_ < text_.size() ? shown(text_.substr(at_, 8)) : "its end");
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  std::int64_t number() {
    skip_blanks();
    std::int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0) refuse("a number from 0 of at most 63 bits");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t offset_;  // of the text in the file
  std::string_view who_;
};

struct Header {
  Element element = Element::f32;
  std::vector<std::int64_t> shape;
};

Element element_from(std::string_view text, std::string_view who) {
  const auto* const found =
      std::find_if(kDescriptions.begin(), kDescriptions.end(),
                   [&](const Description& each) { return each.text == text; });
  if (found != kDescriptions.end()) return found->element;
  std::string_view why = "is not supported";
  if (text.substr(0, 1) == ">") why = "is big-endian";
  if (text.find('O') != std::string_view::npos) why = "is Python objects (pickle), never read";
  if (text.find('V') != std::string_view::npos) why = "is raw or structured data";
  throw UnreadableElements(
      fmt::format("{}: element type {} {}; {}", who, shown(text), why, kExpected));
}

// Bits of the fields that were seen.
constexpr unsigned kDescr = 1, kFortranOrder = 2, kShape = 4, kAllSeen = 7;

Header read_dict(DictReader& reader, std::string_view who) {
  Header header;
  unsigned seen = 0;
  reader.need('{');
  while (!reader.take('}')) {
    const std::string_view key = reader.string();
    const unsigned field = key == "descr"           ? kDescr
                           : key == "fortran_order" ? kFortranOrder
                           : key == "shape"         ? kShape
                                                    : 0U;
    check(field != 0 && (seen & field) == 0, Fault::bad_input,
          "{}: header: {} {}; expected descr, fortran_order and shape, each once", who,
          field == 0 ? "unknown field" : "there is a second", shown(key));
    seen |= field;
    reader.need(':');
    if (field == kDescr) {
      if (reader.next_is('[') || reader.next_is('(')) {
        throw UnreadableElements(
            fmt::format("{}: a structured element type is not supported; {}", who, kExpected));
      }
      header.element = element_from(reader.string(), who);
    } else if (field == kShape) {
      header.shape = reader.tuple();
    } else if (reader.truth()) {
      throw UnreadableElements(fmt::format(
          "{}: is in Fortran order, expected C order: save numpy.ascontiguousarray(...) of it",
          who));
    }
    if (!reader.take(',')) {
      reader.need('}');
      break;
    }
  }
  if (!reader.at_end()) reader.refuse("the end of the header");
  check(seen == kAllSeen, Fault::bad_input, "{}: header: no {}", who,
        (seen & kDescr) == 0          ? "descr"
        : (seen & kFortranOrder) == 0 ? "fortran_order"
                                      : "shape");
  return header;
}

// Where the text of the header lies.
struct Place {
  std::size_t begin, bytes;
};

Place find_header(std::span<const std::uint8_t> bytes, std::string_view who) {
  check(!bytes.empty(), Fault::bad_input, "{}: is empty, expected an NPY file", who);
  check(bytes.size() >= kMagic.size() + 2 &&
            std::equal(kMagic.begin(), kMagic.end(), bytes.begin(),
                       [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; }),
        Fault::bad_input, "{}: is no NPY file: it does not begin with \\x93NUMPY and a version",
        who);
  const unsigned major = bytes[6];
  const unsigned minor = bytes[7];
  check(major >= 1 && major <= 3 && minor == 0, Fault::bad_input,
        "{}: NPY version {}.{}, expected 1.0, 2.0 or 3.0", who, major, minor);
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = kMagic.size() + 2 + length_bytes;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes && 8 + i < bytes.size(); ++i) {
    length |= std::uint64_t{bytes[8 + i]} << (8 * i);
  }
  check(bytes.size() >= begin && length <= bytes.size() - begin, Fault::bad_input,
        "{}: truncated: the header takes {} bytes, the file has {}", who, begin + length,
        bytes.size());
  return {begin, static_cast<std::size_t>(length)};
}

}  // namespace

HostTensor read_npy(const std::filesystem::path& path) {
  return read_npy(read_bytes(path), path.string());
}

HostTensor read_npy(std::span<const std::uint8_t> bytes, std::string_view who) {
  const Place place = find_header(bytes, who);
  const auto text = bytes.subspan(place.begin, place.bytes);
  DictReader reader({reinterpret_cast<const char*>(text.data()), text.size()}, place.begin, who);
  Header header = read_dict(reader, who);
  const auto data = std::as_bytes(bytes.subspan(place.begin + place.bytes));
  const std::optional<std::uint64_t> wanted = bytes_of(header.shape, header.element);
  check(wanted.has_value(), Fault::bad_input, "{}: shape {} is too large", who,
        to_text(header.shape));
  check(*wanted == data.size(), Fault::bad_input, "{}: {}: {} of {} take {} bytes, there are {}",
        who, data.size() < *wanted ? "truncated" : "trailing bytes", name(header.element),
        to_text(header.shape), *wanted, data.size());
  return {.name = {},
          .element = header.element,
          .shape = std::move(header.shape),
          .bytes = {data.begin(), data.end()}};
}

std::string to_npy(const HostTensor& tensor) {
  const auto* const found =
      std::find_if(kDescriptions.begin(), kDescriptions.end(),
                   [&](const Description& each) { return each.element == tensor.element; });
  check(found != kDescriptions.end(), Fault::unsupported, "npy: {} cannot be written; {}",
        name(tensor.element), kExpected);
  check(bytes_of(tensor.shape, tensor.element) == tensor.bytes.size(), Fault::bad_input,
        "npy: {} bytes are not those of {} {}", tensor.bytes.size(), name(tensor.element),
        to_text(tensor.shape));
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", found->text,
                  fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
  const std::size_t before = kMagic.size() + 4;
  header.append((kAlignment - (before + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  check(header.size() <= 0xffff, Fault::bad_input, "npy: a shape of {} dimensions is too long",
        tensor.shape.size());
  std::string file(kMagic);
  file += '\x01';
  file += '\x00';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  return file;
}

}  // namespace stepscope
