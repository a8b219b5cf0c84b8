#include "simulator/runtime/repeats/digests.h"

#include <algorithm>
#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lockstep::runtime {
namespace {

// Whether the host may write to the memory without a call of the API.
bool host_writes(const memory::Allocation& a) {
  return a.kind == memory::Kind::kManaged || a.kind == memory::Kind::kPinned ||
         a.kind == memory::Kind::kRegistered;
}

Piece look_at(const memory::DeviceMemory& memory, const memory::Allocation& a) {
  const memory::Address end = a.base + a.size;
  const bool all_written = !a.has_shadow || memory.is_all_written(a);
  const bool fresh = !all_written && memory.first_written(a.base, a.size) == end;
  Digest contents, written;
  if (a.usable()) contents = digest_of({memory.host(a, a.base), a.size});
  if (!all_written && !fresh) {
    const std::uint8_t* const first = memory.written_shadow(a.base);
    const std::uint8_t* const last = memory.written_shadow(end - 1);
    written = digest_of(std::as_bytes(std::span(first, last + 1)));
  }
  const std::array<std::uint64_t, 8> place{a.id,       a.base,
                                           a.size,     a.begin,
                                           a.end,      static_cast<std::uint64_t>(a.kind),
                                           a.usable(), static_cast<std::uint64_t>(a.device)};
  const std::array<std::uint64_t, 6> state{contents.low, contents.high, written.low,
                                           written.high, all_written,   fresh};
  return {&a, digest_of(std::as_bytes(std::span(place))),
          digest_of(std::as_bytes(std::span(state))), fresh};
}

}  // namespace

Digest digest_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

void MemoryDigests::wrote(const memory::Box& box) {
  if (box.empty()) return;
  for (const memory::Allocation* a : live_) {
    if (a->base < box.end() && box.begin < a->base + a->size) known_.erase(a->id);
  }
}

void MemoryDigests::wrote() { known_.clear(); }

void MemoryDigests::became(std::span<const Piece> pieces) {
  for (const Piece& p : pieces) known_[p.allocation->id] = p;
}

// Brings live_ up to date. What is known of an allocation does not survive a change of the set: its
// address may have got other pages.
void MemoryDigests::follow(const memory::DeviceMemory& memory) {
  if (memory.generation() == generation_) return;
  generation_ = memory.generation();
  wrote();
  live_ = memory.live();
  shared_ = std::any_of(live_.begin(), live_.end(), [](const auto* a) { return a->shared; });
}

std::uint64_t MemoryDigests::unread_bytes(const memory::DeviceMemory& memory) {
  follow(memory);
  std::uint64_t bytes = 0;
  for (const memory::Allocation* a : live_) {
    if (host_writes(*a) || !known_.contains(a->id)) bytes += a->size;
  }
  return bytes;
}

const MemoryState* MemoryDigests::now(memory::DeviceMemory& memory) {
  follow(memory);
  if (shared_ || !memory.partly_written().empty()) return nullptr;
  state_.clear();
  for (const memory::Allocation* a : live_) {
    const auto [it, is_new] = known_.try_emplace(a->id);
    if (is_new || host_writes(*a)) it->second = look_at(memory, *a);
    state_.push_back(it->second);
  }
  return &state_;
}

}  // namespace lockstep::runtime
