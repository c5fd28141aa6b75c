// Which buffers stand for which level, and what a rate is. How fast memory is no test can say.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/bandwidth.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bench/measure/statistics.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using test::TempFolder;

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

TEST(ProbeSizes, FitTheirLevelAndNotTheOneBefore) {
  const std::vector<ProbeSize> sizes =
      probe_sizes({.l1 = 48 * kKiB, .l2 = 2 * kMiB, .l3 = 300 * kMiB}, kGiB);
  ASSERT_EQ(sizes.size(), 4u);
  EXPECT_EQ(sizes[0].level, "l1");
  EXPECT_EQ(sizes[0].bytes, 24 * kKiB);
  EXPECT_EQ(sizes[1].bytes, 1 * kMiB);
  EXPECT_EQ(sizes[2].bytes, 8 * kMiB);
  EXPECT_EQ(sizes[3].level, "dram");
  EXPECT_EQ(sizes[3].bytes, 600 * kMiB);
  for (const ProbeSize& size : sizes) EXPECT_EQ(size.reason, "");
}

TEST(ProbeSizes, ASmallCacheStillNeedsALargeBufferForMemory) {
  EXPECT_EQ(probe_sizes({32 * kKiB, 256 * kKiB, 8 * kMiB, ""}, kGiB)[3].bytes, 64 * kMiB);
}

TEST(ProbeSizes, SaysWhyALevelHasNone) {
  const auto none = probe_sizes({.l1 = 32 * kKiB, .l2 = kMiB, .l3 = 0}, kGiB);
  EXPECT_EQ(none[2].bytes, 0u);
  EXPECT_EQ(none[2].reason, "the system knows of no third-level cache");
  const auto narrow = probe_sizes({.l1 = 32 * kKiB, .l2 = 2 * kMiB, .l3 = 12 * kMiB}, 32 * kMiB);
  EXPECT_EQ(narrow[2].reason,
            "four times the second level are 8192 KiB, more than half of the third, 12288 KiB");
  EXPECT_EQ(narrow[3].bytes, 0u);
  EXPECT_EQ(narrow[3].reason, "twice the last cache are 64 MiB, and 32 MiB may be used");
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

TEST(CacheSizes, ComeFromTheSystemsFiles) {
  const TempFolder root;
  const auto caches = root.path() / "sys/devices/system/cpu/cpu0/cache";
  const auto add = [&](int index, const char* level, const char* type, const char* size) {
    const auto folder = caches / ("index" + std::to_string(index));
    write(folder / "level", level);
    write(folder / "type", type);
    write(folder / "size", size);
  };
  add(0, "1", "Data", "48K");
  add(1, "1", "Instruction", "32K");
  add(2, "2", "Unified", "2M");
  add(3, "3", "Unified", "307200K");
  const CacheSizes sizes = cache_sizes(root.path());
  EXPECT_EQ(sizes.l1, 48 * kKiB);
  EXPECT_EQ(sizes.l2, 2 * kMiB);
  EXPECT_EQ(sizes.l3, 300 * kMiB);
  EXPECT_EQ(sizes.source, "sysfs");
}

TEST(CacheSizes, AreAssumedWhereNobodySays) {
  const TempFolder root;
  const CacheSizes sizes = cache_sizes(root.path());
  EXPECT_EQ(sizes.source, "assumed");
  EXPECT_EQ(sizes.l1, 32 * kKiB);
  EXPECT_EQ(sizes.l2, kMiB);
  EXPECT_EQ(sizes.l3, 32 * kMiB);
}

TEST(CacheSizes, OfThisMachineAreInOrder) {
  const CacheSizes sizes = cache_sizes();
  EXPECT_GT(sizes.l1, 0u);
  EXPECT_GT(sizes.l2, 0u);
  EXPECT_FALSE(sizes.source.empty());
}

// Each stamp is a microsecond after the one before.
class MicrosecondTimer final : public Timer {
 public:
  std::int64_t now() override { return now_ += 1000; }

 private:
  std::int64_t now_ = 0;
};

TEST(BandwidthProbe, ARateIsBytesMovedOverTime) {
  MicrosecondTimer timer;
  BandwidthProbe probe(10'000);
  EXPECT_EQ(probe.bytes(), 8192u);  // whole pages
  const auto read = probe.measure(timer, Traffic::read, std::chrono::microseconds(1));
  EXPECT_EQ(read, std::vector<double>(5, 4194.304));  // 4 MiB in 1 us
  const auto update = probe.measure(timer, Traffic::read_write, std::chrono::microseconds(1));
  EXPECT_EQ(update, std::vector<double>(5, 2 * 4194.304));
}

TEST(BandwidthProbe, TakesSamplesUntilTheTimeIsOver) {
  MicrosecondTimer timer;
  BandwidthProbe probe(4096);
  // Six samples of two stamps, of which the first does not count; then three stamps a sample.
  EXPECT_EQ(probe.measure(timer, Traffic::read, std::chrono::microseconds(60)).size(), 21u);
}

// No core moves 10 TB/s: only a pass that was left out does.
TEST(BandwidthProbe, NoPassIsLeftOut) {
  SteadyTimer timer;
  BandwidthProbe probe(16 * kKiB);
  for (const Traffic traffic : {Traffic::read, Traffic::read_write}) {
    const double rate = median(probe.measure(timer, traffic, std::chrono::milliseconds(1)));
    EXPECT_GT(rate, 0.0);
    EXPECT_LT(rate, 10'000.0);
  }
}

TEST(Bandwidth, EveryLevelIsARowOrAReason) {
  SteadyTimer timer;
  BandwidthOptions options{.caches = {32 * kKiB, 256 * kKiB, 0, "a test"},
                           .time = std::chrono::milliseconds(1)};
  options.most_bytes = 16 * kMiB;
  const std::vector<CalibrationRow> rows = measure_bandwidth(timer, options);
  std::vector<std::string> names;
  for (const CalibrationRow& row : rows) {
    names.push_back(row.name);
    EXPECT_EQ(row.unit, "GB/s");
    EXPECT_EQ(row.value.has_value(), row.reason.empty()) << row.name;
    if (!row.value) continue;
    EXPECT_LE(row.low, row.value);
    EXPECT_LE(row.value, row.high);
    EXPECT_GE(row.count, 5);
    EXPECT_NE(row.note.find("caches 32, 256, 0 KiB by a test"), std::string::npos) << row.note;
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "bandwidth_read_l1", "bandwidth_read_l2", "bandwidth_read_l3",
                       "bandwidth_read_dram", "bandwidth_read_write_l1", "bandwidth_read_write_l2",
                       "bandwidth_read_write_l3", "bandwidth_read_write_dram"}));
  EXPECT_TRUE(rows[0].value);
  EXPECT_TRUE(rows[5].value);
  EXPECT_FALSE(rows[2].value);
  EXPECT_FALSE(rows[7].value);
}

}  // namespace
}  // namespace stepscope
