#include "simulator/exec/audit/redirect.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace lockstep::exec {
namespace {

using runtime::EntryPoint;
using runtime::StaticRuntime;

constexpr std::uint64_t kJump = 14;  // bytes of jmp [rip + 0] and its target

void write_jump(std::uint64_t at, std::uint64_t target) {
  auto* code = reinterpret_cast<std::uint8_t*>(at);
  constexpr std::uint8_t kJumpThroughNext[] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(code, kJumpThroughNext, sizeof kJumpThroughNext);
  std::memcpy(code + sizeof kJumpThroughNext, &target, sizeof target);
}

// Generated functions that each call refuse(name) with their own name.
class Refusals {
 public:
  explicit Refusals(std::uint64_t refuse) : refuse_(refuse) {}

  // The address of a new function; 0 if there is no room.
  std::uint64_t add(const char* name) {
    if (code_ == nullptr) {
      void* const page =
          mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (page == MAP_FAILED) return 0;
      code_ = static_cast<std::uint8_t*>(page);
    }
    if (used_ + kOne > kBytes || std::strlen(name) >= kOne - kText) return 0;
    std::uint8_t* const at = code_ + used_;
    used_ += kOne;
    std::strcpy(reinterpret_cast<char*>(at + kText), name);
    const auto text = reinterpret_cast<std::uint64_t>(at + kText);
    constexpr std::uint8_t kMoveRdi[] = {0x48, 0xbf}, kMoveRax[] = {0x48, 0xb8},
                           kJumpRax[] = {0xff, 0xe0};
    std::memcpy(at, kMoveRdi, 2);
    std::memcpy(at + 2, &text, 8);
    std::memcpy(at + 10, kMoveRax, 2);
    std::memcpy(at + 12, &refuse_, 8);
    std::memcpy(at + 20, kJumpRax, 2);
    return reinterpret_cast<std::uint64_t>(at);
  }

  bool seal() const {
    return code_ == nullptr || mprotect(code_, kBytes, PROT_READ | PROT_EXEC) == 0;
  }

 private:
  static constexpr std::size_t kText = 32, kOne = 128, kBytes = 64 * 1024;
  std::uint64_t refuse_;
  std::uint8_t* code_ = nullptr;
  std::size_t used_ = 0;
};

// The simulated functions, in the order of the entry points; 0 for a missing one.
struct Targets {
  const StaticRuntime* own;
  std::uint64_t bias;
  std::uint64_t to[StaticRuntime::kMost];
};

void find_target(void* context, const char* name, std::uint64_t value) {
  auto* targets = static_cast<Targets*>(context);
  for (std::size_t i = 0; i < targets->own->count; ++i) {
    if (std::strcmp(targets->own->entries[i].name, name) == 0)
      targets->to[i] = targets->bias + value;
  }
}

}  // namespace

Redirected redirect(const StaticRuntime& own, std::uint64_t bias,
                    const SimulatedRuntime& simulated) {
  static Targets targets;
  targets = {&own, simulated.bias, {}};
  for (const char* prefix : {"cuda", "__cuda"})
    runtime::for_each_export(simulated.file, prefix, find_target, &targets);
  const std::uint64_t refuse = runtime::find_export(simulated.file, "lockstepUnsupportedCall");

  // The runtime lies in one contiguous range. A function with such a name outside of the range is
  // the program's own.
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (std::size_t i = 0; i < own.count; ++i) {
    if (targets.to[i] == 0) continue;
    first = std::min(first, own.entries[i].value);
    last = std::max(last, own.entries[i].value);
  }
  if (last == 0 || refuse == 0) return {0, 0, "libcudart.so.13 is not the simulated one"};

  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t from = (bias + first) / page * page,
                      to = (bias + last + kJump + page - 1) / page * page;
  if (mprotect(reinterpret_cast<void*>(from), to - from, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    return {0, 0, "the system does not allow its code to be changed"};
  }
  Redirected result;
  Refusals refusals(simulated.bias + refuse);
  for (std::size_t i = 0; i < own.count; ++i) {
    const EntryPoint& e = own.entries[i];
    if (e.value < first || e.value > last) continue;
    std::uint64_t target = targets.to[i];
    if (target == 0 && e.name[0] == '_') continue;  // not a documented function
    (target != 0 ? result.led : result.refused) += 1;
    if (target == 0) target = refusals.add(e.name);
    if (target == 0 || e.room < kJump) {
      result.error = e.name;
    } else {
      write_jump(bias + e.value, target);
    }
  }
  if (!refusals.seal() ||
      mprotect(reinterpret_cast<void*>(from), to - from, PROT_READ | PROT_EXEC) != 0) {
    result.error = "the system does not give back its code";
  }
  return result;
}

const char* give_ptx_for_cubins(std::span<const std::uint8_t> file, std::uint64_t bias) {
  constexpr const char* kPairs[][2] = {{"nvrtcGetCUBIN", "nvrtcGetPTX"},
                                       {"nvrtcGetCUBINSize", "nvrtcGetPTXSize"}};
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const auto& [cubin, ptx] : kPairs) {
    const std::uint64_t at = runtime::find_export(file, cubin),
                        to = runtime::find_export(file, ptx);
    if (at == 0 || to == 0) continue;
    const std::uint64_t from = (bias + at) / page * page,
                        end = (bias + at + kJump + page - 1) / page * page;
    void* const pages = reinterpret_cast<void*>(from);
    if (mprotect(pages, end - from, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
      return "the system does not allow its code to be changed";
    write_jump(bias + at, bias + to);
    if (mprotect(pages, end - from, PROT_READ | PROT_EXEC) != 0)
      return "the system does not give back its code";
  }
  return nullptr;
}

}  // namespace lockstep::exec
