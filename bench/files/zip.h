// Members of a zip file, as far as NPZ files need it: stored or deflated, no zip64, no encryption,
// no parts. Nothing is ever written under a member's name.
//
// Format: PKWARE, APPNOTE.TXT, sections 4.3 and 4.4.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace stepscope {

using ZipVisitor = std::function<void(std::string_view name, std::span<const std::uint8_t> bytes)>;

// Calls `visit` for each member, in the order of the directory; the spans live as long as the call.
// Throws bad_input, naming the file (`who`) and the member, for anything else than such a file:
// sizes that are not those of the content, another CRC-32, members that overlap or have one name.
void visit_zip(std::span<const std::uint8_t> bytes, std::string_view who, const ZipVisitor& visit);

}  // namespace stepscope
