// The manual page: NAME to SEE ALSO, in the macros of man(7).
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/cli/completion.h"
#include "bench/cli/options.h"

namespace stepscope::cli {
namespace {

// Text that roff prints as it stands: a dash stays one that can be copied, and no line starts with
// a character of control.
std::string plain(const std::string& text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool starts = i == 0 || text[i - 1] == '\n';
    if (starts && (c == '.' || c == '\'')) made += "\\&";
    if (c == '\\') {
      made += "\\e";
    } else if (c == '-') {
      made += "\\-";
    } else {
      made += c;
    }
  }
  return made;
}

// An argument of a macro stands in quotes, and knows no quote within.
std::string argument(const std::string& text) {
  std::string made;
  for (const char c : plain(text)) made += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return fmt::format("\"{}\"", made);
}

std::string flag_entry(const FlagText& flag) {
  std::string tag = flag.brief.empty() ? "" : fmt::format("\\fB{}\\fR, ", plain(flag.brief));
  tag += fmt::format("\\fB{}\\fR", plain(flag.name));
  if (flag.takes_value) tag += " \\fIvalue\\fR";
  std::string text = fmt::format(".TP\n{}\n{}", tag, plain(flag.description));
  if (!flag.usual.empty()) text += plain(fmt::format(" (default: {})", flag.usual));
  return text + ".\n";
}

std::string command_entry(const std::string& program, const CommandText& command) {
  std::string text =
      fmt::format(".SS {}\n{}.\n", argument(fmt::format("{} {}", program, command.name)),
                  plain(command.summary));
  if (!command.files.empty()) {
    text += fmt::format(".TP\n\\fI{}\\fR...\n{}.\n", kFilesOperand, plain(command.files));
  }
  for (const FlagText& flag : command.flags) {
    if (flag.name != "--help") text += flag_entry(flag);
  }
  return text;
}

constexpr const char* kEnd = R"(.SH EXIT STATUS
.TP
0
Done.
.TP
1
Something failed: data or a record that cannot be read, a backend that is not available, arms of a comparison
that did unequal work. One line on standard error says what.
.TP
2
Wrong usage: an unknown command, flag, name or number. One line on standard error says what is
known, and nothing was done.
.SH ENVIRONMENT
.TP
.B OMP_THREAD_LIMIT
Must not be below the threads asked for with \fB\-\-threads\fR: backends that use OpenMP refuse
to compute with fewer than they were promised.
.TP
.B NO_COLOR
Set to anything, verdicts have no colour on a terminal, unless \fB\-\-color always\fR asks for it.
.SH FILES
.TP
.I record.json
In the folder of \fB\-\-out\fR: what was run, counted and timed.
.TP
.I report.html
The report of it, one page that needs no network; with pictures where gnuplot is installed.
.TP
.I report.md
The same as Markdown.
.TP
.I tables/*.csv
Each table of the report. \fIcolumns.csv\fR says what the columns mean.
.TP
.I measure_report.json
Of \fBlab\fR: the lists of its stages.
.TP
.I /usr/share/datasets/fashion\-mnist
What \fB\-\-data fashion\-mnist\fR reads.
.SH SEE ALSO
The pages installed in
.I share/doc/stepscope
and the examples in
.IR share/stepscope/examples .
)";

}  // namespace

std::string manual_page(const ProgramText& program, std::string_view version) {
  std::string text =
      fmt::format(".TH STEPSCOPE 1 \"\" \"stepscope {0}\" \"User Commands\"\n", version);
  text += fmt::format(".SH NAME\n{} \\- time one training step, run eagerly or as a graph\n",
                      program.name);
  text += fmt::format(".SH SYNOPSIS\n.B {0}\n\\fIcommand\\fR [\\fIflag\\fR]...\n.br\n.B {0} {1}\n",
                      program.name, "\\-\\-version");
  text +=
      fmt::format(".SH DESCRIPTION\n{}\nEach command tells its flags with \\fB\\-\\-help\\fR.\n",
                  plain(program.summary));
  text += ".SH COMMANDS\n";
  for (const CommandText& command : program.commands) {
    text += command_entry(program.name, command);
  }
  text += ".SH EXAMPLES\n.nf\n";
  for (const CommandText& command : program.commands) {
    for (const std::string& example : command.examples) text += plain(example) + "\n";
  }
  return text + ".fi\n" + kEnd;
}

}  // namespace stepscope::cli
