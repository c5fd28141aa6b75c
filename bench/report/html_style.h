// The style of the page: text set in the system's fonts, light and dark, wide and narrow, printed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace stepscope {

// CSS for a <style> element. Nothing in it is fetched.
std::string page_style();

}  // namespace stepscope
