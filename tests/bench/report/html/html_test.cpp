// The page.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/report/html_parts.h"
#include "bench/report/html_text.h"
#include "bench/report/renderers.h"
#include "tests/bench/report/html/has.h"
#include "tests/bench/report/html/sample_document.h"

namespace stepscope {
namespace {

using test::count;
using test::has;

const Gnuplot kNone{.program = "", .version = "", .reason = "gnuplot is <not> installed"};

TEST(HtmlText, IsNeverMarkupAndAlwaysUtf8) {
  EXPECT_EQ(escaped("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(clean_line("a\tb\r\nc"), "a b  c");
  EXPECT_EQ(clean_line(std::string_view("\0\x1b[31m\x7f", 7)), "\uFFFD\uFFFD[31m\uFFFD");
  EXPECT_EQ(clean_line("µ … 😀"), "µ … 😀");
  EXPECT_EQ(clean_line("\xC3(\xE2\x82 \xF5 \xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80 \xFF"),
            "\uFFFD(\uFFFD\uFFFD \uFFFD \uFFFD\uFFFD \uFFFD\uFFFD\uFFFD "
            "\uFFFD\uFFFD\uFFFD\uFFFD \uFFFD");
}

TEST(HtmlText, OnlyWordsGetACapital) {
  EXPECT_EQ(capitalized("paid once: medians"), "Paid once: medians");
  EXPECT_EQ(capitalized("void: why"), "Void: why");
  EXPECT_EQ(capitalized("latency"), "Latency");
  for (const char* name : {"mlp:784-128-10", "eigen/graph/on", "x2 y", "", "Ready", "µs"}) {
    EXPECT_EQ(capitalized(name), name);
  }
}

TEST(Html, NothingOfARecordIsMarkup) {
  const std::string page = html(test::hostile_document(), find_gnuplot());
  EXPECT_EQ(count(page, "<script"), 0U);
  EXPECT_EQ(count(page, "</style>"), 1U);
  EXPECT_EQ(count(page, "alert('"), 0U);
  // Title twice, summary, section, group, figures, table: each shows it as text.
  EXPECT_GT(count(page, "&lt;script&gt;alert(&#39;1 &amp; &quot;2&quot;&#39;)&lt;/script&gt;"),
            20U);
}

TEST(Html, AsksNobodyForAnything) {
  const std::string page = html(test::sample_document(), find_gnuplot());
  EXPECT_TRUE(has(page, "default-src 'none'"));
  for (const char* word : {"http:", "https:", "//cdn", "src=", "@import", "url("}) {
    EXPECT_FALSE(has(page, word));
  }
}

TEST(Html, SummaryComesFirstThenContentsThenSections) {
  const std::string page = html(test::sample_document(), kNone);
  const std::size_t summary = page.find("eager dispatch alone takes");
  const std::size_t contents = page.find("<nav");
  const std::size_t sections = page.find("<section id=\"verdicts\"");
  EXPECT_LT(page.find("<h1>"), summary);
  EXPECT_LT(summary, contents);
  EXPECT_LT(contents, sections);
  EXPECT_TRUE(has(page, "<a href=\"#once\">What is paid once</a> <span class=\"none\">"));
  EXPECT_TRUE(has(page, "<span class=\"status warn\">void</span>"));
  EXPECT_TRUE(has(page, "<p class=\"missing\">Not measured: the record has no one-off costs"));
}

TEST(Html, WithoutGnuplotSaysSoAndKeepsTheTables) {
  const std::string page = html(test::sample_document(), kNone);
  EXPECT_TRUE(has(page, "No pictures: gnuplot is &lt;not&gt; installed."));
  EXPECT_TRUE(has(page, "<p class=\"alt\">The curves meet from batch 128 on.</p>"));
  EXPECT_EQ(count(page, "class=\"picture\""), 0U);
  EXPECT_EQ(count(page, "class=\"legend\""), 0U);
  EXPECT_EQ(count(page, "<table>"), 2U);
}

TEST(Html, AGnuplotThatFailsIsToldAtTheFigure) {
  const Gnuplot broken{.program = "/bin/false", .version = "5.4", .reason = ""};
  const std::string page = html(test::sample_document(), broken);
  EXPECT_TRUE(has(page, "<p class=\"missing\">not drawn: gnuplot: exit status 1</p>"));
  EXPECT_FALSE(has(page, "No pictures:"));
}

TEST(HtmlTable, HasHeadsMeaningsAndNamesInCsv) {
  Table table(
      "times", "Times",
      {{"arm", "arm", "Mode & fusion", "", Table::Align::left, {}},
       {"quartiles", "quartiles", "The middle half", "ns", Table::Align::right, {"q1", "q3"}}});
  table.add({"graph/on", "1 us .. 2 us"});
  table.notes = {"a note"};
  const std::string text = html_table(table);
  EXPECT_TRUE(has(text, R"(<th scope="col" class="l" title="Mode &amp; fusion">arm</th>)"));
  EXPECT_TRUE(has(text, R"(<th scope="row" class="l">graph/on</th><td>1 us .. 2 us</td>)"));
  EXPECT_TRUE(has(text,
                  "<dt>quartiles</dt><dd>The middle half<code>q1 (ns)</code>"
                  "<code>q3 (ns)</code></dd>"));
  EXPECT_TRUE(has(text, "<li>a note</li>"));
  EXPECT_TRUE(has(text, "tables/times.csv"));
}

TEST(HtmlTable, AVerdictIsAWordWithAMark) {
  Table table("t", "", {{"verdict", "verdict", "What may be said", "", Table::Align::left, {}}});
  table.add({"FASTER"});
  table.add({"no ratio: unequal work"});
  const std::string text = html_table(table);
  EXPECT_TRUE(has_verdicts(table));
  EXPECT_TRUE(has(text, R"(<b class="verdict less"><span aria-hidden="true">▼</span>FASTER</b>)"));
  EXPECT_TRUE(has(text, "no ratio: unequal work"));
  EXPECT_TRUE(has(html_verdict_marks(), "UNDECIDED</b> the interval lies"));
  EXPECT_EQ(html_sentence("FASTER at 1, FASTERED & SAME"),
            R"(<b class="less">FASTER</b> at 1, FASTERED &amp; <b class="same">SAME</b>)");
}

TEST(HtmlSummary, ALongSentenceHasItsClausesOnLines) {
  EXPECT_EQ(html_clauses("on eigen, a; b: at batch 1 c"), "on eigen, a; b: at batch 1 c");
  const std::string filling(150, 'x');
  EXPECT_EQ(
      html_clauses("On eigen, graph: at batch 1 FASTER (a; b), the band of SAME; at batch 8 " +
                   filling + "; on onednn, graph: at batch 1 SAME."),
      "On eigen, graph: <span class=\"clause\">at batch 1 <b class=\"less\">FASTER</b> (a; b), "
      "the band of SAME;</span> <span class=\"clause\">at batch 8 " +
          filling +
          ";</span> <span class=\"clause lead\">on onednn, graph:</span> "
          "<span class=\"clause\">at batch 1 <b class=\"same\">SAME</b>.</span>");
}

TEST(HtmlTable, RunsOfRowsAreSetApartAndLongTablesScroll) {
  Table table("t", "",
              {{"backend", "backend", "Whose", "", Table::Align::left, {}},
               {"n", "n", "A count", "", Table::Align::right, {}},
               {"x", "x", "A text", "", Table::Align::left, {}}});
  for (int i = 0; i < 30; ++i) table.add({i < 20 ? "eigen" : "onednn", i < 10 ? "1" : "8", "x"});
  EXPECT_EQ(count(html_table(table), "<tr class=\"first\">"), 1U);
  EXPECT_EQ(count(html_table(table), "<tr class=\"next\">"), 1U);
  EXPECT_TRUE(has(html_table(table), "30 rows"));
  EXPECT_TRUE(has(html_table(table), "class=\"scroll tall\""));
}

TEST(HtmlLegend, NamesEachSeriesOfAGroupOnce) {
  const FigureGroup group{.id = "g",
                          .title = "",
                          .how = "",
                          .figures = {test::time_figure("a"), test::time_figure("b")}};
  const std::string legend = html_legend(group);
  EXPECT_EQ(count(legend, "<li>"), 6U);
  EXPECT_EQ(count(legend, "graph/off"), 1U);
  EXPECT_EQ(count(legend, "stroke-dasharray"), 3U);
  EXPECT_EQ(
      count(html_legend({.id = "g", .title = "", .how = "", .figures = {test::bars_figure()}}),
            "<rect"),
      2U);
}

}  // namespace
}  // namespace stepscope
