// Generated data written as files, labelled as generated: for those who want to see the layout of a
// data set, or to read the same images with another program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/data/generated.h"

namespace stepscope {

enum class DataShape : std::uint8_t {
  glyphs,  // a GlyphLab folder (bench/data/glyphlab.h): 24 x 24, three classes, pixel / 255 as f32
  mnist,   // four IDX files: 28 x 28, ten classes, and a README.txt that says they are generated
};
std::string_view name(DataShape shape);
// Throws bad_input, with the nearest name.
DataShape parse_data_shape(std::string_view text);

struct MakeDataSpec {
  DataShape shape = DataShape::glyphs;
  std::uint64_t seed = 1;
  std::int64_t images = 0;  // 0: 360 glyphs or 7,000 of mnist
};
inline constexpr std::int64_t kMostMadeImages = 1'000'000;

// Writes the files: the images of `--data generated`, where seed and numbers are the same. Of
// glyphs a sixth is for testing and a fifth of the others validates; of mnist a seventh is for
// testing. Equal specs give equal bytes. Returns the files, in the order they were written. Throws
// bad_input for a number of images outside [7, kMostMadeImages]; and io when a file lies there
// already, which is left as it is, or cannot be written; and MakingStopped when `stop`, asked
// before each image and each file, says so. Then it takes back what it wrote. What says that the
// images are generated stands there before the last of the files without which nobody can read
// them: a set that a power cut left in pieces is labelled or unreadable.
std::vector<std::filesystem::path> make_data(const std::filesystem::path& folder,
                                             const MakeDataSpec& spec, const StopMaking& stop = {});

// How generated files say so: "generated (seed 1)".
std::string generated_label(std::uint64_t seed);
bool is_generated_label(std::string_view text);
inline constexpr std::string_view kReadme = "README.txt";

}  // namespace stepscope
