// A document in GitHub's Markdown. What comes from a record stays text, whatever is in it.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/report/renderers.h"

namespace stepscope {
namespace {

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80U || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
         (c >= 'a' && c <= 'z');
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// An underscore within a word begins no emphasis, and fold_sgd stays readable.
bool is_inner(std::string_view text, std::size_t at) {
  return at > 0 && at + 1 < text.size() && is_word(text[at - 1]) && is_word(text[at + 1]);
}

// On one line; marks of the language are escaped.
std::string escaped(std::string_view text) {
  constexpr std::string_view kMarks = "\\`*[]|$~";
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == '<' && (is_word(next) || next == '/' || next == '!' || next == '?') &&
        !is_digit(next)) {
      safe += "&lt;";  // a tag would begin here
    } else if (c == '&' && (is_word(next) || next == '#')) {
      safe += "&amp;";  // and here an entity
    } else if (byte < 0x20U || byte == 0x7FU) {
      safe += ' ';
    } else {
      if (kMarks.find(c) != std::string_view::npos || (c == '_' && !is_inner(text, i)))
        safe += '\\';
      safe += c;
    }
  }
  return safe;
}

// A paragraph must not begin like a heading, a list or a quotation.
std::string paragraph(std::string_view text) {
  std::string safe = escaped(text.substr(std::min(text.find_first_not_of(' '), text.size())));
  if (safe.empty()) return safe;
  const std::size_t digits = safe.find_first_not_of("0123456789");
  if (digits != std::string::npos && digits > 0 && (safe[digits] == '.' || safe[digits] == ')')) {
    return fmt::format("{}\\{}", safe.substr(0, digits), safe.substr(digits));
  }
  if (std::string_view("#+-=>").find(safe.front()) != std::string_view::npos) {
    return fmt::format("\\{}", safe);
  }
  return safe;
}

std::string item(std::string_view text) { return fmt::format("- {}\n", paragraph(text)); }

std::string row_text(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string meanings(const Document& document) {
  std::string text;
  std::set<std::string> said;
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      for (const Table::Column& column : table.columns()) {
        if (!said.insert(column.key).second) continue;
        text += row_text(
            {escaped(column.title), escaped(column.meaning),
             escaped(column.parts.empty() ? column.key
                                          : fmt::format("{}", fmt::join(column.parts, ", ")))});
      }
    }
  }
  if (text.empty()) return text;
  return fmt::format(
      "## What the columns mean\n\n| column | meaning | in CSV |\n| --- | --- | --- |\n{}", text);
}

std::string figures_text(const FigureGroup& group) {
  std::string text = fmt::format("**{}.** {}\n\n", escaped(group.title), escaped(group.how));
  for (const Figure& figure : group.figures) {
    text += item(
        fmt::format("{}: {}", figure.title, figure.missing.empty() ? figure.alt : figure.missing));
  }
  return text + "\n";
}

std::string section_text(const Section& section) {
  std::string text = fmt::format("## {}\n\n", escaped(section.title));
  for (const std::string& each : section.text) text += fmt::format("{}\n\n", paragraph(each));
  for (const FigureGroup& group : section.figures) text += figures_text(group);
  for (const Table& table : section.tables) text += fmt::format("{}\n", markdown(table));
  for (const std::string& note : section.notes) text += item(note);
  return section.notes.empty() ? text : fmt::format("{}\n", text);
}

std::string summary_text(const Document::Summary& summary) {
  std::string text = fmt::format("{}\n\n", paragraph(summary.about));
  text += fmt::format("{}\n\n", paragraph(fmt::format("Status: {}", summary.status)));
  for (const std::string& sentence : summary.sentences) text += item(sentence);
  return summary.sentences.empty() ? text : fmt::format("{}\n", text);
}

}  // namespace

std::string markdown(const Table& table) {
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (const Table::Column& column : table.columns()) {
    titles.push_back(escaped(column.title));
    rules.emplace_back(column.align == Table::Align::left ? "---" : "---:");
  }
  std::string text = table.title().empty() ? "" : fmt::format("**{}**\n\n", escaped(table.title()));
  text += row_text(titles) + row_text(rules);
  for (const auto& row : table.rows()) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(escaped(cell.text));
    text += row_text(cells);
  }
  if (!table.notes.empty()) text += "\n";
  for (const std::string& note : table.notes) text += item(note);
  return text;
}

std::string markdown(const Document& document) {
  std::string text = fmt::format("# {}\n\n", escaped(document.title));
  for (const Document::Summary& summary : document.summaries) text += summary_text(summary);
  for (const Section& section : document.sections) text += section_text(section);
  text += meanings(document);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace stepscope
