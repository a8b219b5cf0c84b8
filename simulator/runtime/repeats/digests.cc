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

Digest digest_of_piece(const memory::DeviceMemory& memory, const memory::Allocation& a) {
  Digest contents, written;
  if (a.usable()) contents = digest_of({memory.host(a, a.base), a.size});
  const bool all_written = !a.has_shadow || memory.is_all_written(a);
  if (a.usable() && !all_written) {
    const std::uint8_t* const first = memory.written_shadow(a.base);
    const std::uint8_t* const last = memory.written_shadow(a.base + a.size - 1);
    written = digest_of(std::as_bytes(std::span(first, last + 1)));
  }
  const std::array<std::uint64_t, 10> all{
      a.base,       a.end,        a.begin,     a.size,      a.id,
      contents.low, contents.high, written.low, written.high,
      static_cast<std::uint64_t>(a.kind) | static_cast<std::uint64_t>(a.usable()) << 8 |
          static_cast<std::uint64_t>(all_written) << 9 | static_cast<std::uint64_t>(a.device) << 16};
  return digest_of(std::as_bytes(std::span(all)));
}

}  // namespace

Digest digest_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

void MemoryDigests::wrote(const memory::Box& box) {
  if (box.empty()) return;
  for (const memory::Allocation* a : live_) {
    if (a->base >= box.end() || a->base + a->size <= box.begin) continue;
    known_[a->id].valid = false;
    changes_ = true;
  }
}

void MemoryDigests::wrote() {
  known_.clear();
  changes_ = true;
}

void MemoryDigests::became(std::span<const Piece> pieces) {
  for (const Piece& p : pieces) known_[p.allocation->id] = {true, p.digest};
  changes_ = true;
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
    const auto it = known_.find(a->id);
    if (host_writes(*a) || it == known_.end() || !it->second.valid) bytes += a->size;
  }
  return bytes;
}

const MemoryState* MemoryDigests::now(memory::DeviceMemory& memory) {
  follow(memory);
  if (shared_ || !memory.partly_written().empty()) return nullptr;
  bool changed = changes_;
  changes_ = false;
  for (const memory::Allocation* a : live_) {
    Known& known = known_[a->id];
    if (known.valid && !host_writes(*a)) continue;
    const Digest digest = digest_of_piece(memory, *a);
    changed |= !known.valid || digest != known.digest;
    known = {true, digest};
  }
  if (!changed) return &state_;
  state_.pieces.clear();
  std::vector<Digest> all;
  for (const memory::Allocation* a : live_) {
    state_.pieces.push_back({a, known_[a->id].digest});
    all.push_back(state_.pieces.back().digest);
  }
  state_.whole = digest_of(std::as_bytes(std::span(all)));
  return &state_;
}

}  // namespace lockstep::runtime
