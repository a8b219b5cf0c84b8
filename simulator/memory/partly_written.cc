#include "simulator/memory/partly_written.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lockstep::memory {

std::uint8_t PartlyWritten::unwritten_bits(std::uint64_t place) const {
  if (empty()) return 0xff;
  const std::lock_guard lock(mutex_);
  const auto chunk = chunks_.find(place / kChunk);
  const std::uint8_t entry = chunk == chunks_.end() ? 0 : chunk->second[place % kChunk];
  return entry == 0 ? 0xff : entry;
}

void PartlyWritten::put(std::uint64_t place, std::uint8_t entry) {
  const auto chunk = chunks_.find(place / kChunk);
  if (chunk != chunks_.end()) {
    chunk->second[place % kChunk] = entry;
  } else if (entry != 0) {
    chunks_[place / kChunk][place % kChunk] = entry;
    count_.store(chunks_.size(), std::memory_order_relaxed);
  }
}

void PartlyWritten::set(std::uint64_t place, std::uint8_t unwritten) {
  const std::uint8_t entry = unwritten == 0xff ? 0 : unwritten;
  if (entry == 0 && empty()) return;
  const std::lock_guard lock(mutex_);
  put(place, entry);
}

// Visits each existing chunk that overlaps the range, with the first and last place of the overlap.
// Long ranges contain few existing chunks.
template <class Visit>
void PartlyWritten::visit(std::uint64_t place, std::uint64_t bytes, Visit visit) {
  if (bytes == 0) return;
  const std::uint64_t last = place + bytes - 1;
  const auto one = [&](std::uint64_t number, Chunk& chunk) {
    visit(number, chunk, number == place / kChunk ? place % kChunk : 0,
          number == last / kChunk ? last % kChunk : kChunk - 1);
  };
  if (bytes / kChunk > chunks_.size()) {
    for (auto& [number, chunk] : chunks_) {
      if (number >= place / kChunk && number <= last / kChunk) one(number, chunk);
    }
    return;
  }
  for (std::uint64_t number = place / kChunk; number <= last / kChunk; ++number) {
    if (const auto chunk = chunks_.find(number); chunk != chunks_.end()) one(number, chunk->second);
  }
}

void PartlyWritten::drop(std::uint64_t place, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> unused;
  visit(
      place, bytes, [&](std::uint64_t number, Chunk& chunk, std::uint64_t from, std::uint64_t to) {
        std::fill(chunk.begin() + static_cast<std::ptrdiff_t>(from),
                  chunk.begin() + static_cast<std::ptrdiff_t>(to) + 1, std::uint8_t{0});
        if (std::all_of(chunk.begin(), chunk.end(), [](std::uint8_t entry) { return entry == 0; }))
          unused.push_back(number);
      });
  for (const std::uint64_t number : unused) chunks_.erase(number);
  count_.store(chunks_.size(), std::memory_order_relaxed);
}

void PartlyWritten::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (empty()) return;
  std::vector<std::pair<std::uint64_t, std::uint8_t>> entries;
  {
    const std::lock_guard lock(mutex_);
    visit(from, bytes,
          [&](std::uint64_t number, const Chunk& chunk, std::uint64_t first, std::uint64_t last) {
            for (std::uint64_t i = first; i <= last; ++i) {
              if (chunk[i] != 0) entries.emplace_back(number * kChunk + i - from + to, chunk[i]);
            }
          });
  }
  forget(to, bytes);
  const std::lock_guard lock(mutex_);
  for (const auto& [place, entry] : entries) put(place, entry);
}

void PartlyWritten::drop_all() {
  const std::lock_guard lock(mutex_);
  chunks_.clear();
  count_.store(0, std::memory_order_relaxed);
}

}  // namespace lockstep::memory
