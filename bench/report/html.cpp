// A document as one page of HTML.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bench/report/html_parts.h"
#include "bench/report/html_style.h"
#include "bench/report/html_text.h"
#include "bench/report/renderers.h"

namespace stepscope {
namespace {

// Nothing may be fetched and nothing may run, whatever a record says.
constexpr std::string_view kPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

// Status of a record whose numbers may be quoted as they are.
constexpr std::array<std::string_view, 1> kFine = {"complete"};

std::string head(const Document& document) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
      kPolicy, escaped(document.title), page_style());
}

std::string status_html(const std::string& status) {
  if (status.empty()) return {};
  const std::string word = status.substr(0, status.find(':'));
  const bool fine = std::find(kFine.begin(), kFine.end(), word) != kFine.end();
  return fmt::format("<span class=\"status{}\">{}</span>", fine ? "" : " warn", escaped(word));
}

// The reason behind the word of a status, if no sentence says it.
std::string reason_html(const Document::Summary& summary) {
  const std::size_t colon = summary.status.find(": ");
  if (colon == std::string::npos) return {};
  const std::string reason = summary.status.substr(colon + 2);
  for (const std::string& sentence : summary.sentences) {
    if (sentence.find(reason) != std::string::npos) return {};
  }
  return fmt::format("<p class=\"about\">{}</p>\n", escaped(capitalized(reason)));
}

std::string summary_html(const Document::Summary& summary) {
  std::string html = "<section class=\"summary\">\n";
  html += fmt::format("<p class=\"about\">{}{}</p>\n{}", status_html(summary.status),
                      escaped(summary.about), reason_html(summary));
  if (summary.sentences.empty()) return html + "</section>\n";
  html += "<ul>\n";
  for (const std::string& sentence : summary.sentences) {
    html += fmt::format("<li>{}</li>\n", html_clauses(sentence));
  }
  return html + "</ul>\n</section>\n";
}

std::string contents_html(const Document& document) {
  std::string html =
      "<nav aria-labelledby=\"contents\">\n<h2 id=\"contents\">Contents</h2>\n<ol>\n";
  for (const Section& section : document.sections) {
    const bool none = section.figures.empty() && section.tables.empty();
    html += fmt::format("<li><a href=\"#{}\">{}</a>{}</li>\n", escaped(section.id),
                        escaped(section.title),
                        none ? " <span class=\"none\">(nothing to show)</span>" : "");
  }
  return html + "</ol>\n</nav>\n";
}

std::string figure_html(const Figure& figure, const Gnuplot& gnuplot) {
  std::string html = fmt::format("<figure id=\"figure-{}\"><figcaption>{}</figcaption>",
                                 escaped(figure.id), escaped(figure.title));
  std::string why;
  if (!figure.missing.empty()) {
    html += fmt::format("<p class=\"missing\">{}</p>", escaped(figure.missing));
  } else if (const auto picture = draw(gnuplot, figure, why)) {
    html += *picture;
  } else {
    // That there is no gnuplot is said once, above.
    if (!gnuplot.program.empty()) {
      html += fmt::format("<p class=\"missing\">not drawn: {}</p>", escaped(why));
    }
    html += fmt::format("<p class=\"alt\">{}</p>", escaped(figure.alt));
  }
  return html + "</figure>\n";
}

std::string group_html(const FigureGroup& group, const Gnuplot& gnuplot) {
  std::string html = fmt::format("<div class=\"group\" id=\"group-{}\">\n<h3>{}</h3>\n",
                                 escaped(group.id), escaped(group.title));
  if (!group.how.empty()) html += fmt::format("<p class=\"how\">{}</p>\n", escaped(group.how));
  if (!gnuplot.program.empty()) html += html_legend(group);
  html += "<div class=\"grid\">\n";
  for (const Figure& figure : group.figures) html += figure_html(figure, gnuplot);
  return html + "</div>\n</div>\n";
}

std::string section_html(const Section& section, const Gnuplot& gnuplot) {
  std::string html = fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n"
      "<h2 id=\"{0}-title\">{1}</h2>\n",
      escaped(section.id), escaped(section.title));
  for (const std::string& text : section.text) {
    html +=
        fmt::format("<p{}>{}</p>\n", text.starts_with("not measured") ? " class=\"missing\"" : "",
                    html_sentence(capitalized(text)));
  }
  for (const FigureGroup& group : section.figures) html += group_html(group, gnuplot);
  bool verdicts = false;
  for (const Table& table : section.tables) {
    if (has_verdicts(table) && !std::exchange(verdicts, true)) html += html_verdict_marks();
    html += html_table(table);
  }
  return html + html_notes(section.notes) + "</section>\n";
}

}  // namespace

std::string html(const Document& document, const Gnuplot& gnuplot) {
  std::string page = head(document);
  page += fmt::format("<header>\n<p class=\"brand\">stepscope report</p>\n<h1>{}</h1>\n</header>\n",
                      escaped(document.title));
  page += "<main>\n";
  for (const Document::Summary& summary : document.summaries) page += summary_html(summary);
  if (gnuplot.program.empty()) {
    page += fmt::format(
        "<p class=\"note\" id=\"no-pictures\">No pictures: {}. What each would show "
        "is said in words, and the tables hold the numbers.</p>\n",
        escaped(gnuplot.reason));
  }
  page += contents_html(document);
  for (const Section& section : document.sections) page += section_html(section, gnuplot);
  page +=
      "</main>\n<footer><p>Every raw sample is in the record, record.json; every table of this "
      "page is also a file, tables/NAME.csv, with all digits. Nothing on this page is fetched "
      "from anywhere, and nothing in it runs.</p></footer>\n</body>\n</html>\n";
  return page;
}

}  // namespace stepscope
