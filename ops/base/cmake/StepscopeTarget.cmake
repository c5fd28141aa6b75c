# stepscope_library(NAME [PUBLIC_HEADERS ...] SOURCES ... LINKS ...): one static target per folder,
# alias stepscope::NAME, with the project's include root, warnings and floating-point rules. It is
# installed with the headers of its folder (*.h, *.inc), or with those named alone; what lies under
# tests/ is not.
# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)

# Our own kernels never contract a*b+c to one rounding by themselves: bits must not depend on the
# compiler's mood (docs/modes.md). Installed as stepscope::kernel_flags, for kernels from outside.
add_library(stepscope_kernel_flags INTERFACE)
target_compile_options(stepscope_kernel_flags INTERFACE -ffp-contract=off)

# Warnings are errors; a build type never changes them. Of the build alone: nobody who uses the
# installed libraries gets a flag of these.
add_library(stepscope_flags INTERFACE)
target_compile_options(stepscope_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -Werror)
target_include_directories(stepscope_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(stepscope_flags INTERFACE stepscope_kernel_flags)

function(stepscope_library name)
  cmake_parse_arguments(arg "" "" "PUBLIC_HEADERS;SOURCES;LINKS" ${ARGN})
  add_library(stepscope_${name} STATIC ${arg_SOURCES})
  add_library(stepscope::${name} ALIAS stepscope_${name})
  target_link_libraries(stepscope_${name} PUBLIC $<BUILD_INTERFACE:stepscope_flags>)
  # In the build a link is all of its target. An installed header shows none of the libraries but
  # fmt, so from there on they are linked at most, and header-only ones are gone.
  set(header_only Eigen3::Eigen nlohmann_json::nlohmann_json CLI11::CLI11)
  foreach(link ${arg_LINKS})
    if(link MATCHES "^(stepscope|fmt)::")
      target_link_libraries(stepscope_${name} PUBLIC ${link})
    else()
      target_link_libraries(stepscope_${name} PUBLIC $<BUILD_INTERFACE:${link}>)
      if(NOT link IN_LIST header_only)
        target_link_libraries(stepscope_${name} INTERFACE
          $<INSTALL_INTERFACE:$<LINK_ONLY:${link}>>)
      endif()
    endif()
  endforeach()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT folder MATCHES "^tests/")
    stepscope_install_library(${name} HEADERS ${arg_PUBLIC_HEADERS} LINKS ${arg_LINKS})
  endif()
endfunction()

# stepscope_install_library(NAME HEADERS ... LINKS ...): the target, and headers of the folder at
# their path from the root of the project; all of them unless some are named.
function(stepscope_install_library name)
  cmake_parse_arguments(arg "" "" "HEADERS;LINKS" ${ARGN})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set_target_properties(stepscope_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(stepscope_${name} INTERFACE cxx_std_20)
  set(include_root ${CMAKE_INSTALL_INCLUDEDIR}/stepscope)
  target_include_directories(stepscope_${name} INTERFACE $<INSTALL_INTERFACE:${include_root}>)
  install(TARGETS stepscope_${name} EXPORT stepscope-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  if(arg_HEADERS)
    install(FILES ${arg_HEADERS} DESTINATION ${include_root}/${folder} COMPONENT development)
  else()
    install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/ DESTINATION ${include_root}/${folder}
      COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "cmake" EXCLUDE)
  endif()
  # What stepscope-config.cmake is told of it: which of the project's it links, and which others.
  set(ours ${arg_LINKS})
  list(FILTER ours INCLUDE REGEX "^stepscope::")
  list(TRANSFORM ours REPLACE "^stepscope::" "")
  set(others ${arg_LINKS})
  list(FILTER others INCLUDE REGEX "^(fmt|OpenMP|DNNL|ZLIB|Threads|CUDA)::")
  list(TRANSFORM others REPLACE "::.*" "")
  set_property(GLOBAL APPEND PROPERTY STEPSCOPE_INSTALLED ${name})
  set_property(GLOBAL APPEND_STRING PROPERTY STEPSCOPE_LINKS
    "set(_stepscope_${name}_links ${ours})\nset(_stepscope_${name}_needs ${others})\n")
  if(NOT folder MATCHES "^bench/")
    set_property(GLOBAL APPEND PROPERTY STEPSCOPE_DEFAULT_COMPONENTS ${name})
  endif()
endfunction()

# A program of the project; left out of an installation for which it was not built.
function(stepscope_install_program name)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program OPTIONAL)
  set_property(GLOBAL APPEND PROPERTY STEPSCOPE_PROGRAMS ${name})
endfunction()
