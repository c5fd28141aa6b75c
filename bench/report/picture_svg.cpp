// From gnuplot's document to an element of a page.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/picture_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "bench/report/picture_colors.h"
#include "bench/report/picture_xml.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::array<std::string_view, 13> kElements = {
    "circle", "defs", "g",    "line",  "path",  "polygon", "polyline",
    "rect",   "svg",  "text", "title", "tspan", "use"};
constexpr std::array<std::string_view, 22> kAttributes = {"cx",
                                                          "cy",
                                                          "d",
                                                          "fill",
                                                          "fill-opacity",
                                                          "font-size",
                                                          "font-weight",
                                                          "height",
                                                          "points",
                                                          "r",
                                                          "stroke",
                                                          "stroke-width",
                                                          "text-anchor",
                                                          "transform",
                                                          "width",
                                                          "x",
                                                          "x1",
                                                          "x2",
                                                          "y",
                                                          "y1",
                                                          "y2",
                                                          "stroke-dasharray"};
constexpr std::string_view kMarkLine = "0.45";  // in units of a mark's radius of 3 pixels
constexpr std::string_view kPlot = "p_plot_";  // begins the id of what was plotted; p: the script's

template <typename List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// rgb( 1, 0, 3), a name, none. What is not an ink of ours is the colour of the text.
std::string color_of(const std::string& value) {
  if (value == "none") return value;
  int red = 0, green = 0, blue = 0;
  if (std::sscanf(value.c_str(), "rgb(%d ,%d ,%d)", &red, &green, &blue) == 3) {
    return page_color(red, green, blue).value_or("currentColor");
  }
  return "currentColor";
}

class Cleaner {
 public:
  Cleaner(const PictureNames& names, const std::vector<std::string>& plots)
      : prefix_(names.id + "-"), plots_(plots) {}

  // Nothing, where nothing of it may stay.
  std::optional<XmlElement> clean(const XmlElement& element, bool in_defs = false) const {
    if (element.name.empty()) {
      return XmlElement{.name = "", .attributes = {}, .children = {}, .text = element.text};
    }
    if (!holds(kElements, element.name) || element.name == "title") return std::nullopt;
    XmlElement kept;
    kept.name = element.name;
    for (const auto& [name, value] : element.attributes) keep(kept, element, name, value, in_defs);
    if (const std::string title = title_of(element); !title.empty()) {
      XmlElement tip;
      tip.name = "title";
      tip.children.push_back({.name = "", .attributes = {}, .children = {}, .text = title});
      kept.children.push_back(std::move(tip));
    }
    const std::size_t before = kept.children.size();
    for (const XmlElement& child : element.children) {
      std::optional<XmlElement> cleaned = clean(child, in_defs || element.name == "defs");
      if (cleaned) kept.children.push_back(std::move(*cleaned));
    }
    if (kept.name == "g" && kept.children.size() == before) return std::nullopt;
    return kept;
  }

 private:
  void keep(XmlElement& kept, const XmlElement& element, const std::string& name,
            const std::string& value, bool in_defs) const {
    const auto set = [&](std::string_view key, std::string text) {
      kept.attributes.emplace_back(std::string(key), std::move(text));
    };
    if (value.find("url(") != std::string::npos) return;
    if (name == "id") {
      if (in_defs) set("id", prefix_ + value);
    } else if (name == "xlink:href" || name == "href") {
      if (value.starts_with("#")) set("href", "#" + prefix_ + value.substr(1));
    } else if (name == "color") {  // what marks are drawn with
      if (element.name == "use") set("color", color_of(value));
    } else if (name == "fill" || name == "stroke") {
      set(name, color_of(value));
    } else if (name == "stroke-width" && in_defs) {
      set(name, std::string(kMarkLine));
    } else if (name == "stroke-dasharray") {
      if (element.attribute("class") != "gridline") set(name, value);
    } else if (holds(kAttributes, name)) {
      set(name, value);
    }
  }

  std::string title_of(const XmlElement& element) const {
    const std::string_view id = element.attribute("id");
    if (!id.starts_with(kPlot)) return {};
    std::size_t number = 0;
    for (const char c : id.substr(kPlot.size())) {
      if (c < '0' || c > '9' || number > plots_.size()) return {};
      number = number * 10 + static_cast<std::size_t>(c - '0');
    }
    return number >= 1 && number <= plots_.size() ? plots_[number - 1] : "";
  }

  std::string prefix_;
  const std::vector<std::string>& plots_;
};

void collect_uses(const XmlElement& element, std::set<std::string, std::less<>>& used) {
  if (const std::string_view target = element.attribute("href"); !target.empty()) {
    used.emplace(target.substr(1));
  }
  for (const XmlElement& child : element.children) {
    if (child.name != "defs") collect_uses(child, used);
  }
}

// Marks that nothing refers to, not even another mark in use, are dropped. A mark refers to marks
// before it, so that the way back finds all.
void drop_unused(XmlElement& element, std::set<std::string, std::less<>> used) {
  for (XmlElement& child : element.children) {
    if (child.name != "defs") continue;
    std::vector<XmlElement> kept;
    for (auto mark = child.children.rbegin(); mark != child.children.rend(); ++mark) {
      if (!used.contains(mark->attribute("id"))) continue;
      collect_uses(*mark, used);
      kept.insert(kept.begin(), *mark);
    }
    child.children = std::move(kept);
  }
}

XmlElement described(const std::string& name, const std::string& id, const std::string& text) {
  XmlElement element;
  element.name = name;
  element.attributes = {{"id", id}};
  element.children.push_back({.name = "", .attributes = {}, .children = {}, .text = text});
  return element;
}

}  // namespace

std::string page_svg(std::string_view svg, const PictureNames& names,
                     const std::vector<std::string>& plots) {
  const XmlElement root = read_xml(svg);
  const std::string width(root.attribute("width")), height(root.attribute("height"));
  check(root.name == "svg" && !width.empty() && !height.empty(), Fault::device,
        "picture: what gnuplot wrote is no SVG with a size, but {}", root.name);
  XmlElement page;
  page.name = "svg";
  page.attributes = {
      {"class", "picture"}, {"width", width},
      {"height", height},   {"viewBox", fmt::format("0 0 {} {}", width, height)},
      {"role", "img"},      {"aria-labelledby", fmt::format("{0}-title {0}-desc", names.id)}};
  page.children.push_back(described("title", names.id + "-title", names.title));
  page.children.push_back(described("desc", names.id + "-desc", names.description));
  const Cleaner cleaner(names, plots);
  for (const XmlElement& child : root.children) {
    for (const XmlElement& each : child.children) {  // of the canvas
      const bool is_ground = each.name == "rect" && each.attribute("fill") == "none";
      std::optional<XmlElement> kept = is_ground ? std::nullopt : cleaner.clean(each);
      if (kept && !kept->name.empty()) page.children.push_back(std::move(*kept));
    }
  }
  std::set<std::string, std::less<>> used;
  collect_uses(page, used);
  drop_unused(page, used);
  return xml_text(page);
}

}  // namespace stepscope
