# What an installation holds beside programs, libraries and headers: the package that find_package
# reads, documents and examples. Included last, when every library is known.
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/stepscope)
get_property(installed GLOBAL PROPERTY STEPSCOPE_INSTALLED)
set(components ${installed})
get_property(default_components GLOBAL PROPERTY STEPSCOPE_DEFAULT_COMPONENTS)
get_property(links GLOBAL PROPERTY STEPSCOPE_LINKS)
list(SORT components)
list(JOIN components " " components)
list(JOIN default_components " " default_components)
string(REPLACE ";" " " links "${links}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/stepscope-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/stepscope-config.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/stepscope-config-version.cmake
  COMPATIBILITY SameMinorVersion)

set_target_properties(stepscope_kernel_flags PROPERTIES EXPORT_NAME kernel_flags)
install(TARGETS stepscope_kernel_flags EXPORT stepscope-targets COMPONENT development)
install(EXPORT stepscope-targets NAMESPACE stepscope:: DESTINATION ${cmake_folder}
  COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/package/stepscope-config.cmake
              ${PROJECT_BINARY_DIR}/package/stepscope-config-version.cmake
  DESTINATION ${cmake_folder} COMPONENT development)

install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program
  FILES_MATCHING PATTERN "*.md" PATTERN "*-schema.json" PATTERN "*.svg" PATTERN "*.html"
  PATTERN "*.json.gz" PATTERN "examples" EXCLUDE)
install(DIRECTORY docs/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/stepscope COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# Links of installed pages: examples stand elsewhere, and README.md beside the pages of docs/.
file(RELATIVE_PATH examples ${CMAKE_INSTALL_FULL_DOCDIR}
  ${CMAKE_INSTALL_FULL_DATADIR}/stepscope/examples)
file(CREATE_LINK ${examples} ${PROJECT_BINARY_DIR}/package/examples SYMBOLIC)
foreach(page README.md CONTRIBUTING.md)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${page})
    continue()  # a copy of a part of the tree
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${page})
  file(READ ${page} text)
  string(REPLACE "](docs/" "](" text "${text}")
  file(WRITE ${PROJECT_BINARY_DIR}/package/${page} "${text}")
  install(FILES ${PROJECT_BINARY_DIR}/package/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}
    COMPONENT program)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/package/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT program)

# All that an installation or a package wants to have been built, and none of the tests.
get_property(programs GLOBAL PROPERTY STEPSCOPE_PROGRAMS)
add_custom_target(installables)
foreach(library ${installed})
  add_dependencies(installables stepscope_${library})
endforeach()
foreach(program ${programs})
  add_dependencies(installables ${program})
endforeach()

include(StepscopePackage)
