#include "simulator/engine/ops/control/builtins.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>

#include "simulator/engine/access/access.h"
#include "simulator/engine/monitor/progress.h"
#include "simulator/engine/monitor/races.h"
#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/monitor/uninitialised.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/relaxed_bytes.h"
#include "simulator/engine/state/worker.h"

namespace lockstep::engine {
namespace {

std::uint64_t argument(const Warp& w, const Call& call, std::size_t i, int lane) {
  std::uint64_t v = 0;
  const Storage& s = call.arguments[i];
  std::memcpy(&v, w.file[0] + s.offset + static_cast<std::size_t>(lane) * s.size,
              std::min<std::size_t>(s.size, 8));
  return v;
}

void set_result(Warp& w, const Call& call, int lane, std::uint64_t v) {
  if (call.results.empty()) return;
  const Storage& s = call.results[0];
  std::memcpy(w.file[0] + s.offset + static_cast<std::size_t>(lane) * s.size, &v,
              std::min<std::size_t>(s.size, 8));
}

// A C string in device memory; nullopt if it runs out of bounds.
std::optional<std::string> read_string(Warp& w, int lane, std::uint64_t address) {
  std::string s;
  for (;; ++address) {
    const std::byte* p = peek(w, lane, address, 1);
    if (p == nullptr || s.size() > 65536) return std::nullopt;
    char c;
    load_element<1>(&c, p);
    if (c == 0) return s;
    s.push_back(c);
  }
}

// Whether widths and precisions may be formatted. With more than four digits the host's printf may
// fail or take very long.
bool reasonable(const std::string& spec) {
  int digits = 0;
  for (const char c : spec) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 4) return false;
  }
  return true;
}

// Appends `value` formatted by `spec`. A conversion that the host's printf does not support is
// copied unchanged.
template <class T>
void append(std::string& out, const std::string& spec, T value) {
  const int length = reasonable(spec) ? std::snprintf(nullptr, 0, spec.c_str(), value) : -1;
  if (length < 0) {
    out += spec;
    return;
  }
  const std::size_t before = out.size();
  out.resize(before + static_cast<std::size_t>(length) + 1);
  std::snprintf(out.data() + before, static_cast<std::size_t>(length) + 1, spec.c_str(), value);
  out.pop_back();
}

// Formats as the host's printf does. The arguments are packed at their natural alignment, floats as
// doubles.
std::optional<std::string> format(Warp& w, int lane, const std::string& pattern,
                                  std::uint64_t arguments, int& count) {
  std::string out;
  const auto next = [&](std::uint32_t size) -> std::optional<std::uint64_t> {
    arguments = (arguments + size - 1) & ~std::uint64_t{size - 1};
    const std::byte* p = peek(w, lane, arguments, size);
    if (p == nullptr) return std::nullopt;
    std::uint64_t v = 0;
    size == 4 ? load_element<4>(&v, p) : load_element<8>(&v, p);
    arguments += size;
    return v;
  };
  for (std::size_t i = 0; i < pattern.size();) {
    if (pattern[i] != '%') {
      out.push_back(pattern[i++]);
      continue;
    }
    if (i + 1 < pattern.size() && pattern[i + 1] == '%') {
      out.push_back('%');
      i += 2;
      continue;
    }
    std::string spec = "%";
    ++i;
    while (i < pattern.size() && std::strchr("-+ #0123456789.*", pattern[i])) {
      if (pattern[i] == '*') {
        const auto v = next(4);
        if (!v) return std::nullopt;
        const auto number = static_cast<std::int32_t>(*v);
        if (number < 0 && spec.back() == '.')
          spec.pop_back();  // a negative precision counts as none
        else
          spec += std::to_string(number);
      } else {
        spec.push_back(pattern[i]);
      }
      ++i;
    }
    int longs = 0;
    while (i < pattern.size() && std::strchr("hlLjzt", pattern[i])) {
      if (std::strchr("lLjzt", pattern[i])) ++longs;
      ++i;
    }
    if (i >= pattern.size()) break;
    const char conversion = pattern[i++];
    ++count;
    switch (conversion) {
      case 'd':
      case 'i': {
        const auto v = next(longs ? 8 : 4);
        if (!v) return std::nullopt;
        const auto value = longs ? static_cast<std::int64_t>(*v) : static_cast<std::int32_t>(*v);
        append(out, spec + "lld", static_cast<long long>(value));
        break;
      }
      case 'u':
      case 'x':
      case 'X':
      case 'o': {
        const auto v = next(longs ? 8 : 4);
        if (!v) return std::nullopt;
        append(out, spec + "ll" + conversion, static_cast<unsigned long long>(*v));
        break;
      }
      case 'c': {
        const auto v = next(4);
        if (!v) return std::nullopt;
        append(out, spec + "c", static_cast<int>(*v));
        break;
      }
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        const auto v = next(8);
        if (!v) return std::nullopt;
        append(out, spec + conversion, std::bit_cast<double>(*v));
        break;
      }
      case 's': {
        const auto v = next(8);
        if (!v) return std::nullopt;
        const auto text = *v ? read_string(w, lane, *v) : std::optional<std::string>("(null)");
        if (!text) return std::nullopt;
        if (spec == "%") {
          out += *text;
        } else {
          append(out, spec + "s", text->c_str());
        }
        break;
      }
      case 'p': {
        const auto v = next(8);
        if (!v) return std::nullopt;
        append(out, "0x%llx", static_cast<unsigned long long>(*v));
        break;
      }
      default: out += spec + conversion; break;
    }
  }
  return out;
}

void bad_pointer(Warp& w, int lane, const char* what, std::uint64_t address) {
  check::Finding f = finding_at(w, w.pc - 1, 1u << lane, check::Kind::kOutOfBounds);
  f.access.address = address;
  f.access.size = 1;
  f.space = "generic";
  f.where = what;
  report(w, std::move(f));
}

void print(Warp& w, const Call& call, LaneMask mask) {
  std::string text;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t pattern = argument(w, call, 0, lane),
                        arguments = argument(w, call, 1, lane);
    const auto read = read_string(w, lane, pattern);
    int count = 0;
    const auto line = read ? format(w, lane, *read, arguments, count) : std::nullopt;
    if (!line) {
      bad_pointer(w, lane,
                  read ? "an argument of printf leaves its memory"
                       : "the format of printf leaves its memory",
                  read ? arguments : pattern);
      return;
    }
    text += *line;
    set_result(w, call, lane, static_cast<std::uint64_t>(count));
  }
  Launch& launch = *w.block->launch;
  std::lock_guard lock(launch.mutex);
  if (launch.config->output) {
    launch.config->output(text);
  } else {
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
}

void fail_assertion(Warp& w, const Call& call, LaneMask mask) {
  const int lane = std::countr_zero(mask);
  check::Finding f = finding_at(w, w.pc - 1, mask, check::Kind::kAssert);
  const auto text = [&](std::size_t i) {
    const std::uint64_t a = argument(w, call, i, lane);
    const auto s = a ? read_string(w, lane, a) : std::nullopt;
    return s ? *s : std::string("?");
  };
  f.where = "assertion `" + text(0) + "' failed at " + text(1) + ":" +
            std::to_string(static_cast<std::uint32_t>(argument(w, call, 2, lane))) + " in " +
            text(3);
  report(w, std::move(f));
}

// The name of allocations by device code.
constexpr const char* kHeap = "device malloc";

void allocate(Warp& w, const Call& call, LaneMask mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t size = argument(w, call, 0, lane);
    const memory::Allocation* a =
        size == 0 ? nullptr
                  : w.block->worker->memory->allocate(size, 256, memory::Kind::kDevice, 0, kHeap);
    set_result(w, call, lane, a ? a->base : 0);
    Launch& launch = *w.block->launch;
    if (a == nullptr || (launch.config->checks & check::kLeaks) == 0) continue;
    check::Finding f = finding_at(w, w.pc - 1, 1u << lane, check::Kind::kLeak);
    f.access.address = a->base;
    f.space = "global";
    std::lock_guard lock(launch.mutex);
    launch.heap.push_back({a->base, std::move(f)});
  }
}

void release(Warp& w, const Call& call, LaneMask mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t address = argument(w, call, 0, lane);
    if (address == 0) continue;
    memory::DeviceMemory& memory = *w.block->worker->memory;
    const memory::Allocation* a = memory.find(address);
    const bool heap = a != nullptr && a->name == kHeap;
    const auto result =
        heap ? memory.release(address) : memory::DeviceMemory::FreeResult::kNotAnAllocation;
    if (result == memory::DeviceMemory::FreeResult::kOk) continue;
    check::Finding f = finding_at(w, w.pc - 1, 1u << lane, check::Kind::kUseAfterFree);
    f.access.address = address;
    f.where = result == memory::DeviceMemory::FreeResult::kAlreadyFreed
                  ? "freed a second time"
                  : "free of a pointer that malloc did not return";
    report(w, std::move(f));
    return;
  }
}

// The launch header that the device library prepares (runtime/state/device_library.cc). The
// parameters follow it.
struct LaunchHeader {
  std::uint64_t code;  // the kernel's address
  std::uint32_t grid[3], block[3], dynamic_shared;
};
constexpr std::size_t kHeaderBytes = 64;
constexpr std::uint64_t kInvalidConfiguration = 9;  // cudaErrorInvalidConfiguration

void launch_grid(Warp& w, const Call& call, LaneMask mask) {
  Launch& launch = *w.block->launch;
  const auto& functions = launch.program->functions;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t address = argument(w, call, 0, lane);
    LaunchHeader h{};
    const std::byte* const header = peek(w, lane, address, sizeof h);
    if (header == nullptr)
      return bad_pointer(w, lane, "a launch from memory that is none", address);
    std::memcpy(&h, header, sizeof h);
    const std::uint64_t index = (h.code - kCodeBase) / kCodeStep;
    if (h.code < kCodeBase || index >= functions.size() || !functions[index].is_kernel) {
      set_result(w, call, lane, kInvalidConfiguration);
      continue;
    }
    const Function& kernel = functions[index];
    DeviceLaunch made;
    made.kernel = kernel.name;
    made.grid = {h.grid[0], h.grid[1], h.grid[2]};
    made.block = {h.block[0], h.block[1], h.block[2]};
    made.dynamic_shared = h.dynamic_shared;
    if (launch.config->launchable) {
      const std::lock_guard lock(launch.mutex);
      if (!launch.config->launchable(made)) {
        set_result(w, call, lane, kInvalidConfiguration);
        continue;
      }
    }
    made.parameters.resize(kernel.parameter_offsets.back());
    if (!made.parameters.empty()) {
      const std::byte* const parameters =
          peek(w, lane, address + kHeaderBytes, static_cast<std::uint32_t>(made.parameters.size()));
      if (parameters == nullptr)
        return bad_pointer(w, lane, "the parameters of a launch leave its memory", address);
      std::memcpy(made.parameters.data(), parameters, made.parameters.size());
    }
    made.by_block = w.block->index;
    if (launch.check_races) {
      made.known = w.block->races
                       .message_of(w.index, 1u << lane, w.exists == 1u << lane, check::Scope::kGrid)
                       .what;
      made.known_times = launch.races->times_forgotten();
    }
    const std::lock_guard lock(launch.mutex);
    made.descent = launch.device_order.launch(w.block->index, argument(w, call, 1, lane),
                                              launch.config->place.descent);
    launch.launches.push_back(std::move(made));
    set_result(w, call, lane, 0);
  }
  released(w);
}

// lockstep_device_error(how, error): the thread's last error is returned (0), returned and reset
// (1), or set (2).
void device_error(Warp& w, const Call& call, LaneMask mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    std::uint32_t& last =
        w.block->last_errors[w.index * kWarpSize + static_cast<std::uint32_t>(lane)];
    const std::uint64_t how = argument(w, call, 0, lane);
    set_result(w, call, lane, last);
    if (how != 0) last = how == 1 ? 0 : static_cast<std::uint32_t>(argument(w, call, 1, lane));
  }
}

// lockstep_device_event(event, stream, waits): the stream waits for the event, or records it.
void device_event(Warp& w, const Call& call, LaneMask mask) {
  Launch& launch = *w.block->launch;
  const std::lock_guard lock(launch.mutex);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint64_t event = argument(w, call, 0, lane), stream = argument(w, call, 1, lane);
    if (argument(w, call, 2, lane) != 0) {
      launch.device_order.wait(w.block->index, stream, event);
    } else {
      launch.device_order.record(w.block->index, event, stream);
    }
    set_result(w, call, lane, 0);
  }
}

}  // namespace

void run_builtin(Warp& w, const Call& call, LaneMask mask) {
  on_order(*w.block->worker);
  switch (call.builtin) {
    case Builtin::kVprintf: print(w, call, mask); break;
    case Builtin::kMalloc: allocate(w, call, mask); break;
    case Builtin::kFree: release(w, call, mask); break;
    case Builtin::kAssertFail: fail_assertion(w, call, mask); break;
    case Builtin::kLaunchGrid: launch_grid(w, call, mask); break;
    case Builtin::kDeviceError: device_error(w, call, mask); break;
    case Builtin::kDeviceEvent: device_event(w, call, mask); break;
    case Builtin::kNone: break;
  }
  if (w.control->tracking) {
    for (const Storage& s : call.results) mark_register(w, s.offset, 0, mask, w.pc - 1);
  }
}

}  // namespace lockstep::engine
