#include "simulator/compile/registers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "simulator/compile/liveness.h"

namespace lockstep::compile {
namespace {

// Allocates slots in the register file. A predicate takes four bytes. Other registers take 32 times
// their size, at least a cache line.
class RegisterFile {
 public:
  static constexpr std::uint32_t kPredicate = 4;
  static std::uint32_t bytes_of(isa::Type t) {
    return t == isa::Type::kPred ? kPredicate
                                 : static_cast<std::uint32_t>(program::kWarpSize * isa::size_of(t));
  }

  program::Slot take(std::uint32_t bytes) {
    auto& pool = free_[bytes];
    if (!pool.empty()) {
      const program::Slot s = pool.back();
      pool.pop_back();
      return s;
    }
    if (bytes == kPredicate) {
      if (predicates_ % 16 == 0) predicate_base_ = grow(64);
      return predicate_base_ + kPredicate * (predicates_++ % 16);
    }
    return grow(std::max(bytes, 64u));
  }
  void give_back(program::Slot s, std::uint32_t bytes) { free_[bytes].push_back(s); }
  std::uint32_t bytes() const { return bytes_; }

 private:
  std::uint32_t grow(std::uint32_t by) { return std::exchange(bytes_, bytes_ + by); }

  std::map<std::uint32_t, std::vector<program::Slot>> free_;  // by size
  std::uint32_t bytes_ = 0, predicates_ = 0, predicate_base_ = 0;
};

// The number of 32-bit registers that a register counts as.
int weight_of(isa::Type t) { return t == isa::Type::kPred ? 0 : std::max(1, isa::size_of(t) / 4); }

}  // namespace

RegisterAllocation allocate_registers(const ptx::Function& f, program::RegisterPlaces places) {
  RegisterAllocation result;
  result.slots.assign(f.registers.size(), program::kNoSlot);
  Liveness liveness = find_liveness(f);
  result.undefined = std::move(liveness.undefined);
  const std::vector<LiveRange>& ranges = liveness.ranges;
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < ranges.size(); ++v) {
    if (!ranges[v].empty()) order.push_back(v);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ranges[a].first < ranges[b].first;
  });
  RegisterFile file;
  std::multimap<std::uint32_t, std::uint32_t> active;  // registers by the end of their range
  int live = 0;
  for (const std::uint32_t v : order) {
    while (!active.empty() && active.begin()->first < ranges[v].first) {
      const std::uint32_t gone = active.begin()->second;
      if (places == program::RegisterPlaces::kShared)
        file.give_back(result.slots[gone], RegisterFile::bytes_of(f.registers[gone].type));
      live -= weight_of(f.registers[gone].type);
      active.erase(active.begin());
    }
    result.slots[v] = file.take(RegisterFile::bytes_of(f.registers[v].type));
    active.emplace(ranges[v].last, v);
    live += weight_of(f.registers[v].type);
    result.live = std::max(result.live, live);
  }
  result.bytes = file.bytes();
  return result;
}

}  // namespace lockstep::compile
