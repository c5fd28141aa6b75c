# stepscope_library(NAME SOURCES ... LINKS ...): one static target per folder, alias stepscope::NAME,
# with the project's include root, warnings and floating-point rules.

# Our own kernels never contract a*b+c to one rounding by themselves: bits must not depend on the
# compiler's mood (docs/modes.md). Warnings are errors; a build type never changes them.
add_library(stepscope_flags INTERFACE)
target_compile_options(stepscope_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -Werror -ffp-contract=off)
target_include_directories(stepscope_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)

function(stepscope_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(stepscope_${name} STATIC ${arg_SOURCES})
  add_library(stepscope::${name} ALIAS stepscope_${name})
  target_link_libraries(stepscope_${name} PUBLIC stepscope_flags ${arg_LINKS})
endfunction()
