// What the pools share: the part of a window that lies in the image, and how the winners of MaxPool
// are saved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels/kernels.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

// Rows [top, bottom) and columns [left, right) of the image. `first` is the number of the place at
// (top, left): places are counted in row-major order of the whole window, padding included.
struct Window {
  std::int64_t top, bottom, left, right, first;
};

inline Window window_at(const Pool& site, std::int64_t oh, std::int64_t ow) {
  const std::int64_t h = oh * site.stride_h - site.pad_h;
  const std::int64_t w = ow * site.stride_w - site.pad_w;
  const std::int64_t bottom = h + site.kernel_h < site.H ? h + site.kernel_h : site.H;
  const std::int64_t right = w + site.kernel_w < site.W ? w + site.kernel_w : site.W;
  const std::int64_t top = h > 0 ? h : 0;
  const std::int64_t left = w > 0 ? w : 0;
  return {top, bottom, left, right, (top - h) * site.kernel_w + left - w};
}

inline std::int64_t planes(const Pool& site) {
  return site.N * ((site.C + site.block - 1) / site.block);
}

// The windows tile a part of the image: none overlap, none touch padding.
inline bool tiles(const Pool& site) {
  return site.kernel_h == site.stride_h && site.kernel_w == site.stride_w && site.pad_h == 0 &&
         site.pad_w == 0;
}

// They are 2 x 2, as in most nets.
inline bool halves(const Pool& site) {
  return tiles(site) && site.kernel_h == 2 && site.kernel_w == 2;
}

// Of the image of a gradient: all zeros where the windows do not cover it once each.
inline void clear_unless_tiled(const Pool& site, float* dx) {
  const bool covered =
      tiles(site) && site.OH * site.stride_h == site.H && site.OW * site.stride_w == site.W;
  if (covered) return;
  std::memset(
      dx, 0, static_cast<std::size_t>(planes(site) * site.H * site.W * site.block) * sizeof(float));
}

// The saved winners: a header, then a place for each element of y in the layout that y had. The
// layout is saved because the gradient may come in another one.
struct Winners {
  std::int64_t block;
};

inline std::int64_t block_of_winners(const std::byte* saved) {
  Winners header;
  std::memcpy(&header, saved, sizeof header);
  return header.block;
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
