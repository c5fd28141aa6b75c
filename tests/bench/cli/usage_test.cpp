// Wrong usage: one line that says what is wrong, exit status 2, and nothing done.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/cli/options.h"
#include "tests/bench/cli/run_command.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using test::CommandResult;
using test::run_stepscope;

struct Mistake {
  std::vector<std::string> arguments;
  std::string message;
};

// Five images of 2 x 2 pixels and their labels, as training and test set.
void write_tiny_set(const test::TempFolder& folder) {
  std::string images("\0\0\x08\x03\0\0\0\x05\0\0\0\x02\0\0\0\x02", 16);
  images.append(20, 'a');
  std::string labels("\0\0\x08\x01\0\0\0\x05", 8);
  labels.append("\0\1\0\1\0", 5);
  for (const std::string set : {"train", "t10k"}) {
    folder.write(set + "-images-idx3-ubyte", std::string_view(images));
    folder.write(set + "-labels-idx1-ubyte", std::string_view(labels));
  }
}

std::string model_names() {
  std::string names;
  for (const CatalogEntry& entry : catalog()) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return names;
}

class UsageMistake : public testing::TestWithParam<Mistake> {};

TEST_P(UsageMistake, IsOneLineAndStatusTwo) {
  const CommandResult result = run_stepscope(GetParam().arguments);
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "stepscope: " + GetParam().message + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    All, UsageMistake,
    testing::Values(
        Mistake{{"compair"},
                "unknown command 'compair': did you mean 'compare'? (there are: compare, train, "
                "report, explain, lab, devices, completion, manual)"},
        Mistake{{"compare", "--model", "mpl"},
                "unknown model 'mpl': did you mean 'mlp'? (there are: " + model_names() + ")"},
        Mistake{{"compare", "--record", "node"},
                "unknown way of recording 'node': did you mean 'nodes'? (there are: tape, capture, "
                "nodes)"},
        Mistake{{"train", "--tf32", "yes"},
                "unknown choice of --tf32 'yes': did you mean 'on'? (there are: on, off)"},
        Mistake{{"compare", "--model", "mlp:784-x-10"},
                "model 'mlp:784-x-10': 'x' is no whole number from 1 to 2147483647"},
        Mistake{{"compare", "--model", "mlp:784"},
                "model 'mlp:784': needs at least two sizes, input and classes, as in "
                "mlp:784-128-10"},
        Mistake{{"compare", "--model", "chain"}, "model 'chain': needs a length, as in chain:50"},
        Mistake{{"compare", "--model", "mlp:"}, "model 'mlp:': nothing follows the colon"},
        Mistake{{"compare", "--backend", "refrence"},
                "unknown backend 'refrence': did you mean 'reference'? (there are: " +
                    std::string(STEPSCOPE_BACKEND_NAMES) + ")"},
        Mistake{{"compare", "--mode", "graf"},
                "unknown mode 'graf': did you mean 'graph'? (there are: eager, planned, graph)"},
        Mistake{{"train", "--optimizer", "sdg"},
                "unknown optimizer 'sdg': did you mean 'sgd'? (there are: sgd, momentum, adam)"},
        Mistake{{"compare", "--batch", "0"}, "--batch: 0 is not between 1 and 1048576"},
        Mistake{{"compare", "--threads", "0"}, "--threads: 0 is not between 1 and 1024"},
        Mistake{{"compare", "--budget", "soon"},
                "--budget 'soon': no duration, as in 170s, 2m or 500ms"},
        Mistake{{"train", "--epochs", "0"}, "--epochs: 0 is below 1"},
        Mistake{{"train", "--lr", "1e39"}, "--lr: 1e+39 is no rate that f32 holds"},
        Mistake{{"train", "--lr", "nan"}, "--lr: nan is no rate that f32 holds"},
        Mistake{{"train", "--resume", ""}, "--resume: is empty, expected a path"},
        Mistake{{"report", ""}, "FILE: is empty, expected a path"},
        Mistake{{"report", "a.json", ""}, "FILE: is empty, expected a path"},
        Mistake{{"compare", "--model", "chain:3", "--backend", "null", "--out", "/tmp", "--json",
                 "/tmp/record.json"},
                "--json and --out: both name /tmp/record.json"},
        Mistake{{"train", "--backend", "null", "--data", "generated"},
                "--backend: 'null' computes nothing, it cannot train"},
        Mistake{{"train", "--mode", "eager,graph"},
                "train: takes one --backend, one --mode, one --fusion and one --batch"},
        Mistake{{"train", "--model", "chain:5"},
                "train: model 'chain:5' has no loss, it cannot be trained"},
        Mistake{{"train", "--data", "generated", "--batch", "5000"},
                "--batch: 5000 rows, the training data have 4800"},
        Mistake{{"train", "--data", "gnerated"},
                "unknown data 'gnerated': did you mean 'generated'? (there are: fashion-mnist, "
                "generated), or give a folder"},
        Mistake{{"compare", "--data", "generated:x"},
                "data 'generated:x': 'x' is no seed, a whole number below 2^64, as in generated:2"},
        Mistake{{"train", "--partial", "pad"},
                "unknown partial-batch policy 'pad': did you mean 'drop'? (there are: drop, "
                "second_plan, pad_masked)"},
        Mistake{{"train", "--loader-workers", "-1"},
                "--loader-workers: -1 is not between 0 and 1024"},
        Mistake{{"train", "--prefetch", "3"},
                "--prefetch: nobody makes batches ahead without --loader-workers"},
        Mistake{{"train", "--checkpoint-every", "3"},
                "--checkpoint-every: names no file, add --checkpoint FILE"},
        Mistake{{"train", "--fusion", "on", "--fusion", "off"},
                "train: takes one --backend, one --mode, one --fusion and one --batch"},
        Mistake{{"explain", "--fusion", "on", "--fusion", "off"},
                "explain: takes one --batch, one --fusion and one --backend"},
        Mistake{{"compare", "--ablate", "--fusion", "on"},
                "--ablate: it chooses the passes of its arms, leave out --fusion"},
        Mistake{
            {"lab", "--preset", "gpuplan"},
            "unknown preset 'gpuplan': did you mean 'gpu-plan'? (there are: lab-cpu, gpu-plan)"},
        Mistake{{"lab", "--fifo"}, "lab: --fifo needs --launch with a number for each kernel"},
        Mistake{{"lab", "--fifo", "--launch", "0,2", "--device", "5"},
                "lab: --launch has 2 numbers and --device 1, expected one each for every kernel"},
        Mistake{{"lab", "--fifo", "--launch", "0,3,2", "--device", "5,4,8"},
                "lab: --launch: kernel 3 at 2 comes before kernel 2 at 3, expected rising times"},
        Mistake{{"lab", "--fifo", "--launch", "0", "--device", "-5"},
                "lab: --device: number 1 is -5, expected a time of 0 or more"},
        Mistake{{"lab", "--fifo", "--launch", "0", "--device", "inf"},
                "lab: --device: number 1 is inf, expected a time of 0 or more"},
        Mistake{{"lab", "--fifo", "--launch", "3", "--device", "1", "--stop", "2"},
                "lab: --stop: 2 is not at or after the first launch at 3"},
        Mistake{{"lab", "--stop", "9"}, "lab: --launch, --device and --stop belong to --fifo"},
        Mistake{{"lab", "--fifo", "--make-data", "x"},
                "lab: --fifo and --make-data are two things to do, give one of them"},
        Mistake{{"lab", "--report", "x", "--out", "y"},
                "lab: --report and --out both say where the report goes, give one of them"},
        Mistake{{"lab", "--fifo", "--launch", "0", "--device", "1", "--json", "-"},
                "lab: --fifo and --make-data measure nothing, leave out --report, --out and "
                "--json"},
        Mistake{{"report"},
                "report: of which records? give files, folders that hold a record.json, or - for "
                "standard input"},
        Mistake{{"report", "x", "--format", "htlm"},
                "unknown format 'htlm': did you mean 'html'? (there are: html, md, csv)"},
        Mistake{{"report", "x", "--format", "html,md"},
                "--format html,md: is more than one file, add --out DIR"},
        Mistake{{"report", "x", "--format", "csv"},
                "--format csv: is more than one file, add --out DIR"},
        Mistake{{"report", "x", "--format", "md", "--json", "-"},
                "--format md and --json -: both go to standard output, add --out DIR"},
        Mistake{{"report", "-", "--baseline", "-"},
                "report: standard input holds one record, - stands twice"},
        Mistake{{"report", "x", "y", "--json", "-"}, "--json: is for one record, 2 are given"},
        Mistake{{"report", "x", "--color", "alway"},
                "unknown color 'alway': did you mean 'always'? (there are: auto, always, never)"},
        Mistake{{"lab", "--mode", "eager,graph"}, "lab: takes one --mode and one --batch"},
        Mistake{{"lab", "--preset", "gpu-plan", "--backend", "reference"},
                "lab: preset gpu-plan runs on a GPU, and backend 'reference' on none"},
        Mistake{{"lab", "--backend", "null", "--report", "/tmp/no-lab.json"},
                "--backend: 'null' computes nothing, it has no lab"},
        Mistake{{"lab", "--make-data", "/nowhere/at/all", "--images", "3"},
                "lab: generated data: 3 images asked for, expected 7 to 1000000"},
        Mistake{{"lab", "--make-data", "/nowhere/at/all", "--shape", "minst"},
                "lab: unknown shape of data 'minst': did you mean 'mnist'? (there are: glyphs, "
                "mnist)"},
        Mistake{{"train", "--weights-map", "map"},
                "--weights-map: maps names of no file, add --weights FILE"},
        Mistake{{"compare", "--weights", "/nowhere/w.npz"},
                "/nowhere/w.npz: cannot be opened: No such file or directory"},
        Mistake{
            {"explain", "--format", "svg"},
            "unknown format 'svg': did you mean 'ir'? (there are: text, ir, dot, dot-recording)"}));

TEST(Usage, WrongFlagsAreNamed) {
  const CommandResult result = run_stepscope({"compare", "--bacth", "3"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--bacth"), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST(Usage, UnknownPassesAreNamedWithTheNearest) {
  for (const std::string text : {"fold_sdg", "-fold_sdg", "epilogue,fold_sdg"}) {
    const CommandResult result = run_stepscope({"compare", "--fusion", text});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.err.find("'fold_sdg': did you mean 'fold_sgd'?"), std::string::npos)
        << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST(Usage, NothingAtAllPrintsTheHelp) {
  const CommandResult result = run_stepscope({});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("compare"), std::string::npos);
}

TEST(Help, EachCommandShowsAnExample) {
  for (const std::string command :
       {"compare", "train", "report", "explain", "lab", "devices", "completion", "manual"}) {
    const CommandResult result = run_stepscope({command, "--help"});
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.out.find("Example:\n  stepscope " + command), std::string::npos) << result.out;
  }
}

TEST(Help, SaysWhichPassesThereAreAndWhatIsUsual) {
  const CommandResult compare = run_stepscope({"compare", "--help"});
  for (const std::string part : {"fold_sgd", "off and on", "--ablate", "--tune", "small_cnn"}) {
    EXPECT_NE(compare.out.find(part), std::string::npos) << part << "\n" << compare.out;
  }
  EXPECT_EQ(run_stepscope({"train", "--help"}).out.find("off and on"), std::string::npos);
}

TEST(Help, VersionNamesTheProgram) {
  const CommandResult result = run_stepscope({"--version"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.out.starts_with("stepscope ")) << result.out;
}

TEST(Failure, MissingDataIsStatusOneAndSaysWhere) {
  const CommandResult result = run_stepscope({"train", "--data", "/no/such/folder"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("/no/such/folder"), std::string::npos) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST(Failure, BrokenDataNamesTheFile) {
  const test::TempFolder folder;
  folder.write("train-images-idx3-ubyte", std::string_view("not an IDX file at all"));
  folder.write("train-labels-idx1-ubyte", std::string_view("x"));
  folder.write("t10k-images-idx3-ubyte", std::string_view("x"));
  folder.write("t10k-labels-idx1-ubyte", std::string_view("x"));
  const CommandResult result = run_stepscope({"train", "--data", folder.path().string()});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("train-images-idx3-ubyte"), std::string::npos) << result.err;
}

TEST(Failure, AModelThatDoesNotFitTheDataGivesBothNumbers) {
  const test::TempFolder folder;
  write_tiny_set(folder);
  const CommandResult result =
      run_stepscope({"train", "--data", folder.path().string(), "--model", "mlp:784-16-10"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("784"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("4"), std::string::npos) << result.err;
}

TEST(Failure, AnOutputThatCannotBeWrittenIsNamed) {
  const CommandResult result =
      run_stepscope({"train", "--data", "generated", "--epochs", "1", "--steps", "2", "--quiet",
                     "--backend", "reference", "--out", "/proc/nowhere"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("/proc/nowhere/record.json: cannot"), std::string::npos) << result.err;
}

TEST(ParseSeconds, TakesUnits) {
  EXPECT_DOUBLE_EQ(cli::parse_seconds("170s"), 170.0);
  EXPECT_DOUBLE_EQ(cli::parse_seconds("2m"), 120.0);
  EXPECT_DOUBLE_EQ(cli::parse_seconds("500ms"), 0.5);
  EXPECT_DOUBLE_EQ(cli::parse_seconds("1.5"), 1.5);
  EXPECT_THROW(cli::parse_seconds("-1s"), cli::UsageError);
  EXPECT_THROW(cli::parse_seconds("inf"), cli::UsageError);
  EXPECT_THROW(cli::parse_seconds("3h"), cli::UsageError);
  EXPECT_THROW(cli::parse_seconds(""), cli::UsageError);
}

}  // namespace
}  // namespace stepscope
