# Debian packages, by CPack: `stepscope` with the programs and `libstepscope-dev` with the libraries.
# SPDX-License-Identifier: Apache-2.0
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stepscope)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "stepscope developers <stepscope@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME stepscope)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "gnuplot-nox")  # pictures of reports
set(suggested dataset-fashion-mnist libstepscope-dev)
if(TARGET stepscope_backend_cuda)  # NVIDIA's packages, named after the toolkit, which may come from elsewhere
  set(toolkit ${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR})
  list(APPEND suggested libcublas-${toolkit})
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS cuda-cudart-dev-${toolkit})
endif()
list(JOIN suggested ", " CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
"run and time one training step eagerly and as a graph
One training step of a neural network, described once, is run eagerly,
planned, or as a recorded graph on several backends, and measured so that
the modes can be compared on equal work.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libstepscope-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(needed libfmt-dev zlib1g-dev)
if(TARGET stepscope_backend_onednn)
  list(APPEND needed libdnnl-dev)
endif()
list(JOIN needed ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"describe, run and time training steps - static libraries and headers
The libraries behind stepscope: graphs of operations, differentiation,
fusion, planning, backends, executors, and the conformance suite for
operations and backends from outside, with a CMake package.")
include(CPack)
