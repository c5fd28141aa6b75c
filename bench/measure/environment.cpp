// Reading the machine: /proc, /sys, a few system calls, and what the compiler said of itself.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/environment.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <set>
#include <system_error>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "bench/measure/affinity.h"

extern char** environ;  // POSIX; in no header

namespace stepscope {
namespace {

Fact known(std::string name, std::string value) { return {std::move(name), std::move(value), {}}; }
Fact unknown(std::string name, std::string reason) {
  return {std::move(name), std::nullopt, std::move(reason)};
}

// The text of a small file, or why there is none.
struct Reading {
  std::optional<std::string> text;
  std::string reason;
};

Reading read_text(const std::filesystem::path& path) {
  const auto why = [&](int error) {
    return fmt::format("{}: {}", path.string(), std::generic_category().message(error));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  if (file == nullptr) return {std::nullopt, why(errno)};
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), file.get())) {
    text.append(part.data(), got);
  }
  if (std::ferror(file.get()) != 0) return {std::nullopt, why(errno)};
  return {std::move(text), {}};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

std::string_view first_line(std::string_view text) {
  return trimmed(text.substr(0, text.find('\n')));
}

// Values of "field : value" lines, as /proc/cpuinfo and /proc/meminfo have them, in order.
std::vector<std::string> values_of(std::string_view text, std::string_view field) {
  std::vector<std::string> values;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || trimmed(line.substr(0, colon)) != field) continue;
    values.emplace_back(trimmed(line.substr(colon + 1)));
  }
  return values;
}

template <class Number>
std::optional<Number> leading_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

void add_processor(Environment& to, const std::filesystem::path& root) {
  const std::filesystem::path path = root / "proc/cpuinfo";
  const Reading cpuinfo = read_text(path);
  // Adds what `make` finds in the values of `field`.
  const auto add = [&](std::string fact, std::string_view field, auto make) {
    if (!cpuinfo.text) return to.facts.push_back(unknown(std::move(fact), cpuinfo.reason));
    const std::vector<std::string> values = values_of(*cpuinfo.text, field);
    if (values.empty()) {
      return to.facts.push_back(
          unknown(std::move(fact), fmt::format("{}: has no '{}'", path.string(), field)));
    }
    to.facts.push_back(known(std::move(fact), make(values)));
  };
  const auto first = [](const std::vector<std::string>& values) { return values.front(); };
  add("processor", "model name", first);
  add("cores", "core id", [&](const std::vector<std::string>& cores) {
    // Cores of two sockets may have one number. Where the socket is not told, there is one.
    const std::vector<std::string> sockets = values_of(*cpuinfo.text, "physical id");
    std::set<std::pair<std::string, std::string>> distinct;
    for (std::size_t i = 0; i < cores.size(); ++i) {
      distinct.emplace(i < sockets.size() ? sockets[i] : "", cores[i]);
    }
    return std::to_string(distinct.size());
  });
  add("microcode", "microcode", first);
  add("cpu_mhz", "cpu MHz", first);  // of the first processor, at this moment
  add("virtual_machine", "flags", [](const auto& flags) {
    const bool seen = fmt::format(" {} ", flags.front()).find(" hypervisor ") != std::string::npos;
    return std::string(seen ? "yes" : "no");
  });
}

void add_cpu_counts(Environment& to) {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  to.facts.push_back(online > 0 ? known("logical_cpus", std::to_string(online))
                                : unknown("logical_cpus", "the system does not say"));
  to.allowed_cpus = allowed_cpus();
  to.facts.push_back(
      to.allowed_cpus.empty()
          ? unknown("allowed_cpus", "the system does not say")
          : known("allowed_cpus", fmt::format("{}", fmt::join(to.allowed_cpus, " "))));
  const std::size_t allowed = to.allowed_cpus.size();
  to.facts.push_back(
      allowed == 0   ? unknown("pinning", "the system does not say")
      : allowed == 1 ? known("pinning", fmt::format("to processor {}", to.allowed_cpus.front()))
                     : known("pinning", fmt::format("none, {} processors are allowed", allowed)));
}

// Sizes of the first processor's caches, as "L1 Data 32K, L2 Unified 1024K".
void add_caches(Environment& to, const std::filesystem::path& root) {
  const std::filesystem::path folder = root / "sys/devices/system/cpu/cpu0/cache";
  std::string text;
  for (int index = 0;; ++index) {
    const std::filesystem::path cache = folder / fmt::format("index{}", index);
    const Reading level = read_text(cache / "level");
    const Reading type = read_text(cache / "type");
    const Reading size = read_text(cache / "size");
    if (!level.text || !type.text || !size.text) {
      to.facts.push_back(text.empty() ? unknown("caches", level.text ? size.reason : level.reason)
                                      : known("caches", text));
      return;
    }
    text += fmt::format("{}L{} {} {}", text.empty() ? "" : ", ", first_line(*level.text),
                        first_line(*type.text), first_line(*size.text));
  }
}

void add_memory(Environment& to, const std::filesystem::path& root) {
  const std::filesystem::path path = root / "proc/meminfo";
  const Reading meminfo = read_text(path);
  if (!meminfo.text) return to.facts.push_back(unknown("memory_bytes", meminfo.reason));
  const std::vector<std::string> totals = values_of(*meminfo.text, "MemTotal");
  const auto kib = leading_number<std::uint64_t>(totals.empty() ? "" : totals.front());
  if (!kib) {
    return to.facts.push_back(
        unknown("memory_bytes", fmt::format("{}: has no 'MemTotal' in kB", path.string())));
  }
  to.memory_bytes = *kib * 1024;
  to.facts.push_back(known("memory_bytes", std::to_string(*to.memory_bytes)));
}

void add_system(Environment& to, const std::filesystem::path& root) {
  utsname system{};
  // nodename is left alone: it names the machine.
  to.facts.push_back(uname(&system) == 0
                         ? known("operating_system", fmt::format("{} {} {}", system.sysname,
                                                                 system.release, system.machine))
                         : unknown("operating_system", std::generic_category().message(errno)));
  const std::filesystem::path release = root / "etc/os-release";
  const Reading distribution = read_text(release);
  std::string_view name = distribution.text ? *distribution.text : std::string_view{};
  constexpr std::string_view kName = "PRETTY_NAME=\"";
  const std::size_t at = name.find(kName);
  if (at != std::string_view::npos) {
    name.remove_prefix(at + kName.size());
    to.facts.push_back(known("distribution", std::string(name.substr(0, name.find('"')))));
  } else {
    to.facts.push_back(unknown("distribution", distribution.text
                                                   ? release.string() + ": has no 'PRETTY_NAME'"
                                                   : distribution.reason));
  }
  std::error_code ignored;
  const bool docker = std::filesystem::exists(root / ".dockerenv", ignored);
  const bool podman = std::filesystem::exists(root / "run/.containerenv", ignored);
  to.facts.push_back(known("container", docker ? "docker" : podman ? "podman" : "none seen"));
}

void add_build(Environment& to) {
#if defined(__clang__)
  to.facts.push_back(known("compiler", fmt::format("clang {}.{}.{}", __clang_major__,
                                                   __clang_minor__, __clang_patchlevel__)));
#elif defined(__GNUC__)
  to.facts.push_back(known(
      "compiler", fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)));
#else
  to.facts.push_back(unknown("compiler", "it is neither g++ nor clang"));
#endif
  to.facts.push_back(known("libc", fmt::format("glibc {}", gnu_get_libc_version())));
#if defined(__GLIBCXX__)
  to.facts.push_back(known("cpp_library", fmt::format("libstdc++ {}", __GLIBCXX__)));
#else
  to.facts.push_back(unknown("cpp_library", "it is not libstdc++"));
#endif
  // Those that compute are named by their backends.
  to.facts.push_back(known("fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000,
                                              FMT_VERSION / 100 % 100, FMT_VERSION % 100)));
  to.facts.push_back(known("denormals", denormals_state()));
  to.facts.push_back(known("build_type", STEPSCOPE_BUILD_TYPE));
  to.facts.push_back(known("compiler_flags", std::string(trimmed(STEPSCOPE_COMPILER_FLAGS))));
}

// Facts that are the first line of a file. The text is the kernel's own.
struct LineFact {
  std::string_view name, path;
};
constexpr std::array kLineFacts{
    LineFact{"cpu_governor", "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
    LineFact{"cpu_boost", "sys/devices/system/cpu/cpufreq/boost"},
    LineFact{"smt_active", "sys/devices/system/cpu/smt/active"},
    LineFact{"clock_source", "sys/devices/system/clocksource/clocksource0/current_clocksource"},
    LineFact{"transparent_huge_pages", "sys/kernel/mm/transparent_hugepage/enabled"},
    LineFact{"cgroup_cpu_max", "sys/fs/cgroup/cpu.max"},  // quota and period, microseconds
    LineFact{"address_randomization", "proc/sys/kernel/randomize_va_space"},
    LineFact{"cpu_pressure", "proc/pressure/cpu"},
    LineFact{"memory_pressure", "proc/pressure/memory"},
    LineFact{"io_pressure", "proc/pressure/io"},
    LineFact{"load_average", "proc/loadavg"},  // 1, 5, 15 minutes; running/all tasks; last task
};

void add_lines(Environment& to, const std::filesystem::path& root) {
  for (const LineFact& fact : kLineFacts) {
    const Reading reading = read_text(root / fact.path);
    to.facts.push_back(reading.text
                           ? known(std::string(fact.name), std::string(first_line(*reading.text)))
                           : unknown(std::string(fact.name), reading.reason));
  }
  const Fact& load = *to.find("load_average");
  if (load.value) to.load_average = leading_number<double>(*load.value);
}

// Ticks of all processors by what they did, from the first line of proc/stat.
struct Ticks {
  std::vector<std::uint64_t> columns;  // user nice system idle iowait irq softirq steal ...
  std::string reason;
};
constexpr std::size_t kSteal = 7, kGuest = 8;  // guest is within user, so it is not summed

Ticks read_ticks(const std::filesystem::path& root) {
  const std::filesystem::path path = root / "proc/stat";
  const Reading stat = read_text(path);
  if (!stat.text) return {{}, stat.reason};
  std::string_view line = first_line(*stat.text);
  Ticks ticks;
  if (line.starts_with("cpu ")) line.remove_prefix(4);
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    const auto number = leading_number<std::uint64_t>(line);
    if (!number) break;
    ticks.columns.push_back(*number);
    line.remove_prefix(std::min(line.find(' '), line.size()));
  }
  if (ticks.columns.size() <= kSteal) return {{}, path.string() + ": has no column of stolen time"};
  return ticks;
}

void add_steal(Environment& to, const std::filesystem::path& root) {
  const Ticks ticks = read_ticks(root);
  if (ticks.columns.empty()) return to.facts.push_back(unknown("cpu_steal", ticks.reason));
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < std::min(ticks.columns.size(), kGuest); ++i) all += ticks.columns[i];
  const double share =
      all > 0 ? static_cast<double>(ticks.columns[kSteal]) / static_cast<double>(all) : 0.0;
  to.facts.push_back(
      known("cpu_steal", fmt::format("{:.3f} % of processor time since the start", share * 100)));
}

// Variables by which thread pools and libraries are steered from outside.
void add_variables(Environment& to, const char* const* variables) {
  constexpr std::array<std::string_view, 7> kPrefixes{"OMP_", "GOMP_", "KMP_",   "OPENBLAS_",
                                                      "MKL_", "DNNL_", "ONEDNN_"};
  std::vector<std::string> set;
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view variable = *variables;
    const bool steers = std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                    [&](auto prefix) { return variable.starts_with(prefix); });
    if (steers) set.emplace_back(variable);
  }
  std::sort(set.begin(), set.end());
  to.facts.push_back(
      known("thread_variables", set.empty() ? "none set" : fmt::format("{}", fmt::join(set, " "))));
}

}  // namespace

const Fact* Environment::find(std::string_view name) const {
  const auto at =
      std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) { return fact.name == name; });
  return at == facts.end() ? nullptr : &*at;
}

Environment read_environment(const EnvironmentSources& sources) {
  Environment environment;
  add_processor(environment, sources.root);
  add_cpu_counts(environment);
  add_caches(environment, sources.root);
  add_memory(environment, sources.root);
  add_system(environment, sources.root);
  add_build(environment);
  add_lines(environment, sources.root);
  add_steal(environment, sources.root);
  add_variables(environment, sources.variables != nullptr ? sources.variables : environ);
  for (Fact& fact : gpu_facts(sources.nvml)) environment.facts.push_back(std::move(fact));
  return environment;
}

std::vector<Fact> environment_facts(const EnvironmentSources& sources) {
  return read_environment(sources).facts;
}

std::string denormals_state() {
#if defined(__SSE__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;  // bits of MXCSR
  const unsigned state = _mm_getcsr();
  const bool flushed = (state & kFlushToZero) != 0, taken = (state & kDenormalsAreZero) != 0;
  if (flushed && taken) return "flush to zero, denormals are zero";
  if (flushed) return "flush to zero";
  return taken ? "denormals are zero" : "kept";
#else
  return "not known";
#endif
}

std::optional<std::int64_t> steal_ns(const EnvironmentSources& sources) {
  const Ticks ticks = read_ticks(sources.root);
  const long per_second = sysconf(_SC_CLK_TCK);
  if (ticks.columns.empty() || per_second <= 0) return std::nullopt;
  return static_cast<std::int64_t>(ticks.columns[kSteal]) * (1'000'000'000 / per_second);
}

}  // namespace stepscope
