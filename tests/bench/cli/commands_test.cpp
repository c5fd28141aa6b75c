// The commands do what they say, seen from outside.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "bench/files/files.h"
#include "bench/record/json.h"
#include "tests/bench/cli/run_command.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using test::CommandResult;
using test::run_stepscope;
using test::TempFolder;

TEST(Compare, JsonOnStandardOutputIsTheRecordAlone) {
  const CommandResult result =
      run_stepscope({"compare", "--model", "mlp:784-8-10", "--data", "generated", "--backend",
                     "reference", "--batch", "2", "--quick", "--budget", "1ms", "--json", "-"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Record record = record_from_json(result.out, "standard output");
  ASSERT_EQ(record.arms.size(), 7U);  // with fusion and without, and the control
  EXPECT_EQ(record.arms[0].fusion, "off");
  EXPECT_EQ(record.arms[5].fusion, "on");
  EXPECT_EQ(record.work.model, "mlp:784-8-10");
  EXPECT_NE(record.work.data.find("generated"), std::string::npos);
  EXPECT_FALSE(record.environment.empty());
  EXPECT_TRUE(record.command.starts_with("stepscope compare --model mlp:784-8-10"));
  EXPECT_EQ(record.status, "exploratory") << record.status_reason;  // one process, quiet or not
  EXPECT_EQ(record.experiment_id.size(), 32U);
  for (const PairRecord& pair : record.pairs) {
    ASSERT_EQ(pair.ratios.size(), 1U);
    // Without a single trusted block there is no ratio either.
    EXPECT_EQ(pair.ratios[0].verdict, pair.ratios[0].reason.empty() ? "exploratory" : "void");
    EXPECT_FALSE(pair.ratios[0].bootstrap.has_value());
  }
}

TEST(Compare, APlanHasAScheduleAndNoNumbers) {
  const CommandResult result =
      run_stepscope({"compare", "--model", "chain:5", "--backend", "reference", "--batch", "1",
                     "--dry-run", "--budget", "30m", "--json", "-"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Record record = record_from_json(result.out, "standard output");
  EXPECT_EQ(record.status, "not-run");
  ASSERT_TRUE(record.schedule.has_value());
  EXPECT_GE(record.schedule->processes, 10);
  EXPECT_LE(record.schedule->expected_s, 1800.0);
  EXPECT_EQ(record.schedule->claim, "published");
  EXPECT_TRUE(record.pairs.empty());
  EXPECT_TRUE(record.calibration.empty());
  EXPECT_TRUE(record.gates.empty());
}

// What a gate of CI must not do: pass because nothing could be told.
TEST(Compare, FailOnSlowerFailsWhereNoVerdictCouldBeGiven) {
  const TempFolder folder;
  const CommandResult result =
      run_stepscope({"compare", "--model", "chain:5", "--backend", "null", "--mode", "eager",
                     "--fusion", "off", "--batch", "1", "--budget", "1ms", "--fail-on", "slower",
                     "--json", (folder.path() / "r").string()});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.err.find("stepscope: --fail-on: cannot tell: "), std::string::npos)
      << result.err;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "r"));
}

TEST(Compare, ABaselineThatContradictsItselfIsRefused) {
  const TempFolder folder;
  const std::vector<std::string> words{"compare", "--model",  "chain:5",  "--backend", "null",
                                       "--mode",  "eager",    "--fusion", "off",       "--batch",
                                       "1",       "--budget", "1ms"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return run_stepscope(all);
  };
  const std::string file = (folder.path() / "then.json").string();
  ASSERT_EQ(with({"--json", file}).status, 0);
  Record then = record_from_json(read_file(file), file);
  then.arms.at(0).throughput.at(0).elapsed_ns.at(0) = -1;
  write_file(file, to_json(then));
  const CommandResult result = with({"--baseline", file});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("stepscope: --baseline: " + file + ": contradicts itself: "),
            std::string::npos)
      << result.err;
}

// An arm that is named twice is one arm, and no second process.
TEST(Compare, NamesEachArmOnce) {
  const CommandResult result = run_stepscope(
      {"compare", "--model", "chain:5", "--backend", "null,null", "--mode", "eager,graph,eager",
       "--fusion", "off", "--batch", "1,1", "--quick", "--budget", "1ms", "--json", "-"});
  ASSERT_EQ(result.status, 0) << result.err;
  const Record record = record_from_json(result.out, "out");
  EXPECT_EQ(record.arms.size(), 3U);
  EXPECT_EQ(record.processes.size(), 1U);
  for (const PairRecord& pair : record.pairs) EXPECT_EQ(pair.processes.size(), 1U);
}

TEST(Compare, NoRatioIsMadeWithOtherWorkOfABaseline) {
  const TempFolder folder;
  const std::string file = (folder.path() / "then.json").string();
  const auto words = [&](const std::string& rate) {
    return std::vector<std::string>{
        "compare", "--model",  "mlp:784-4-10", "--data",   "generated", "--backend",
        "null",    "--mode",   "graph",        "--fusion", "off",       "--batch",
        "2",       "--budget", "1ms",          "--lr",     rate};
  };
  std::vector<std::string> first = words("0.1");
  first.insert(first.end(), {"--json", file});
  ASSERT_EQ(run_stepscope(first).status, 0);
  std::vector<std::string> second = words("0.2");
  second.insert(second.end(), {"--baseline", file, "--json", "-"});
  const CommandResult result = run_stepscope(second);
  ASSERT_EQ(result.status, 0) << result.err;
  const Record record = record_from_json(result.out, "out");
  ASSERT_FALSE(record.baseline.empty());
  EXPECT_FALSE(record.baseline[0].change.has_value());
  EXPECT_NE(record.baseline[0].reason.find("rate"), std::string::npos) << record.baseline[0].reason;
}

TEST(Compare, RunsEachBackendInAProcessOfItsOwnAndMergesTheRecords) {
  const TempFolder folder;
  const CommandResult result =
      run_stepscope({"compare", "--model", "mlp:784-8-10", "--data", "generated", "--backend",
                     "reference,null", "--mode", "eager,graph", "--fusion", "-fold_sgd", "--batch",
                     "2", "--budget", "1ms", "--out", (folder.path() / "run").string()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("between them only graph arms are paired"), std::string::npos)
      << result.out;
  const auto path = folder.path() / "run" / "record.json";
  const Record record = record_from_json(read_file(path), path.string());
  ASSERT_EQ(record.arms.size(), 6U);
  EXPECT_EQ(record.arms[0].backend, "reference");
  EXPECT_EQ(record.arms[5].backend, "null");
  EXPECT_EQ(record.backends.size(), 2U);
  for (const ArmRecord& arm : record.arms) EXPECT_EQ(arm.fusion, "-fold_sgd");
  EXPECT_EQ(record.arms[0].work_hash, record.arms[5].work_hash);
  const bool between =
      std::any_of(record.pairs.begin(), record.pairs.end(), [](const PairRecord& pair) {
        return pair.base == "reference/graph/-fold_sgd/2" && pair.of == "null/graph/-fold_sgd/2";
      });
  EXPECT_TRUE(between);
}

TEST(Compare, TimesAChainWithoutData) {
  const CommandResult result = run_stepscope({"compare", "--model", "chain:5", "--backend", "null",
                                              "--batch", "1", "--quick", "--budget", "1ms"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("equal work: nothing to compare"), std::string::npos) << result.out;
}

TEST(Compare, PassesAblationOnToItsChildren) {
  const TempFolder folder;
  const CommandResult result = run_stepscope(
      {"compare", "--model", "mlp:784-8-10", "--data", "generated", "--backend", "reference,null",
       "--ablate", "--batch", "2", "--budget", "1ms", "--json", (folder.path() / "r").string()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("what each pass is worth, one left out at a time:"), std::string::npos)
      << result.out;
  const Record record = record_from_json(read_file(folder.path() / "r"), "r");
  EXPECT_EQ(record.backends.size(), 2U);
  std::size_t without = 0;
  for (const ArmRecord& arm : record.arms) {
    EXPECT_EQ(arm.mode_executed, "graph");
    without += arm.role == "arm" && arm.fusion == "-fold_sgd" ? 1 : 0;
  }
  EXPECT_EQ(without, 2U);
}

TEST(Compare, TimesMoreRowsThanTheDataHave) {
  const CommandResult result =
      run_stepscope({"compare", "--model", "small_cnn", "--backend", "null", "--mode", "graph",
                     "--batch", "300", "--quick", "--budget", "1ms"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("glyphs"), std::string::npos) << result.out;  // nobody named the data
}

TEST(Tune, WithoutAnyChoiceIsAFailureThatSaysSo) {
  const TempFolder folder;
  const std::string file = (folder.path() / "choices").string();
  const CommandResult result = run_stepscope({"compare", "--model", "chain:3", "--backend",
                                              "reference,null", "--tune", file, "--budget", "1ms"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("tune: null: has no choices to time\n"), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("--tune " + file +
                            ": there is no such file, and reference or null has no choices to "
                            "time\n"),
            std::string::npos)
      << result.err;
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Tune, AFileThatIsThereIsUsedAndPartOfTheWork) {
  const TempFolder folder;
  const auto hash_with = [&](const std::string& content) {
    const std::string file = folder.write("choices", std::string_view(content)).string();
    const CommandResult result = run_stepscope(
        {"compare", "--model", "chain:3", "--backend", "null", "--mode", "graph", "--fusion", "off",
         "--tune", file, "--quick", "--budget", "1ms", "--json", "-"});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return record_from_json(result.out, "out").arms.at(0).work_hash;
  };
  EXPECT_EQ(hash_with("one"), hash_with("one"));
  EXPECT_NE(hash_with("one"), hash_with("two"));
}

// What becomes of partial batches is part of the work, though no step of compare has one.
TEST(Compare, RecordsAnEpochAtEachBatchAndItsPolicy) {
  const auto arm_with = [](const std::string& policy) {
    const CommandResult result = run_stepscope(
        {"compare", "--model", "mlp:784-4-10", "--data", "generated", "--backend", "null",
         "--mode",  "graph",   "--fusion",     "off",    "--batch",   "1000",      "--partial",
         policy,    "--quick", "--budget",     "1ms",    "--json",    "-"});
    EXPECT_EQ(result.status, 0) << result.err;
    return record_from_json(result.out, "out").arms.at(0);
  };
  const ArmRecord drop = arm_with("drop");
  EXPECT_EQ(drop.steps, 4);
  EXPECT_EQ(drop.samples_seen, 4000);
  EXPECT_EQ(drop.samples_dropped, 800);
  EXPECT_EQ(drop.partial_policy, "drop");
  const ArmRecord padded = arm_with("pad_masked");
  EXPECT_EQ(padded.steps, 5);
  EXPECT_EQ(padded.samples_seen, 4800);
  EXPECT_EQ(padded.samples_dropped, 0);
  EXPECT_EQ(padded.partial_policy, "pad_masked");
  EXPECT_NE(drop.work_hash, padded.work_hash);
  EXPECT_EQ(drop.work_hash, arm_with("drop").work_hash);
}

TEST(Train, PrintsARowPerEpochAndRecordsThem) {
  const TempFolder folder;
  const CommandResult result = run_stepscope(
      {"train", "--model", "mlp:784-16-10", "--data", "generated", "--backend", "reference",
       "--epochs", "2", "--steps", "20", "--json", (folder.path() / "r.json").string()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 10) << result.out;
  EXPECT_NE(result.out.find("submissions by activity:\n"), std::string::npos) << result.out;
  const Record record = record_from_json(read_file(folder.path() / "r.json"), "r.json");
  ASSERT_EQ(record.epochs.size(), 2U);
  EXPECT_EQ(record.epochs[0].steps, 20);
  EXPECT_EQ(record.epochs[0].partial_policy, "second_plan");
  EXPECT_EQ(record.arms.at(0).steps, 20);
  EXPECT_EQ(record.arms.at(0).samples_dropped, 4800 - 640);
  EXPECT_EQ(record.arms.at(0).work_hash.size(), 64U);
  EXPECT_EQ(record.epochs[0].samples_seen, 640);
  EXPECT_EQ(record.epochs[0].samples_dropped, 4800 - 640);
  EXPECT_LT(record.epochs[1].training_loss, record.epochs[0].training_loss);
  EXPECT_EQ(record.arms.at(0).fusion, "on");
}

TEST(Devices, ListsWhatThisBuildHasAndWhatItLacks) {
  const CommandResult result = run_stepscope({"devices"});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("reference  available  "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("null       available  none"), std::string::npos) << result.out;
  // Where it is part of the build, what it lacks depends on the machine (cuda_command.Command).
  const bool built = std::string_view(STEPSCOPE_BACKEND_NAMES).find("cuda") != std::string::npos;
  const bool lacks =
      result.out.find("cuda       not available: not part of this build") != std::string::npos;
  EXPECT_EQ(lacks, !built) << result.out;
  EXPECT_NE(result.out.find("\ncuda       "), std::string::npos) << result.out;
}

TEST(Explain, ShowsTheStepAfterEachPassItsPlanAndItsLaunches) {
  const CommandResult result =
      run_stepscope({"explain", "--model", "mlp:4-3-2", "--batch", "5", "--backend", "reference"});
  EXPECT_EQ(result.status, 0) << result.err;
  std::size_t at = 0;
  for (const std::string part :
       {"# mlp:4-3-2 at batch 5, as described", "AddBias(", "# pass simplify: ", "# 18 -> 17 ops, ",
        "# pass epilogue: ", "# 17 -> 14 ops, ", "Linear(", "# pass fold_sgd: ", "MatMulUpdate(",
        "# pass pointwise: changes nothing: ", "# pass schedule: ",
        "# pass layout: not run, reference has no use for it", "# plan of mlp:4-3-2",
        "bytes of the arena", "# launches of one step on reference, fusion on"}) {
    const std::size_t found = result.out.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << result.out;
    at = found;
  }
}

TEST(Explain, ShowsNoMoreThanWasChosen) {
  const CommandResult result = run_stepscope({"explain", "--model", "mlp:4-3-2", "--batch", "5",
                                              "--backend", "reference", "--fusion", "off"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("# pass simplify: "), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("epilogue"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("Linear"), std::string::npos) << result.out;
}

TEST(Explain, DotIsGraphvizAlone) {
  const CommandResult result =
      run_stepscope({"explain", "--model", "mlp:4-3-2", "--backend", "null", "--format", "dot"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.out.starts_with("digraph step {")) << result.out;
  EXPECT_TRUE(result.out.ends_with("}\n"));
}

}  // namespace
}  // namespace stepscope
