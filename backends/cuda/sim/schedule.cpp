// schedule: which waiting task runs next, and what a wait runs besides what it depends on.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "backends/cuda/sim/clock.h"
#include "backends/cuda/sim/memory.h"
#include "ops/base/philox.h"

namespace stepscope::cudasim {
namespace {

struct PlannedFault {
  cudaError_t code;
  int nth;
};

struct Device {
  Schedule schedule = Schedule::lazy;
  Order blocks = Order::ascending, threads = Order::ascending;
  std::uint64_t seed = 1;
  Philox random{1};
  std::map<std::uint64_t, TaskRef> waiting;  // by id, so in order of submission
  std::uint64_t submitted = 0;
  std::uint64_t ran = 0;
  std::uint64_t running = 0;   // id of the task that runs
  Nanoseconds latest_end = 0;  // of all tasks ever
  cudaError_t sticky = cudaSuccess;
  std::string fault;
  std::vector<WorkRef> to_tell;  // callbacks that a fault kept from running
  std::vector<PlannedFault> planned;
  Totals totals;
};

Device& device() {
  static Device& state = *new Device;
  return state;
}

// Marks all that waits as done without running it; long chains must not be destroyed recursively.
void drop_waiting() {
  auto dropped = std::move(device().waiting);
  device().waiting.clear();
  for (auto& [id, task] : dropped) {
    task->done = true;
    task->after.clear();
    if (is_hosts(*task->work)) device().to_tell.push_back(task->work);
  }
}

// Host code: device memory must be closed.
void tell_callbacks() {
  const auto works = std::move(device().to_tell);
  device().to_tell.clear();
  for (const WorkRef& work : works) tell_callback(*work, device().sticky);
}

void fault_device(const DeviceFault& fault) {
  device().sticky = fault.code;
  device().fault = fault.text;
  drop_waiting();
}

std::string planned_text(cudaError_t code) {
  return fmt::format("planned by the test: {} ({})", static_cast<int>(code),
                     cudaGetErrorName(code));
}

void run_now(const TaskRef& task) {
  device().running = task->id;
  const GridOrder order{device().blocks, device().threads, device().seed + device().ran++};
  const std::optional<DeviceFault> fault = run_work(*task->work, order);
  device().running = 0;
  if (task->node) ++device().totals.nodes;
  task->done = true;
  task->after.clear();
  device().waiting.erase(task->id);
  if (fault) fault_device(*fault);
}

bool is_ready(const Task& task) {
  return std::all_of(task.after.begin(), task.after.end(),
                     [](const TaskRef& before) { return before->done; });
}

// Of what the task still follows, what runs first. The newest: where one wait is missing, what
// should have run before is then likely to run after.
TaskRef next_need(const Task& task) {
  std::vector<TaskRef> needs;
  for (const TaskRef& before : task.after) {
    if (!before->done) needs.push_back(before);
  }
  if (needs.empty()) return nullptr;
  if (device().schedule == Schedule::seeded) return needs[device().random.below(needs.size())];
  return *std::max_element(needs.begin(), needs.end(),
                           [](const TaskRef& a, const TaskRef& b) { return a->id < b->id; });
}

// Runs the task and all that it follows; without recursion, for chains are long.
void run_with_needs(const TaskRef& target) {
  std::vector<TaskRef> path{target};
  std::optional<DeviceOpen> open;
  while (!path.empty()) {
    const TaskRef task = path.back();
    if (task->done) {
      path.pop_back();
    } else if (const TaskRef need = next_need(*task)) {
      path.push_back(need);
    } else {
      if (is_hosts(*task->work)) {
        open.reset();
      } else if (!open) {
        open.emplace();
      }
      run_now(task);
      path.pop_back();
    }
  }
  open.reset();
  tell_callbacks();
}

using Tasks = std::unordered_set<const Task*>;

// The task and all that waits and follows it.
Tasks behind(const Task& task) {
  Tasks found{&task};
  const auto& waiting = device().waiting;
  for (auto at = waiting.upper_bound(task.id); at != waiting.end(); ++at) {
    const auto& after = at->second->after;
    const bool follows = std::any_of(after.begin(), after.end(), [&](const TaskRef& before) {
      return found.contains(before.get());
    });
    if (follows) found.insert(at->second.get());
  }
  return found;
}

// The task and all that waits and that it follows.
Tasks ahead_of(const Task& task) {
  Tasks found{&task};
  std::vector<const Task*> path{&task};
  while (!path.empty()) {
    const Task& next = *path.back();
    path.pop_back();
    for (const TaskRef& before : next.after) {
      if (!before->done && found.insert(before.get()).second) path.push_back(before.get());
    }
  }
  return found;
}

// All of them, in order of submission, so that each runs as late as it may: what does not follow
// the oldest comes before it, the newest first.
void run_oldest_last(const std::vector<TaskRef>& tasks) {
  for (const TaskRef& oldest : tasks) {
    if (oldest->done) continue;
    const Tasks later = behind(*oldest);
    for (auto task = tasks.rbegin(); task != tasks.rend(); ++task) {
      if (!(*task)->done && !later.contains(task->get())) run_with_needs(*task);
    }
    run_with_needs(oldest);
  }
}

// others_first: what the target has no part in, then what it follows, then the target.
void run_after_others(const TaskRef& target) {
  const Tasks later = behind(*target), sooner = ahead_of(*target);
  std::vector<TaskRef> others, own;
  for (const auto& [id, task] : device().waiting) {
    if (sooner.contains(task.get())) {
      own.push_back(task);
    } else if (!later.contains(task.get())) {
      others.push_back(task);
    }
  }
  for (auto task = others.rbegin(); task != others.rend(); ++task) {
    if (!(*task)->done) run_with_needs(*task);
  }
  run_oldest_last(own);
}

void run_for_wait(const TaskRef& target) {
  if (device().schedule == Schedule::others_first) {
    run_after_others(target);
  } else {
    run_with_needs(target);
  }
}

void run_random_ready() {
  std::vector<TaskRef> ready;
  for (const auto& [id, task] : device().waiting) {
    if (is_ready(*task)) ready.push_back(task);
  }
  if (!ready.empty()) run_with_needs(ready[device().random.below(ready.size())]);
}

void run_everything() {
  if (device().schedule == Schedule::others_first) {
    std::vector<TaskRef> tasks;
    for (const auto& [id, task] : device().waiting) tasks.push_back(task);
    run_oldest_last(tasks);
  }
  while (!device().waiting.empty()) {
    if (device().schedule == Schedule::seeded) {
      run_random_ready();
    } else if (device().schedule == Schedule::eager) {
      run_with_needs(device().waiting.begin()->second);
    } else {
      run_with_needs(device().waiting.rbegin()->second);  // the newest, as in next_need
    }
  }
}

}  // namespace

TaskRef submit_task(WorkRef work, std::vector<TaskRef> after, bool node) {
  auto task = std::make_shared<Task>();
  task->work = std::move(work);
  task->node = node;
  std::erase(after, nullptr);
  task->after = std::move(after);
  task->id = ++device().submitted;
  settle_times(*task);
  device().latest_end = std::max(device().latest_end, task->end);
  std::erase_if(task->after, [](const TaskRef& before) { return before->done; });
  if (device().sticky != cudaSuccess) {
    task->done = true;  // the device is lost
    return task;
  }
  device().waiting[task->id] = task;
  if (device().schedule == Schedule::eager && device().running == 0) run_with_needs(task);
  return task;
}

cudaError_t wait_for(const TaskRef& task) {
  if (task == nullptr) return sticky();
  if (!task->done) run_for_wait(task);
  move_host_to(task->end);
  return sticky();
}

cudaError_t wait_for_all() {
  run_everything();
  move_host_to(device().latest_end);
  return sticky();
}

cudaError_t query(const TaskRef& task) {
  if (task == nullptr) return sticky();
  if (task->end > host_clock()) return sticky() != cudaSuccess ? sticky() : cudaErrorNotReady;
  if (!task->done) run_for_wait(task);
  return sticky();
}

void give_turn() {
  if (device().schedule != Schedule::seeded || device().running != 0) return;
  while (!device().waiting.empty() && device().random.below(2) == 0) run_random_ready();
}

void count_graph_launch() { ++device().totals.graph_launches; }

cudaError_t sticky() { return device().sticky; }

std::uint64_t running_task() { return device().running; }
std::uint64_t last_submitted() { return device().submitted; }

Totals& counted() { return device().totals; }
std::size_t waiting_tasks() { return device().waiting.size(); }
Schedule current_schedule() { return device().schedule; }

void change_schedule(Schedule schedule) {
  device().schedule = schedule;
  if (schedule == Schedule::eager) run_everything();
}

void change_orders(Order blocks, Order threads) {
  device().blocks = blocks;
  device().threads = threads;
}

void lose_device(cudaError_t code) {
  if (sticky() != cudaSuccess) return;
  fault_device({code, planned_text(code)});
  tell_callbacks();
}

void plan_kernel_fault(cudaError_t code, int nth) { device().planned.push_back({code, nth}); }

std::optional<DeviceFault> planned_fault() {
  std::optional<DeviceFault> fault;
  std::erase_if(device().planned, [&](PlannedFault& planned) {
    if (--planned.nth > 0) return false;
    fault = DeviceFault{planned.code, planned_text(planned.code)};
    return true;
  });
  return fault;
}

std::string fault_text() { return device().fault; }

void reset_schedule(const Settings& settings) {
  drop_waiting();
  device() = {};
  device().schedule = settings.schedule;
  device().blocks = settings.blocks;
  device().threads = settings.threads;
  device().seed = settings.seed;
  device().random = Philox(settings.seed);
}

}  // namespace stepscope::cudasim
