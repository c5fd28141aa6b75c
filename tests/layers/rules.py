"""Who may use whom: the tables that layers.py checks. A row names only folders of rows above it.

Order is meaning here: what a folder may include or link stands beside it, complete, and nothing
follows from other rows. A folder may always use itself. A file belongs to the longest row that
names one of its folders.
"""
# SPDX-License-Identifier: Apache-2.0
from typing import NamedTuple

FLOORS = ("ops", "graph", "backends", "bench")  # an include never points to the right

IR = "ops/base ops/ir"
CALLS = f"{IR} graph/plan backends/api"  # what a backend needs to know
STEPS = "ops graph backends/api backends/execution backends/registry"  # to run a step by name

FOLDERS = {
    "ops/base": "",
    "ops/ir": "ops/base",
    "ops/defs": IR,
    "ops/autodiff": IR,
    "ops/models": f"{IR} ops/autodiff",
    "graph/plan": IR,
    "graph/passes": f"{IR} graph/plan",
    "graph/timeline": f"{IR} graph/plan",
    "backends/api": f"{IR} graph/plan",
    "backends/cpu": CALLS,
    "backends/*": f"{CALLS} backends/cpu",  # any other folder is a backend: it knows no other
    "backends/execution": "ops graph backends/api",
    "backends/registry": f"{CALLS} backends/*",
    "bench/files": "ops/base",
    "bench/record": "ops graph backends/api",
    "bench/data": "ops/base bench/files",
    # The null backend is how dispatch is timed alone.
    "bench/measure": f"{STEPS} backends/null bench/files bench/record bench/data",
    "bench/compare": f"{STEPS} bench/record bench/data bench/measure",
    "bench/train": f"{STEPS} bench/files bench/record bench/data bench/measure",
    "bench/trace": "ops graph backends/api bench/record bench/measure",
    "bench/report": "ops/base bench/record",
    "bench/suites": f"{STEPS} bench/files bench/record bench/data bench/measure bench/compare bench/train",
    "bench/cli": f"{STEPS} bench",
}


class Library(NamedTuple):
    """A library from outside, and the only folders that know it; tests may use any of them."""

    name: str
    includes: tuple[str, ...]  # how its headers begin
    targets: tuple[str, ...]   # how its CMake targets begin
    packages: tuple[str, ...]  # what find_package calls it
    folders: tuple[str, ...]


LIBRARIES = (
    Library("fmt", ("fmt/",), ("fmt::",), ("fmt",), FLOORS),
    Library("Eigen", ("Eigen/", "unsupported/Eigen/"), ("Eigen3::",), ("Eigen3",),
            ("backends/eigen",)),
    Library("oneDNN", ("dnnl", "oneapi/dnnl/"), ("DNNL::", "dnnl"), ("DNNL", "dnnl"),
            ("backends/onednn",)),
    Library("CUDA", ("cuda", "cublas", "cudnn", "driver_types.h", "vector_types.h"), ("CUDA::",),
            ("CUDAToolkit", "CUDNN"), ("backends/cuda",)),
    Library("CUPTI", ("cupti", "nvtx3/"), ("CUDA::cupti", "CUDA::nvtx"), (),
            ("bench/trace", "backends/cuda/sim")),
    Library("Highway", ("hwy/",), ("hwy::",), ("HWY",), ("backends/native",)),
    Library("OpenMP", ("omp.h",), ("OpenMP::",), ("OpenMP",),
            ("backends/cpu", "backends/eigen", "backends/onednn")),
    Library("CLI11", ("CLI/",), ("CLI11::",), ("CLI11",),
            ("bench/cli", "bench/suites")),
    Library("nlohmann-json", ("nlohmann/",), ("nlohmann_json::",), ("nlohmann_json",),
            ("bench/files", "bench/record", "bench/report", "bench/cli")),
    Library("zlib", ("zlib.h", "zconf.h"), ("ZLIB::", "z"), ("ZLIB",),
            ("bench/data", "bench/files")),
    Library("Google Benchmark", ("benchmark/",), ("benchmark::",), ("benchmark",),
            ("bench/suites",)),
    Library("GoogleTest", ("gtest/", "gmock/"), ("GTest::",), ("GTest",), ()),
)

# The system's own, free to all: headers with a folder in their name, and link names. A header
# without folder and dot is standard C++; one that ends in .h and is in no row above is the system's.
SYSTEM_INCLUDES = ("sys/", "gnu/", "linux/", "sanitizer/")
SYSTEM_TARGETS = ("Threads::Threads", "m", "dl", "rt", "pthread", "${CMAKE_DL_LIBS}")
SYSTEM_PACKAGES = ("Threads", "Python3")

# Where a link may stand in a variable: the registry links the backends that were switched on.
LINKS_BY_VARIABLE = ("backends/registry", "backends/cuda/sim")

# Targets that a function makes under a name it puts together, and the folder it does so in.
MADE_BY_FUNCTIONS = {
    "stepscope_cudasim": "backends/cuda/sim",
    "stepscope_cuda_device_sim": "backends/cuda",
}
