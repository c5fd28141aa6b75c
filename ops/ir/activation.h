// Activation: what a fused product applies to its result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope {

enum class Activation : std::uint8_t { none, relu, tanh, sigmoid };

std::string_view name(Activation activation);

}  // namespace stepscope
