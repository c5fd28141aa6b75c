// As much XML as gnuplot writes: elements, attributes and text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope {

struct XmlElement {
  std::string name;  // empty: text
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  std::string text;  // references resolved

  // The value; empty where there is none.
  std::string_view attribute(std::string_view name) const;
};

// The root element. Prologs and comments are skipped, text of blanks alone is dropped. Throws
// device with the place where it is not in order.
XmlElement read_xml(std::string_view text);

std::string xml_text(const XmlElement& element);

}  // namespace stepscope
