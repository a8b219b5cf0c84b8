// The functions of simulator/extension.h.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "simulator/extension.h"
#include "simulator/runtime/api/live_handles.h"
#include "simulator/runtime/state/findings.h"
#include "simulator/runtime/state/interceptor.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/work/executor.h"
#include "simulator/runtime/work/transcript.h"

using lockstep::check::Finding;
using lockstep::runtime::Device;
using lockstep::runtime::Runtime;
using lockstep::runtime::thread_state;

namespace {

std::atomic<std::uint64_t> g_seal{0};  // 0: open

// The program that has sealed the extension runs code that it does not trust, and that calls it.
[[noreturn]] void break_seal(const char* function) {
  std::fprintf(stderr, "lockstep: %s was called while the extension was sealed\n", function);
  std::fflush(stderr);
  _exit(LOCKSTEP_EXIT_SEAL_BROKEN);
}

void require_open(const char* function) {
  if (g_seal.load() != 0) break_seal(function);
}

// Runs `body` on the current device under the lock; `otherwise` when no simulated GPU could be
// started. What streams have to do is executed before, unless !finishes.
template <class T, class Body>
T with_device(T otherwise, Body&& body, bool finishes = true) {
  Runtime& runtime = Runtime::get();
  std::lock_guard lock(runtime.lock);
  if (runtime.start_error != cudaSuccess) return otherwise;
  if (finishes) lockstep::runtime::run_all(runtime);
  return body(runtime, runtime.current());
}

// The findings since the last call, of all work until now.
std::vector<Finding> take_findings() {
  Runtime& runtime = Runtime::get();
  with_device(0, [](Runtime&, Device&) { return 0; });
  runtime.record.taken();
  return runtime.findings.take();
}

}  // namespace

extern "C" {

int lockstepSeal(uint64_t key) {
  std::uint64_t open = 0;
  if (key == 0) return -1;
  if (!g_seal.compare_exchange_strong(open, key)) break_seal(__func__);
  return 0;
}

int lockstepUnseal(uint64_t key) {
  if (key == 0 || !g_seal.compare_exchange_strong(key, 0)) break_seal(__func__);
  return 0;
}

int lockstepExtensionVersion() { return LOCKSTEP_EXTENSION_VERSION; }

int lockstepNameBuffer(void* begin, size_t bytes, const char* name) {
  require_open(__func__);
  return with_device(-1, [&](Runtime& r, Device&) {
    return r.memory->name_buffer(reinterpret_cast<lockstep::memory::Address>(begin), bytes,
                                 name == nullptr ? "" : name)
               ? 0
               : -1;
  });
}

int lockstepMarkUnwritten(void* begin, size_t bytes) {
  require_open(__func__);
  return with_device(-1, [&](Runtime& r, Device&) {
    const auto address = reinterpret_cast<lockstep::memory::Address>(begin);
    const lockstep::memory::Allocation* a = r.memory->find(address);
    if (a == nullptr || a->freed || bytes > a->base + a->size - address) return -1;
    r.memory->mark_unwritten(address, bytes);
    r.repeats.wrote();
    return 0;
  });
}

char* lockstepTakeFindings() {
  require_open(__func__);
  return strdup(lockstep::runtime::to_json(take_findings()).c_str());
}

char* lockstepTakeErrors() {
  require_open(__func__);
  std::vector<Finding> findings = take_findings();
  std::erase_if(findings,
                [](const Finding& f) { return f.severity != lockstep::check::Severity::kError; });
  return strdup(lockstep::runtime::to_json(findings).c_str());
}

int lockstepClearError() {
  require_open(__func__);
  return with_device(-1, [](Runtime& r, Device&) {
    for (Device& d : r.devices) d.error = cudaSuccess;
    thread_state().last_error = cudaSuccess;
    return 0;
  });
}

int lockstepResetCounters() {
  require_open(__func__);
  return with_device(-1, [](Runtime&, Device& d) {
    d.counters = {};
    d.launches = 0;
    d.count_memory = true;
    return 0;
  });
}

int lockstepReadCounters(lockstepCounters* result) {
  return with_device(-1, [&](Runtime& r, Device& d) {
    if (r.interceptor) r.interceptor->counters_read();
    if (result == nullptr || result->size < sizeof(size_t) ||
        result->size > sizeof(lockstepCounters))
      return -1;
    const auto& c = d.counters;
    lockstepCounters all{};
    all.size = result->size;
    all.launches = d.launches;
    all.warp_instructions = c.warp_instructions;
    all.thread_instructions = c.thread_instructions;
    all.global_load_requests = c.global_load_requests;
    all.global_load_sectors = c.global_load_sectors;
    all.global_load_lines = c.global_load_lines;
    all.global_store_requests = c.global_store_requests;
    all.global_store_sectors = c.global_store_sectors;
    all.global_store_lines = c.global_store_lines;
    all.shared_load_requests = c.shared_load_requests;
    all.shared_load_bank_conflicts = c.shared_load_bank_conflicts;
    all.shared_store_requests = c.shared_store_requests;
    all.shared_store_bank_conflicts = c.shared_store_bank_conflicts;
    all.shuffles = c.shuffles;
    all.votes = c.votes;
    all.atomics = c.atomics;
    all.barriers = c.barriers;
    std::memcpy(result, &all,
                result->size);  // a program built with an older header has a shorter structure
    return 0;
  });
}

int lockstepWatchOperations(int on) {
  require_open(__func__);
  Runtime::get().operations.watch(on != 0);
  return 0;
}

size_t lockstepReadOperations(lockstepOperation* operations, size_t room) {
  return Runtime::get().operations.read(operations, room);
}

int lockstepBeforeCalls(void (*before)(void* data), void* data) {
  require_open(__func__);
  lockstep::runtime::ThreadState& thread = thread_state();
  thread.before_calls = before;
  thread.before_calls_data = data;
  return 0;
}

size_t lockstepUnderWay() {
  return with_device(
      size_t{0}, [](Runtime& r, Device&) { return r.under_way; }, /*finishes=*/false);
}

int lockstepSetError(int error) {
  require_open(__func__);
  thread_state().call_error = static_cast<cudaError_t>(error);
  return 0;
}

size_t lockstepLiveObjects() {
  return with_device(size_t{0}, [](Runtime& r, Device&) {
    const auto live = r.memory->live();
    const auto made = std::count_if(live.begin(), live.end(), [&r](const auto* a) {
      return !r.modules.is_variable(*a);  // code comes when it is first used, and stays
    });
    return static_cast<std::size_t>(made) + lockstep::runtime::live_handles();
  });
}

size_t lockstepReadLimits(lockstepLimit* limits, size_t room) {
  return with_device(
      size_t{0},
      [&](Runtime& r, Device&) {
        if (limits != nullptr)
          std::copy_n(r.limits_set.begin(), std::min(room, r.limits_set.size()), limits);
        return r.limits_set.size();
      },
      /*finishes=*/false);
}

int lockstepSetLimitsAside(int aside) {
  require_open(__func__);
  return with_device(-1, [&](Runtime& r, Device&) {
    if (aside != 0) r.limits_set.clear();
    r.limits_are_aside = aside != 0;
    r.modules.each_kernel([aside](lockstep::runtime::KernelEntry& kernel) {
      if (aside != 0) {
        kernel.set_aside = std::exchange(kernel.attributes, {});
      } else if (auto before = std::exchange(kernel.set_aside, {}); !before.empty()) {
        kernel.attributes = std::move(before);
      }
    });
    return 0;
  });
}

int lockstepSetProperty(int attribute, int value) {
  require_open(__func__);
  return with_device(-1, [&](Runtime& r, Device&) {
    if (attribute < 0) {
      r.changed_properties.clear();
    } else {
      r.changed_properties[attribute] = value;
    }
    return 0;
  });
}

int lockstepSampleBlocks(uint64_t blocks) {
  require_open(__func__);
  return with_device(-1, [&](Runtime& r, Device&) {
    r.sampled_blocks = blocks;
    return 0;
  });
}

int lockstepSetSchedule(uint64_t seed) {
  require_open(__func__);
  return with_device(-1, [&](Runtime& r, Device&) {
    r.settings.schedule = seed;
    r.random.seed(seed);
    return 0;
  });
}

uint32_t lockstepSetChecks(uint32_t checks) {
  require_open(__func__);
  return with_device(uint32_t{0},
                     [&](Runtime& r, Device&) { return std::exchange(r.settings.checks, checks); });
}

int lockstepBeginPart() {
  return with_device(1, [](Runtime& r, Device&) {
    return r.interceptor == nullptr || r.interceptor->begin_part() ? 1 : 0;
  });
}

int lockstepTranscribe(int on) {
  require_open(__func__);
  return with_device(-1, [on](Runtime&, Device&) {
    lockstep::runtime::transcript().turn(on != 0);
    return 0;
  });
}

char* lockstepTakeTranscript() {
  require_open(__func__);
  return strdup(with_device(std::string("[]"), [](Runtime& r, Device&) {
                  return lockstep::runtime::transcript().take(r);
                }).c_str());
}

int lockstepPlaceMemory(void* begin, size_t bytes) {
  require_open(__func__);
  return with_device(-1, [&](Runtime& r, Device& d) {
    const auto base = reinterpret_cast<lockstep::memory::Address>(begin);
    return r.memory->allocate_at(base, bytes, d.ordinal) == nullptr ? -1 : 0;
  });
}

int lockstepPlaceNext(void* address) {
  require_open(__func__);
  return with_device(-1, [&](Runtime& r, Device&) {
    const auto from = reinterpret_cast<lockstep::memory::Address>(address);
    if (!r.memory->in_window(from)) return -1;
    r.memory->set_next(from);
    return 0;
  });
}

int lockstepSetQuiet(int quiet) {
  require_open(__func__);
  return Runtime::get().findings.set_quiet(quiet != 0) ? 1 : 0;
}

}  // extern "C"
