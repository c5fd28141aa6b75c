// Reading and writing XML.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/picture_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "bench/report/html_text.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr int kDeepest = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  XmlElement root() {
    skip_prolog();
    XmlElement element = read_element(0);
    skip_blanks();
    expect(at_ == text_.size(), "the end");
    return element;
  }

 private:
  bool sees(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void expect(bool holds, std::string_view what) const {
    check(holds, Fault::device, "picture: the SVG of gnuplot has no {} at byte {} of {}", what, at_,
          text_.size());
  }

  void skip(std::string_view word) {
    expect(sees(word), word);
    at_ += word.size();
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  void skip_behind(std::string_view word) {
    const std::size_t found = text_.find(word, at_);
    expect(found != std::string_view::npos, word);
    at_ = found + word.size();
  }

  bool skip_comment() {
    if (!sees("<!--")) return false;
    skip_behind("-->");
    return true;
  }

  void skip_prolog() {
    for (;;) {
      skip_blanks();
      if (sees("<?")) {
        skip_behind("?>");
      } else if (sees("<!DOCTYPE")) {
        skip_behind(">");
      } else if (!skip_comment()) {
        return;
      }
    }
  }

  std::string read_name() {
    const std::size_t begin = at_;
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == ':';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    expect(at_ > begin, "name");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void read_attributes(XmlElement& element) {
    for (skip_blanks(); !sees(">") && !sees("/>"); skip_blanks()) {
      std::string name = read_name();
      skip_blanks();
      skip("=");
      skip_blanks();
      expect(sees("'") || sees("\""), "quote");
      const char quote = text_[at_++];
      const std::size_t end = text_.find(quote, at_);
      expect(end != std::string_view::npos, "closing quote");
      element.attributes.emplace_back(std::move(name), resolved(text_.substr(at_, end - at_)));
      at_ = end + 1;
    }
  }

  XmlElement read_element(int depth) {
    expect(depth < kDeepest, "end of nesting");
    XmlElement element;
    skip("<");
    element.name = read_name();
    read_attributes(element);
    if (sees("/>")) {
      skip("/>");
      return element;
    }
    skip(">");
    while (!sees("</")) {
      expect(at_ < text_.size(), "closing tag");
      if (skip_comment()) continue;
      if (sees("<")) {
        element.children.push_back(read_element(depth + 1));
      } else {
        read_text(element);
      }
    }
    skip("</");
    expect(read_name() == element.name, "matching tag");
    skip_blanks();
    skip(">");
    return element;
  }

  void read_text(XmlElement& parent) {
    const std::size_t end = std::min(text_.find('<', at_), text_.size());
    const std::string_view text = text_.substr(at_, end - at_);
    at_ = end;
    const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
    if (std::all_of(text.begin(), text.end(), is_blank)) return;
    parent.children.push_back(
        {.name = "", .attributes = {}, .children = {}, .text = resolved(text)});
  }

  // The five references that XML knows; others stay as they are.
  static std::string resolved(std::string_view text) {
    constexpr std::pair<std::string_view, char> kReferences[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    std::string plain;
    while (!text.empty()) {
      const auto* found =
          std::find_if(std::begin(kReferences), std::end(kReferences),
                       [&](const auto& each) { return text.starts_with(each.first); });
      const bool is_reference = found != std::end(kReferences);
      plain += is_reference ? found->second : text.front();
      text.remove_prefix(is_reference ? found->first.size() : 1);
    }
    return plain;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void write(const XmlElement& element, std::string& out) {
  if (element.name.empty()) {
    out += escaped(element.text);
    return;
  }
  out += "<" + element.name;
  for (const auto& [name, value] : element.attributes) {
    out += fmt::format(" {}=\"{}\"", name, escaped(value));
  }
  if (element.children.empty()) {
    out += "/>";
    return;
  }
  out += ">";
  for (const XmlElement& child : element.children) write(child, out);
  out += "</" + element.name + ">";
}

}  // namespace

std::string_view XmlElement::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes) {
    if (key == wanted) return value;
  }
  return {};
}

XmlElement read_xml(std::string_view text) { return Reader(text).root(); }

std::string xml_text(const XmlElement& element) {
  std::string out;
  write(element, out);
  return out;
}

}  // namespace stepscope
