// The script of a picture, and drawing it.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bench/report/gnuplot_process.h"
#include "bench/report/picture_axes.h"
#include "bench/report/picture_colors.h"
#include "bench/report/picture_layout.h"
#include "bench/report/picture_plots.h"
#include "bench/report/picture_svg.h"
#include "ops/base/error.h"

namespace stepscope {
namespace {

constexpr int kTimeoutMs = 20'000;  // a picture takes some 20 ms
constexpr std::string_view kOldest = "5.4";

std::vector<Plot> plots_of(const Figure& figure, const Layout& layout) {
  if (!layout.lying) {
    return mark_plots(figure, layout.across, layout.up, layout.plot_width());
  }
  return bar_plots(figure, layout.across, layout.names.size(), layout.numbers);
}

// At a distance in pixels from the left and from the bottom of the picture.
std::string place(const Layout& layout, double x, double y) {
  return fmt::format("screen {:.5f}, screen {:.5f}", x / layout.width, y / layout.height);
}

std::string label(const Layout& layout, std::string_view text, double x, double y,
                  std::string_view anchor, Ink ink) {
  return fmt::format("set label {} at {} {} front textcolor {}\n", plain_string(text),
                     place(layout, x, y), anchor, code_of(ink));
}

std::string page_script(const Layout& layout) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg size {:.0f},{:.0f} fixed noenhanced font 'sans,12' butt dashlength 1 "
      "linewidth 1 name 'p'\n"
      "set key off\n"
      "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
      "set bmargin at screen {:.5f}\nset tmargin at screen {:.5f}\n"
      "set border {} lc {} lw 1\n"
      "set grid {} lc {} lw 1\n"
      "set tics nomirror scale 0.4 textcolor {}\n",
      layout.width, layout.height, layout.left / layout.width, 1.0 - layout.right / layout.width,
      layout.bottom / layout.height, 1.0 - layout.top / layout.height, layout.lying ? 2 : 1,
      code_of(Ink::axis), layout.lying ? "noytics xtics" : "noxtics ytics", code_of(Ink::grid),
      code_of(Ink::text));
}

// A label of a tick is a format: % stands for itself only when doubled.
std::string tick_text(std::string text) {
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string::npos; at += 2) {
    text.insert(at, 1, '%');
  }
  return plain_string(text);
}

std::string axis_script(char axis, const Scale& scale, bool downwards, std::string_view options) {
  std::vector<std::string> ticks;
  for (const Tick& tick : scale.ticks) {
    ticks.push_back(fmt::format("{} {}", tick_text(tick.text), tick.at));
  }
  return fmt::format("{}set {}range [{}:{}]\nset {}tics {} ({})\n",
                     scale.logarithmic ? fmt::format("set logscale {}\n", axis) : "", axis,
                     downwards ? scale.most : scale.least, downwards ? scale.least : scale.most,
                     axis, options, fmt::join(ticks, ", "));
}

std::string axes_script(const Figure& figure, const Layout& layout) {
  const std::string turned = layout.rotated ? "rotate by 35 right" : "offset 0,0.35";
  std::string script = axis_script('x', layout.across, false, turned) +
                       axis_script('y', layout.up, layout.lying, "scale 0");
  const double middle = layout.left + layout.plot_width() / 2.0;
  const double room = layout.width - 8.0;
  const std::string& below = layout.lying ? figure.y.label : figure.x.label;
  if (!below.empty()) {
    // Not beyond the edge of the picture on either side.
    const double half = width_of(shortened(below, room)) / 2.0;
    const double at = std::clamp(middle, std::min(half + 2.0, layout.width / 2.0),
                                 std::max(layout.width - half - 2.0, layout.width / 2.0));
    script += label(layout, shortened(below, room), at, 9.0, "center", Ink::muted);
  }
  if (!layout.lying && !figure.y.label.empty()) {
    script += label(layout, shortened(figure.y.label, room), 3.0, layout.height - 10.0, "left",
                    Ink::muted);
  }
  return script;
}

// A line at a value, or a band between two, over the whole other axis; `first` is gnuplot's word
// for values of the axes.
std::string guide_shape(const Guide& guide, bool upright) {
  const auto ends = [&](double from, double to) {
    return upright ? fmt::format("from first {}, graph 0 to first {}, graph 1", from, to)
                   : fmt::format("from graph 0, first {} to graph 1, first {}", from, to);
  };
  if (guide.to) {
    return fmt::format(
        "set object rectangle {} fillcolor {} fillstyle solid 0.16 noborder behind\n",
        ends(guide.at, *guide.to), code_of(Ink::guide));
  }
  return fmt::format("set arrow {} nohead lc {} lw 1.2 dt (7,5) back\n", ends(guide.at, guide.at),
                     code_of(Ink::guide));
}

// The label of a line that stands upright: at its foot, on the side that has more room, each a line
// higher.
std::string beside(const Guide& guide, const Layout& layout, int line) {
  const double last = guide.to.value_or(guide.at);
  const bool left = layout.across.share(last) > 0.55;
  const double share = layout.across.share(left ? guide.at : last);
  const double room = layout.plot_width() * (left ? share : 1.0 - share);
  return fmt::format(
      "set label {} at first {}, graph 0 {} offset character {},{} front textcolor {}\n",
      plain_string(shortened(guide.label, room - 6.0)), left ? guide.at : last,
      left ? "right" : "left", left ? -0.6 : 0.6, 0.7 + line, code_of(Ink::muted));
}

// The label of a line that lies: at its right end, above it; within a band where there is room.
std::string above(const Guide& guide, const Layout& layout) {
  const double top = std::max(guide.at, guide.to.value_or(guide.at));
  const double bottom = std::min(guide.at, guide.to.value_or(guide.at));
  const double high = (layout.up.share(top) - layout.up.share(bottom)) *
                      (layout.height - layout.top - layout.bottom);
  return fmt::format(
      "set label {} at graph 1, first {} right offset character -0.3,{} front textcolor {}\n",
      plain_string(shortened(guide.label, layout.plot_width() - 8.0)), top,
      high > 18.0 ? -0.6 : 0.55, code_of(Ink::muted));
}

std::string guides_script(const Figure& figure, const Layout& layout) {
  std::string script;
  int upright_labels = 0;
  for (const Guide& guide : figure.guides) {
    const bool upright = (guide.axis == Guide::Across::x) != layout.lying;
    const Scale& scale = upright ? layout.across : layout.up;
    const double last = guide.to.value_or(guide.at);
    if (!std::isfinite(guide.at) || !std::isfinite(last) || !scale.shows(guide.at)) continue;
    script += guide_shape(guide, upright);
    if (guide.label.empty()) continue;
    script += upright ? beside(guide, layout, upright_labels++) : above(guide, layout);
  }
  if (layout.lying && !layout.across.logarithmic && layout.across.least < 0.0) {
    script += fmt::format("set arrow from first 0, graph 0 to first 0, graph 1 nohead lc {} lw 1\n",
                          code_of(Ink::axis));
  }
  return script;
}

std::string plots_script(const std::vector<Plot>& plots) {
  if (plots.empty()) return "plot 1/0\n";
  std::string data;
  std::vector<std::string> commands;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    data += fmt::format("$d{} << END\n{}END\n", i, plots[i].data);
    commands.push_back(fmt::format("$d{} {}", i, plots[i].command));
  }
  return fmt::format("{}plot {}\n", data, fmt::join(commands, ", \\\n     "));
}

std::string first_line(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \n\t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string failure_of(const ProcessResult& result) {
  if (result.timed_out) return fmt::format("no picture within {} s", kTimeoutMs / 1000);
  const std::string line = first_line(result.err);
  if (!line.empty()) return line;
  return result.signal != 0 ? fmt::format("ended by signal {}", result.signal)
                            : fmt::format("exit status {}", result.status);
}

}  // namespace

std::string gnuplot_script(const Figure& figure, const PictureSize& size) {
  const Layout layout = layout_of(figure, size);
  return page_script(layout) + axes_script(figure, layout) + guides_script(figure, layout) +
         plots_script(plots_of(figure, layout));
}

Gnuplot find_gnuplot() {
  Gnuplot gnuplot;
  const std::string program = find_program("gnuplot");
  if (program.empty()) {
    gnuplot.reason = "gnuplot is not installed (Debian: gnuplot-nox)";
    return gnuplot;
  }
  const ProcessResult result = run_process(
      {program, "-d"},
      "set print '-'\nprint sprintf('%.1f %d', GPVAL_VERSION, strstrt(GPVAL_TERMINALS, 'svg'))\n",
      kTimeoutMs);
  const std::string line = first_line(result.out);
  const std::size_t blank = line.find(' ');
  if (!result.succeeded() || blank == std::string::npos) {
    gnuplot.reason = fmt::format("{} does not run: {}", program, failure_of(result));
    return gnuplot;
  }
  gnuplot.version = line.substr(0, blank);
  if (std::strtod(gnuplot.version.c_str(), nullptr) < std::strtod(kOldest.data(), nullptr)) {
    gnuplot.reason =
        fmt::format("{} is version {}, older than {}", program, gnuplot.version, kOldest);
  } else if (line.substr(blank + 1) == "0") {
    gnuplot.reason = fmt::format("{} draws no SVG", program);
  } else {
    gnuplot.program = program;
  }
  return gnuplot;
}

std::optional<std::string> draw(const Gnuplot& gnuplot, const Figure& figure, std::string& why,
                                const PictureSize& size) {
  if (gnuplot.program.empty()) {
    why = gnuplot.reason;
    return std::nullopt;
  }
  const ProcessResult result =
      run_process({gnuplot.program, "-d"}, gnuplot_script(figure, size), kTimeoutMs);
  if (!result.succeeded()) {
    why = fmt::format("gnuplot: {}", failure_of(result));
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const Plot& plot : plots_of(figure, layout_of(figure, size))) {
    names.push_back(figure.series[plot.series].name);
  }
  try {
    return page_svg(result.out, {.id = figure.id, .title = figure.title, .description = figure.alt},
                    names);
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

}  // namespace stepscope
