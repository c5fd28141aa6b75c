// Scales, scripts and pictures.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "bench/report/picture.h"
#include "bench/report/picture_axes.h"
#include "bench/report/picture_svg.h"
#include "ops/base/error.h"
#include "tests/bench/report/html/has.h"
#include "tests/bench/report/html/sample_document.h"

namespace stepscope {
namespace {

using Texts = std::vector<std::string>;
using test::has;

std::vector<std::string> texts(const Scale& scale) {
  std::vector<std::string> texts;
  for (const Tick& tick : scale.ticks) texts.push_back(tick.text);
  return texts;
}

Axis logarithmic() {
  return {.label = "", .logarithmic = true, .names = {}, .least = {}, .most = {}};
}

TEST(Scale, BatchSizesAreTheirOwnTicksAsFarAsThereIsRoom) {
  const std::vector<double> few = {1, 8, 64};
  EXPECT_EQ(texts(scale_of(logarithmic(), few, 300, Direction::across)), (Texts{"1", "8", "64"}));
  std::vector<double> many;
  for (double batch = 1; batch <= 4096; batch *= 2) many.push_back(batch);
  EXPECT_EQ(texts(scale_of(logarithmic(), many, 300, Direction::across)),
            (Texts{"1", "4", "16", "64", "256", "1024", "4096"}));
}

TEST(Scale, DecadesElseOneTwoFiveElseLinear) {
  const Axis axis = logarithmic();
  EXPECT_EQ(texts(scale_of(axis, {0.02, 40'000}, 200, Direction::up)),
            (Texts{"0.1", "1", "10", "100", "1000", "10k"}));
  EXPECT_EQ(texts(scale_of(axis, {4, 60}, 200, Direction::up)), (Texts{"5", "10", "20", "50"}));
  EXPECT_EQ(texts(scale_of(axis, {110, 145}, 200, Direction::up)),
            (Texts{"110", "120", "130", "140"}));
}

TEST(Scale, ShowsAllValuesAndOnlyThoseOfALogarithm) {
  const Scale scale = scale_of(logarithmic(), {-3, 0, 2, 50, NAN}, 200, Direction::up);
  EXPECT_LT(scale.least, 2);
  EXPECT_GT(scale.least, 1);
  EXPECT_GT(scale.most, 50);
  EXPECT_DOUBLE_EQ(scale.share(scale.least), 0.0);
  EXPECT_DOUBLE_EQ(scale.share(scale.most), 1.0);
}

TEST(Scale, OneValueAndNoneHaveARange) {
  for (const bool is_logarithmic : {false, true}) {
    Axis axis;
    axis.logarithmic = is_logarithmic;
    EXPECT_LT(scale_of(axis, {7}, 200, Direction::up).least, 7);
    EXPECT_GT(scale_of(axis, {7}, 200, Direction::up).most, 7);
    const Scale none = scale_of(axis, {}, 200, Direction::up);
    EXPECT_LT(none.least, none.most);
  }
}

TEST(Scale, ARangeThatBeginsNearZeroBeginsAtZero) {
  EXPECT_EQ(scale_of({}, {1, 17}, 200, Direction::up).least, 0.0);
  EXPECT_GT(scale_of({}, {0.9, 1.1}, 200, Direction::up).least, 0.8);
  Axis axis;
  axis.least = 0.5;
  axis.most = 2.0;
  const Scale given = scale_of(axis, {0.9, 1.1}, 200, Direction::up);
  EXPECT_EQ(given.least, 0.5);
  EXPECT_EQ(given.most, 2.0);
}

TEST(Picture, NumbersAreShort) {
  EXPECT_EQ(short_number(0.0), "0");
  EXPECT_EQ(short_number(1000), "1000");
  EXPECT_EQ(short_number(12'500), "12.5k");
  EXPECT_EQ(short_number(-3.2e6), "-3.2M");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(shortened("time per step", 1000), "time per step");
  EXPECT_EQ(shortened("été été", 4 * width_of("x") + 1), "été…");
}

TEST(Script, HoldsTextInSingleQuotesAndNothingElseOfARecord) {
  Figure figure = test::time_figure("eigen");
  figure.y.label = "it's `date` @x \\\nexit 1";
  const std::string script = gnuplot_script(figure);
  EXPECT_TRUE(has(script, "'it''s `date` @x \\ exit 1'"));
  EXPECT_TRUE(has(script, "set logscale x\n"));
  EXPECT_TRUE(has(script, "with filledcurves"));
}

TEST(Script, ErrorBarsOfSeveralSeriesStandApartAndBandsDoNot) {
  const std::string script = gnuplot_script(test::ratio_figure("eigen"));
  EXPECT_FALSE(has(script, "\n32 "));
  Figure alone = test::ratio_figure("eigen");
  alone.series.resize(1);
  EXPECT_TRUE(has(gnuplot_script(alone), "\n32 "));
  EXPECT_EQ(test::count(gnuplot_script(test::time_figure("eigen")), "\n32 "),
            21U);  // 6 bands, 6 lines, 3 filled marks, 3 hollow ones on a ground
}

TEST(Script, BarsOfARowLeaveNoGap) {
  Figure figure = test::bars_figure();
  figure.series.push_back(
      {.name = "third", .look = {.color = 1}, .line = false, .marks = {{1, 9}}});
  const std::string script = gnuplot_script(figure);
  // Row 1 has two of the three: at a half thickness above and below its middle, 0.28 for each.
  EXPECT_TRUE(has(script, "\n2 0.86 0 2 "));
  EXPECT_TRUE(has(script, "\n9 1.14 0 9 "));
}

TEST(Script, LeavesOutWhatCannotBeDrawn) {
  Figure figure = test::time_figure("eigen");
  figure.series.resize(1);
  figure.series[0].marks = {{.x = 0, .y = 5}, {.x = 2, .y = NAN}, {.x = 4, .y = 3}};
  const std::string script = gnuplot_script(figure);
  EXPECT_TRUE(has(script, "\n4 3\n"));
  EXPECT_FALSE(has(script, "nan"));
  EXPECT_FALSE(has(script, "\n0 5"));
  EXPECT_FALSE(has(script, "with lines"));  // one point is no line
  figure.series.clear();
  EXPECT_TRUE(has(gnuplot_script(figure), "plot 1/0"));
}

// clang-format off
constexpr const char* kSvg = R"svg(<?xml version="1.0"?>
<svg width="10" height="20" viewBox="0 0 10 20" onload="alert(1)"><title>p</title>
<g id="gnuplot_canvas"><rect x="0" fill="none"/><script>alert(1)</script>
<defs><circle id='gpPt5' stroke-width='0.2' stroke='currentColor' r='1'/>
<use xlink:href='#gpPt5' id='gpPt6' fill='currentColor' stroke='none'/>
<path id='gpPt9' d='M0,0'/><filter id='x'/></defs>
<g fill="none" color="black"></g>
<g id="p_plot_1"><title>$d0</title><use xlink:href='#gpPt6' color='rgb(  1,   0,   2)'/></g>
<g font-family="Arial" fill="rgb(2,0,3)" style="fill:url(http://a/b)" onclick="x()">
<text>a &lt;b&gt; &amp;amp; 'c'</text></g>
<path class="gridline" stroke-dasharray="2,4" stroke="rgb(2, 0, 1)" fill="url(http://a/b)"/>
<use href="http://somewhere/x"/></g></svg>)svg";
// clang-format on

TEST(Svg, KeepsWhatItKnowsInTheColoursOfThePage) {
  const std::string svg =
      page_svg(kSvg, {.id = "f", .title = "a<b", .description = "so & so"}, {"graph/<on>"});
  EXPECT_EQ(svg,
            R"svg(<svg class="picture" width="10" height="20" viewBox="0 0 10 20" role="img" )svg"
            R"svg(aria-labelledby="f-title f-desc"><title id="f-title">a&lt;b</title>)svg"
            R"svg(<desc id="f-desc">so &amp; so</desc>)svg"
            R"svg(<defs><circle id="f-gpPt5" stroke-width="0.45" stroke="currentColor" r="1"/>)svg"
            R"svg(<use href="#f-gpPt5" id="f-gpPt6" fill="currentColor" stroke="none"/></defs>)svg"
            R"svg(<g><title>graph/&lt;on&gt;</title>)svg"
            R"svg(<use href="#f-gpPt6" color="var(--series-2)"/></g>)svg"
            R"svg(<g fill="var(--muted)"><text>a &lt;b&gt; &amp;amp; &#39;c&#39;</text></g>)svg"
            R"svg(<path stroke="var(--grid)"/><use/></svg>)svg");
}

TEST(Svg, WhatIsNotInOrderIsRefusedWithItsPlace) {
  const auto message = [](const char* svg) -> std::string {
    try {
      page_svg(svg, {}, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(message(""), "picture: the SVG of gnuplot has no < at byte 0 of 0");
  EXPECT_EQ(message("<svg><g></svg>"),
            "picture: the SVG of gnuplot has no matching tag at byte 13 of 14");
  EXPECT_EQ(message("<svg><g>"), "picture: the SVG of gnuplot has no closing tag at byte 8 of 8");
  EXPECT_EQ(message("<svg a=1/>"), "picture: the SVG of gnuplot has no quote at byte 7 of 10");
  EXPECT_EQ(message("<p/>"), "picture: what gnuplot wrote is no SVG with a size, but p");
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep += "<g>";
  EXPECT_TRUE(has(message(deep.c_str()), "end of nesting"));
}

class DrawnPicture : public testing::Test {
 protected:
  void SetUp() override {
    gnuplot_ = find_gnuplot();
    if (gnuplot_.program.empty()) GTEST_SKIP() << gnuplot_.reason;
  }
  std::string drawn(const Figure& figure) {
    std::string why;
    const auto svg = draw(gnuplot_, figure, why);
    EXPECT_TRUE(svg) << why;
    return svg.value_or("");
  }
  Gnuplot gnuplot_;
};

TEST_F(DrawnPicture, HasNoColourFontOrIdOfItsOwn) {
  for (const Figure& figure :
       {test::time_figure("eigen"), test::ratio_figure("eigen"), test::bars_figure()}) {
    const std::string svg = drawn(figure);
    EXPECT_TRUE(svg.starts_with("<svg class=\"picture\" width=\"360\"")) << svg;
    EXPECT_TRUE(has(svg, "var(--series-2)"));
    for (const char* none :
         {"rgb(", "black", "white", "font-family", "id=\"gp", "id=\"p_", "#gp"}) {
      EXPECT_FALSE(has(svg, none)) << figure.id;
    }
  }
}

TEST_F(DrawnPicture, TellsSeriesByShapeAndDashesToo) {
  const std::string svg = drawn(test::time_figure("eigen"));
  EXPECT_TRUE(has(svg, "stroke-dasharray=\"6.4,4.0\""));
  for (const char* mark : {"#time-eigen-gpPt5", "#time-eigen-gpPt3", "#time-eigen-gpPt7"}) {
    EXPECT_TRUE(has(svg, mark));
  }
  EXPECT_TRUE(has(svg, "<title>planned/off</title>"));
  EXPECT_TRUE(has(svg, ">4096</text>"));
}

TEST_F(DrawnPicture, ReadsNothingOfARecordAsItsLanguage) {
  Figure figure = test::time_figure("eigen");
  figure.y.label = figure.x.label = "50 % `echo ran` '\"<b>&";
  figure.guides = {{.axis = Guide::Across::y, .at = 90, .to = {}, .label = "%d '%s' @a $b"}};
  const std::string svg = drawn(figure);
  EXPECT_TRUE(has(svg, "50 % `echo ran` &#39;&quot;&lt;b&gt;&amp;</text>"));
  EXPECT_TRUE(has(svg, "%d &#39;%s&#39; @a $b</text>"));
  Figure bars = test::bars_figure();
  bars.x.names[0] = "5 % {/*2 x} \\n'";
  EXPECT_TRUE(has(drawn(bars), ">5 % {/*2 x} \\n&#39;</text>"));
}

TEST_F(DrawnPicture, OfNothingIsEmptyAxes) {
  Figure figure = test::time_figure("eigen");
  figure.series.clear();
  EXPECT_TRUE(has(drawn(figure), "time per step, us"));
}

TEST_F(DrawnPicture, FailsWithTheFirstLineOfWhatGnuplotSaid) {
  std::string why;
  Gnuplot broken = gnuplot_;
  broken.program = "/bin/false";
  EXPECT_FALSE(draw(broken, test::bars_figure(), why));
  EXPECT_EQ(why, "gnuplot: exit status 1");
  broken.program = "/bin/true";
  EXPECT_FALSE(draw(broken, test::bars_figure(), why));
  EXPECT_TRUE(has(why, "picture: the SVG of gnuplot has no"));
}

}  // namespace
}  // namespace stepscope
