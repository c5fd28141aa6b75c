# Writes OUT, the source that says which commit ROOT is at; touches it only when that has changed. Run
# at each build, since a commit changes no file that a build depends on.
# SPDX-License-Identifier: Apache-2.0
set(ENV{GIT_OPTIONAL_LOCKS} 0)  # only reads: others may be at work in the tree
execute_process(
  COMMAND git -c safe.directory=* -C ${ROOT} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE state ERROR_QUIET RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
# A tree that was unpacked inside another repository is not at that one's commit.
if(failed OR NOT EXISTS ${ROOT}/.git)
  set(fact "std::nullopt, \"built from a tree without git\"")
else()
  string(REPLACE "-dirty" ", with changes" state "${state}")
  set(fact "\"${state}\", {}")
endif()
set(text "// Written by git_state.cmake.
#include \"bench/measure/git_state.h\"

namespace stepscope {
Fact git_state() { return {\"git_state\", ${fact}}; }
}  // namespace stepscope
")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUT} "${text}")
endif()
