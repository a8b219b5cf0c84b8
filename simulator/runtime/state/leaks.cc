#include "simulator/runtime/state/leaks.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/source_line.h"

namespace lockstep::runtime {
namespace {

const memory::Allocation* live(const memory::DeviceMemory& memory, memory::Address address,
                               std::uint64_t id) {
  const memory::Allocation* a = memory.find(address);
  return a != nullptr && !a->freed && a->id == id ? a : nullptr;
}

// What one place in the program has left behind.
struct Place {
  const memory::Allocation* first = nullptr;
  std::uint64_t count = 0, bytes = 0;
  void add(const memory::Allocation& a) {
    if (first == nullptr) first = &a;
    ++count;
    bytes += a.size;
  }
  std::string text() const {
    if (count == 1) return describe(*first) + " was never freed";
    return std::to_string(count) + " allocations of " + runtime::bytes(bytes) +
           " together were never freed, the first is " + describe(*first);
  }
};

}  // namespace

namespace {

// Where the instruction before `behind` is, with `exact` also by symbols that are not exported.
std::string describe_instruction(const void* behind, bool exact) {
  Dl_info info;
  const auto address = reinterpret_cast<std::uintptr_t>(behind) - 1;
  const auto* const at = reinterpret_cast<const void*>(address);
  if (behind == nullptr || dladdr(at, &info) == 0 || info.dli_fname == nullptr) return {};
  std::string name = info.dli_sname == nullptr ? "" : info.dli_sname;
  const std::string line = source_line(at);
  if (exact || line.empty()) {
    if (const std::string symbol = source_function(at); !symbol.empty()) name = symbol;
  }
  const std::string function = name.empty() ? "" : ", in " + demangled(name);
  if (!line.empty()) return line + function;
  const std::string file = info.dli_fname,
                    offset = hexadecimal(offset_in_object(at, info.dli_fbase));
  return file + "+" + offset + function + " (if built with -g, addr2line -Cfe " + file + " " +
         offset + " names the line)";
}

}  // namespace

// The call itself is before where it returns to.
std::string describe_caller(const void* caller) {
  const std::string place = describe_instruction(caller, false);
  return place.empty() ? place : "a call at " + place;
}

std::string describe_host_code(const void* behind) {
  const std::string place = describe_instruction(behind, true);
  return place.empty() ? place : "at " + place;
}

void Leaks::allocated(const memory::Allocation& a, const char* function, const void* caller) {
  host_.insert_or_assign(a.base, Host{a.id, function, caller});
}

void Leaks::allocated(std::vector<engine::HeapAllocation> heap,
                      const memory::DeviceMemory& memory) {
  for (engine::HeapAllocation& h : heap) {
    const memory::Allocation* a = memory.find(h.address);
    if (a != nullptr && !a->freed) heap_.insert_or_assign(h.address, Heap{a->id, std::move(h.by)});
  }
  if (heap_.size() < sweep_) return;
  std::erase_if(heap_,
                [&](const auto& h) { return live(memory, h.first, h.second.id) == nullptr; });
  sweep_ = std::max<std::size_t>(1024, 2 * heap_.size());
}

std::vector<check::Finding> Leaks::find(const memory::DeviceMemory& memory, int device) const {
  std::vector<std::pair<const Host*, Place>> by_call;
  for (const auto& [address, h] : host_) {
    const memory::Allocation* a = live(memory, address, h.id);
    if (a == nullptr || a->device != device) continue;
    const auto same = [&h = h](const auto& p) {
      return p.first->caller == h.caller && p.first->function == h.function;
    };
    auto it = std::find_if(by_call.begin(), by_call.end(), same);
    if (it == by_call.end()) it = by_call.insert(by_call.end(), {&h, {}});
    it->second.add(*a);
  }
  std::vector<std::pair<const Heap*, Place>> by_line;
  for (const auto& [address, h] : heap_) {
    const memory::Allocation* a = live(memory, address, h.id);
    if (a == nullptr || a->device != device) continue;
    const auto same = [&h = h](const auto& p) {
      const check::Site &x = p.first->by.access.site, &y = h.by.access.site;
      return p.first->by.kernel == h.by.kernel && x.ptx_line == y.ptx_line &&
             x.instruction == y.instruction;
    };
    auto it = std::find_if(by_line.begin(), by_line.end(), same);
    if (it == by_line.end()) it = by_line.insert(by_line.end(), {&h, {}});
    it->second.add(*a);
  }
  std::vector<check::Finding> findings;
  for (const auto& [h, place] : by_call) {
    check::Finding f;
    f.kind = check::Kind::kLeak;
    f.space = "global";
    f.access.address = place.first->base;
    f.where = place.text();
    f.occurrences = place.count;
    const std::string caller = describe_caller(h->caller);
    f.detail =
        std::string("allocated with ") + h->function + (caller.empty() ? "" : " by " + caller);
    findings.push_back(std::move(f));
  }
  for (const auto& [h, place] : by_line) {
    check::Finding f = h->by;
    f.where = place.text();
    f.occurrences = place.count;
    f.detail =
        "Memory from malloc() in a kernel outlives the kernel: free() in this one or a later one "
        "gives it back.";
    findings.push_back(std::move(f));
  }
  return findings;
}

void Leaks::clear() {
  host_.clear();
  heap_.clear();
}

}  // namespace lockstep::runtime
