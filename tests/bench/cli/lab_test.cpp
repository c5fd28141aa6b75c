// stepscope lab makes a data set, train takes it, and what train saved both commands start from.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/bench/cli/run_command.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using test::CommandResult;
using test::run_stepscope;

TEST(Lab, MakesDataThatTrainTakesAndWritesOverNothing) {
  const test::TempFolder folder;
  const std::string set = (folder.path() / "set").string();
  const std::string weights = (folder.path() / "w.safetensors").string();
  const CommandResult made = run_stepscope({"lab", "--make-data", set, "--seed", "3"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, set + "/images.npy: generated (seed 3)\n" + set +
                          "/labels.npy: generated (seed 3)\n" + set +
                          "/metadata.csv: generated (seed 3)\n");
  const CommandResult again = run_stepscope({"lab", "--make-data", set});
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.err, "stepscope: " + set +
                           "/images.npy: lies there already, it is left as it is: give another "
                           "folder\n");
  const CommandResult trained = run_stepscope(
      {"train", "--model", "small_cnn", "--data", set, "--epochs", "1", "--steps", "1", "--backend",
       "reference", "--batch", "8", "--quiet", "--save-weights", weights});
  EXPECT_EQ(trained.status, 0) << trained.err;
  EXPECT_NE(trained.out.find("data: " + set + ": generated (seed 3)"), std::string::npos)
      << trained.out;
  const CommandResult other =
      run_stepscope({"compare", "--model", "mlp", "--weights", weights, "--quiet"});
  EXPECT_EQ(other.status, 2);
  EXPECT_EQ(other.err,
            "stepscope: " + weights + ": tensor 'w1' is {8, 1, 3, 3}, 'w1' is {784, 128}\n");
}

}  // namespace
}  // namespace stepscope
