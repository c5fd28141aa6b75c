// The style sheet. Text has a contrast of 4.5 or more against what it stands on, lines and marks 3;
// no text is smaller than 11 pixels; tests/bench/report/html/page_test.py measures both.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/html_style.h"

#include <string_view>

namespace stepscope {
namespace {

// Colours, in light and in dark. Series colours can be told apart with any colour vision as far as
// eight can; shapes and dashes tell them apart without.
constexpr std::string_view kColors = R"css(
:root {
  color-scheme: light dark;
  --page: #fdfdfc; --panel: #f4f5f7; --text: #1d2329; --muted: #58616b; --line: #dde0e5; --rule: #c2c8d0;
  --axis: #8a929c; --grid: #e6e8ec; --guide: #7a828c; --accent: #0b5f9e;
  --less: #0a6640; --more: #a63a16; --same: #41566d; --open: #755700;
  --series-0: #0068a8; --series-1: #c05000; --series-2: #00805a; --series-3: #8d3fb0;
  --series-4: #b3265e; --series-5: #5d6670; --series-6: #00798c; --series-7: #7d6a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --panel: #1d2127; --text: #e4e7eb; --muted: #a1abb6; --line: #343b44; --rule: #4d5661;
    --axis: #78828e; --grid: #2a3038; --guide: #98a2ad; --accent: #74b9f2;
    --less: #63d2a0; --more: #ff9f7d; --same: #b1c2d6; --open: #e6c065;
    --series-0: #62b5f5; --series-1: #ffa25c; --series-2: #4fcf9d; --series-3: #cf95ee;
    --series-4: #f58bb4; --series-5: #a4aebb; --series-6: #4fcbdc; --series-7: #d9c44f;
  }
}
)css";

constexpr std::string_view kText = R"css(
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 1216px; padding: 32px 24px 64px;
  background: var(--page); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans",
    "Liberation Sans", Arial, sans-serif;
  overflow-wrap: break-word;
}
h1, h2, h3 { line-height: 1.25; font-weight: 650; text-wrap: balance; }
h1 { font-size: 28px; margin: 4px 0 0; letter-spacing: -0.01em; }
h2 { font-size: 22px; margin: 0 0 12px; letter-spacing: -0.005em; }
h3 { font-size: 16px; margin: 0 0 4px; }
p, li, dd { max-width: 78ch; }
p { margin: 0 0 12px; }
a { color: var(--accent); text-underline-offset: 2px; }
a:focus-visible, summary:focus-visible, .scroll:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px;
}
code { font: 0.9em ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace; }
.brand {
  margin: 0; color: var(--muted); font-size: 13px; font-weight: 600; letter-spacing: 0.04em;
}
.about { color: var(--muted); font-size: 14px; margin: 0 0 8px; max-width: none; }
.how, .alt { color: var(--muted); font-size: 14px; margin: 0 0 10px; }
.missing { color: var(--muted); font-style: italic; }
.note {
  border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; margin: 20px 0 0;
  font-size: 14px; max-width: none;
}
.summary {
  background: var(--panel); border-left: 4px solid var(--accent); border-radius: 0 8px 8px 0;
  padding: 18px 24px 12px; margin: 24px 0 0;
}
.summary ul { list-style: none; margin: 0; padding: 0; }
.summary li { font-size: 18px; line-height: 1.5; margin: 0 0 10px; max-width: 84ch; }
.clause { display: block; padding-left: 32px; text-indent: -12px; font-size: 16px; }
.clause.lead { padding-left: 0; text-indent: 0; margin-top: 4px; font-size: inherit; }
.status {
  display: inline-block; border: 1px solid currentColor; border-radius: 999px; padding: 0 9px;
  margin-right: 8px; font-size: 13px; font-weight: 600; line-height: 20px; color: var(--text);
}
.status.warn { color: var(--more); }
nav { margin: 24px 0 0; font-size: 15px; }
nav h2 { font-size: 14px; margin: 0 0 6px; color: var(--muted); letter-spacing: 0; }
nav ol { margin: 0; padding-left: 24px; columns: 3 280px; column-gap: 32px; }
nav li { margin: 0 0 4px; break-inside: avoid; }
nav .none { color: var(--muted); font-size: 13px; }
main > section:not(.summary) { margin: 48px 0 0; padding: 24px 0 0; border-top: 1px solid var(--line); }
footer {
  margin: 56px 0 0; padding: 16px 0 0; border-top: 1px solid var(--line);
  color: var(--muted); font-size: 14px;
}
.notes { color: var(--muted); font-size: 14px; margin: 8px 0 0; padding-left: 20px; }
.notes li { margin: 0 0 4px; }
)css";

constexpr std::string_view kFigures = R"css(
.group { margin: 24px 0 0; }
.legend {
  display: flex; flex-wrap: wrap; gap: 4px 20px; list-style: none; margin: 0 0 8px; padding: 0;
  font-size: 14px;
}
.legend li { display: flex; align-items: center; gap: 8px; }
.legend svg { flex: none; }
.grid {
  display: grid; grid-template-columns: repeat(auto-fill, 360px); gap: 20px 40px;
  align-items: start;
}
figure { margin: 0; width: 360px; }
figcaption { font-weight: 600; font-size: 14px; margin: 0 0 4px; }
.picture { display: block; width: 360px; height: auto; overflow: visible; }
.picture text {
  font-variant-numeric: tabular-nums;
  paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round;
}
.picture + .alt, figcaption + .alt { font-size: 13px; }
)css";

constexpr std::string_view kTables = R"css(
.table { margin: 28px 0 0; }
.scroll {
  overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; width: fit-content;
  max-width: 100%;
}
.scroll.tall { max-height: 34rem; overflow-y: auto; }
table {
  border-collapse: separate; border-spacing: 0; font-size: 14px; line-height: 1.4;
  font-variant-numeric: tabular-nums lining-nums;
}
th, td { padding: 5px 12px; text-align: right; vertical-align: top; white-space: nowrap; }
th { font-weight: 600; }
thead th {
  position: sticky; top: 0; z-index: 1; background: var(--panel); vertical-align: bottom;
  border-bottom: 1px solid var(--line); font-size: 13px;
}
tbody th { font-weight: 400; }
.l { text-align: left; }
tbody tr:nth-child(n+2) > * { border-top: 1px solid var(--grid); }
tbody tr.first:nth-child(n+2) > * { border-top-color: var(--axis); }
tbody tr.next:nth-child(n+2) > * { border-top-color: var(--rule); }
tbody tr:hover > * { background: var(--panel); }
td.long { white-space: normal; min-width: 20em; max-width: 52em; overflow-wrap: anywhere; }
td.missing { font-style: normal; }
.verdict { font-weight: 650; white-space: nowrap; }
.verdict > span { display: inline-block; width: 1.15em; text-align: center; font-weight: 400; }
.less { color: var(--less); } .more { color: var(--more); }
.same { color: var(--same); } .open { color: var(--open); }
.rows { color: var(--muted); font-size: 13px; margin: 4px 0 0; }
.marks { color: var(--muted); font-size: 14px; margin: 12px 0 0; max-width: 110ch; }
.marks .verdict { margin-right: 4px; }
details { margin: 8px 0 0; font-size: 14px; }
summary { cursor: pointer; color: var(--accent); width: fit-content; }
.columns { display: none; margin: 8px 0 0; font-size: 14px; max-width: 100ch; }
details[open] + .columns { display: grid; }
.columns { grid-template-columns: minmax(9em, max-content) 1fr; gap: 3px 20px; }
.columns dt { font-weight: 600; }
.columns dd { margin: 0; }
.columns code { color: var(--muted); font-size: 12px; margin-left: 6px; white-space: nowrap; }
)css";

constexpr std::string_view kNarrow = R"css(
@media (max-width: 720px) {
  body { padding: 20px 12px 48px; }
  h1 { font-size: 24px; }
  h2 { font-size: 20px; }
  .summary { padding: 14px 14px 6px; }
  .summary li { font-size: 16px; }
  .clause { padding-left: 20px; font-size: 15px; }
  .clause.lead { padding-left: 0; }
  th, td { padding: 5px 9px; }
  figure { max-width: 100%; overflow-x: auto; }
  .columns { grid-template-columns: 1fr; gap: 0; }
  .columns dd { margin: 0 0 8px; }
  td.long { min-width: 15em; }
}
)css";

// Paper shows what a click would, and all of a box that would scroll.
constexpr std::string_view kPrint = R"css(
@media print {
  :root {
    color-scheme: light;
    --page: #fff; --panel: #f4f5f7; --text: #111; --muted: #4a525b; --line: #c4c9d0; --rule: #b4bac2;
    --axis: #767e88; --grid: #e0e3e8; --guide: #6b737d; --accent: #0b4f86;
    --less: #0a5a38; --more: #96330f; --same: #33475c; --open: #654b00;
    --series-0: #0068a8; --series-1: #c05000; --series-2: #00805a; --series-3: #8d3fb0;
    --series-4: #b3265e; --series-5: #5d6670; --series-6: #00798c; --series-7: #7d6a00;
  }
  @page { size: A4 landscape; margin: 12mm; }
  body { max-width: none; padding: 0; font-size: 14px; print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
  .summary li { font-size: 15px; }
  .clause { font-size: 14px; }
  nav { break-after: auto; }
  main > section:not(.summary) { margin-top: 28px; padding-top: 16px; }
  h2, h3, figcaption, .how, .legend { break-after: avoid; }
  figure, tr, p, .legend, .columns, .summary li { break-inside: avoid; }
  .grid { grid-template-columns: repeat(auto-fill, 330px); gap: 16px 20px; }
  figure, .picture { width: 330px; }
  .scroll, .scroll.tall { max-height: none; overflow: visible; width: auto; border: 0; }
  thead { display: table-header-group; }
  thead th { position: static; }
  table { font-size: 12px; }
  th, td { padding: 2px 10px 2px 3px; white-space: normal; }
  .rows { display: none; }
  td.long { min-width: 12em; }
  details { display: none; }
  .columns { display: grid; font-size: 12px; gap: 1px 14px; max-width: none;
    grid-template-columns: fit-content(11em) 1fr fit-content(11em) 1fr; }
  a { color: inherit; text-decoration: none; }
}
)css";

}  // namespace

std::string page_style() {
  std::string style;
  for (const auto part : {kColors, kText, kFigures, kTables, kNarrow, kPrint}) style += part;
  return style;
}

}  // namespace stepscope
