// Tables and legends.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <tuple>
#include <vector>

#include "bench/report/html_text.h"
#include "bench/report/picture_colors.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongCell = 44;   // characters; more are wrapped
constexpr std::size_t kTallTable = 24;  // rows; more scroll below their header

struct Verdict {
  std::string_view word, style, mark;
  std::string_view meaning;
};
constexpr std::array<Verdict, 7> kVerdicts = {
    {{"FASTER", "less", "▼", "takes less time"},
     {"SLOWER", "more", "▲", "takes more time"},
     {"SAME", "same", "=", "within the band of SAME"},
     {"UNDECIDED", "open", "?", "the interval lies neither inside the band nor outside"},
     {"exploratory", "open", "·", "too few processes for a verdict"},
     {"void", "open", "×", "not to be quoted"},
     {"holds", "same", "=", "a control whose answer is right"}}};
constexpr std::size_t kCapital = 4;  // the first four are never another word

const Verdict* verdict_of(std::string_view word, std::size_t among) {
  const auto* end = kVerdicts.begin() + among;
  const auto* found =
      std::find_if(kVerdicts.begin(), end, [&](const Verdict& each) { return each.word == word; });
  return found == end ? nullptr : found;
}

bool is_verdict_column(const Table::Column& column) {
  return column.key.find("verdict") != std::string::npos &&
         column.key.find("reason") == std::string::npos;
}

std::string verdict_html(const Verdict& verdict) {
  return fmt::format(R"(<b class="verdict {}"><span aria-hidden="true">{}</span>{}</b>)",
                     verdict.style, verdict.mark, verdict.word);
}

std::string cell_html(const Table::Column& column, const std::string& text, bool heads_row) {
  std::vector<std::string_view> classes;
  if (column.align == Table::Align::left) classes.push_back("l");
  if (text.size() > kLongCell) classes.push_back("long");
  if (text.starts_with("not measured")) classes.push_back("missing");
  const std::string attribute =
      classes.empty() ? "" : fmt::format(R"( class="{}")", fmt::join(classes, " "));
  const Verdict* verdict = is_verdict_column(column) ? verdict_of(text, kVerdicts.size()) : nullptr;
  const std::string inner = verdict == nullptr ? escaped(text) : verdict_html(*verdict);
  if (heads_row) return fmt::format(R"(<th scope="row"{}>{}</th>)", attribute, inner);
  return fmt::format("<td{}>{}</td>", attribute, inner);
}

// The first column up to this one says where a row stands: whether it differs from the row before.
bool starts_run(const Table& table, std::size_t row, std::size_t columns) {
  if (row == 0) return true;
  const auto& here = table.rows()[row];
  const auto& before = table.rows()[row - 1];
  return !std::equal(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(columns),
                     before.begin(), [](const Cell& a, const Cell& b) { return a.text == b.text; });
}

// Whether rows come in runs that are alike in their first columns. Runs of one row are none.
bool has_runs(const Table& table, std::size_t columns) {
  if (columns >= table.columns().size()) return false;
  std::size_t starts = 0;
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    if (starts_run(table, row, columns)) ++starts;
  }
  return starts > 1 && 2 * starts <= table.rows().size();
}

std::string head_html(const Table& table) {
  std::string html = "<thead><tr>";
  for (const Table::Column& column : table.columns()) {
    html += fmt::format(R"(<th scope="col"{} title="{}">{}</th>)",
                        column.align == Table::Align::left ? R"( class="l")" : "",
                        escaped(column.meaning), escaped(column.title));
  }
  return html + "</tr></thead>\n";
}

// Runs are set apart: those of the first column, and within them those of the second.
std::string body_html(const Table& table) {
  const bool runs = has_runs(table, 1), inner_runs = has_runs(table, 2);
  std::string html = "<tbody>\n";
  for (std::size_t i = 0; i < table.rows().size(); ++i) {
    const auto& row = table.rows()[i];
    html += i > 0 && runs && starts_run(table, i, 1)         ? R"(<tr class="first">)"
            : i > 0 && inner_runs && starts_run(table, i, 2) ? R"(<tr class="next">)"
                                                             : "<tr>";
    for (std::size_t j = 0; j < row.size(); ++j) {
      const Table::Column& column = table.columns()[j];
      html += cell_html(column, row[j].text, j == 0 && column.align == Table::Align::left);
    }
    html += "</tr>\n";
  }
  return html + "</tbody>";
}

// Names of the columns of the CSV file that hold this one.
std::string csv_names(const Table::Column& column) {
  const std::string unit = column.unit.empty() ? "" : fmt::format(" ({})", escaped(column.unit));
  std::vector<std::string> names;
  for (const std::string& part : column.parts) names.push_back(escaped(part));
  if (names.empty()) names.push_back(escaped(column.key));
  std::string html;
  for (const std::string& name : names) html += fmt::format("<code>{}{}</code>", name, unit);
  return html;
}

std::string columns_html(const Table& table) {
  std::string html =
      "<details><summary>What the columns mean</summary></details>\n<dl class=\"columns\">\n";
  for (const Table::Column& column : table.columns()) {
    html += fmt::format("<dt>{}</dt><dd>{}{}</dd>\n", escaped(column.title),
                        escaped(column.meaning), csv_names(column));
  }
  html += fmt::format(
      "<dt>All digits</dt><dd>tables/{}.csv, in the columns named in small letters "
      "here</dd></dl>\n",
      escaped(table.id()));
  return html;
}

// The outline of a mark around 0, with a radius of about 3.
std::string mark_outline(std::uint8_t shape) {
  constexpr std::array<std::string_view, 6> kOutlines = {
      R"(<circle r="3.2")",          R"(<path d="M-3-3h6v6h-6z")",
      R"(<path d="M0-4 4 2.2h-8z")", R"(<path d="M0-4.2 4.2 0 0 4.2-4.2 0z")",
      R"(<path d="M0 4 4-2.2h-8z")", R"(<path d="M0-4 3.8-1.2 2.35 3.2h-4.7L-3.8-1.2z")"};
  return shape < kOutlines.size() ? std::string(kOutlines[shape]) : "";
}

std::string line_sample(const Series& series) {
  const std::string color = series_variable(series.look.color);
  std::string html = R"(<svg width="36" height="14" viewBox="-18 -7 36 14" aria-hidden="true">)";
  if (series.line) {
    const std::string_view dash = series.look.dash == 1   ? R"( stroke-dasharray="6.4 4")"
                                  : series.look.dash == 2 ? R"( stroke-dasharray="1.8 3.2")"
                                                          : "";
    html += fmt::format(R"(<path d="M-17 0h34" stroke="{}" stroke-width="1.6"{}/>)", color, dash);
  }
  if (const std::string outline = mark_outline(series.look.shape); !outline.empty()) {
    html += fmt::format(R"({} fill="{}" stroke="{}" stroke-width="1.4"/>)", outline,
                        series.look.filled ? color : "var(--page)", color);
  }
  return html + "</svg>";
}

std::string bar_sample(const Look& look) {
  const std::string color = series_variable(look.color);
  const std::string fill =
      look.filled ? fmt::format(R"(fill="{}")", color)
      : look.dash == 2
          ? fmt::format(R"(fill="{0}" fill-opacity="0.35" stroke="{0}" stroke-width="1.4")", color)
          : fmt::format(R"(fill="none" stroke="{}" stroke-width="1.4")", color);
  return fmt::format(R"(<svg width="20" height="14" viewBox="0 0 20 14" aria-hidden="true">)"
                     R"(<rect x="1" y="2" width="18" height="10" {}/></svg>)",
                     fill);
}

// Ends behind "; " and before ": at batch", outside of brackets. A short text is one, and so is one
// that has but two.
std::vector<std::string_view> clauses_of(std::string_view text) {
  constexpr std::size_t kLong = 160;
  std::vector<std::string_view> clauses;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; text.size() > kLong && i + 1 < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    const std::string_view left = text.substr(i);
    if (depth > 0 || !(left.starts_with("; ") || left.starts_with(": at batch "))) continue;
    clauses.push_back(text.substr(begin, i + 1 - begin));
    begin = i + 2;
  }
  clauses.push_back(text.substr(begin));
  if (clauses.size() < 3) return {text};
  return clauses;
}

auto key_of(const Figure& figure, const Series& series) {
  const Look& look = series.look;
  return std::tuple(series.name, look.color, look.shape, look.filled, look.dash, series.line,
                    figure.kind);
}

}  // namespace

bool has_verdicts(const Table& table) {
  return std::any_of(table.columns().begin(), table.columns().end(), is_verdict_column);
}

std::string html_verdict_marks() {
  std::vector<std::string> parts;
  for (const Verdict& verdict : kVerdicts) {
    parts.push_back(fmt::format("{} {}", verdict_html(verdict), verdict.meaning));
  }
  return fmt::format("<p class=\"marks\">{}.</p>\n", fmt::join(parts, "; "));
}

std::string html_table(const Table& table) {
  const std::string id = escaped(table.id());
  std::string html = fmt::format("<div class=\"table\" id=\"table-{}\">\n", id);
  std::string name = R"(aria-label="table")";
  if (!table.title().empty()) {
    html += fmt::format("<h3 id=\"title-{}\">{}</h3>\n", id, escaped(capitalized(table.title())));
    name = fmt::format(R"(aria-labelledby="title-{}")", id);
  }
  const bool tall = table.rows().size() > kTallTable;
  html += fmt::format("<div class=\"scroll{}\" role=\"region\" {} tabindex=\"0\"><table>\n",
                      tall ? " tall" : "", name);
  html += head_html(table) + body_html(table) + "</table></div>\n";
  if (tall) html += fmt::format("<p class=\"rows\">{} rows</p>\n", table.rows().size());
  return html + html_notes(table.notes) + columns_html(table) + "</div>\n";
}

std::string html_legend(const FigureGroup& group) {
  std::vector<decltype(key_of(Figure(), Series()))> seen;
  std::string items;
  for (const Figure& figure : group.figures) {
    if (!figure.missing.empty()) continue;
    for (const Series& series : figure.series) {
      if (series.name.empty()) continue;
      auto key = key_of(figure, series);
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
      seen.push_back(std::move(key));
      items += fmt::format(
          "<li>{}{}</li>",
          figure.kind == Figure::Kind::bars ? bar_sample(series.look) : line_sample(series),
          escaped(series.name));
    }
  }
  return items.empty() ? "" : fmt::format("<ul class=\"legend\">{}</ul>\n", items);
}

std::string html_sentence(std::string_view text) {
  std::string html;
  const std::string safe = escaped(text);
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < safe.size();) {
    std::size_t end = at;
    while (end < safe.size() && is_letter(safe[end])) ++end;
    const std::string word = safe.substr(at, std::max<std::size_t>(1, end - at));
    const bool is_band = std::string_view(safe).substr(0, at).ends_with("band of ");
    const Verdict* verdict = is_band ? nullptr : verdict_of(word, kCapital);
    html += verdict == nullptr
                ? word
                : fmt::format(R"(<b class="{}">{}</b>)", verdict->style, verdict->word);
    at += word.size();
  }
  return html;
}

std::string html_clauses(std::string_view text) {
  const std::vector<std::string_view> clauses = clauses_of(text);
  std::string html = html_sentence(clauses.front());
  for (std::size_t i = 1; i < clauses.size(); ++i) {
    html += fmt::format(R"( <span class="clause{}">{}</span>)",
                        clauses[i].starts_with("on ") ? " lead" : "", html_sentence(clauses[i]));
  }
  return html;
}

std::string html_notes(const std::vector<std::string>& notes) {
  if (notes.empty()) return {};
  std::string html = "<ul class=\"notes\">";
  for (const std::string& note : notes) html += fmt::format("<li>{}</li>", escaped(note));
  return html + "</ul>\n";
}

}  // namespace stepscope
