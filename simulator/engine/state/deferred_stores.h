// Stores that the search for races records only if somebody may race with them.
//
// In a closed launch (LaunchConfig::closed) some stores can race with nothing but a load whose
// address is not known before: what is proved of the other accesses excludes them. Most kernels
// never make such a load, so these stores are only listed. The first access to their allocation
// that is not among the proved ones ends this: all listed stores are recorded, and from then on
// every access is. So the search finds what it would have found otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "simulator/check/access_records.h"
#include "simulator/engine/state/vocabulary.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine {

class DeferredStores {
 public:
  // Stores of `lanes`, lane i to `size` bytes at first + i * size.
  struct Row {
    check::AccessRecord by;
    memory::Address first = 0;
    LaneMask lanes = 0;
    std::uint16_t size = 0;
    std::uint16_t warps = 1;  // of the block, each with the row behind that of the one before

    // The row of a warp, from 0 on.
    Row of_warp(std::uint32_t warp) const {
      Row row = *this;
      row.by.warp = static_cast<std::uint8_t>(by.warp + warp);
      row.first += std::uint64_t{warp} * kWarpSize * size;
      row.warps = 1;
      return row;
    }
    bool is_followed_by(const Row& row) const {
      const Row next = of_warp(warps);
      return row.by == next.by && row.first == next.first && row.lanes == lanes && row.size == size;
    }
  };
  // The rows of one host thread.
  class List {
   private:
    friend class DeferredStores;
    alignas(64) std::atomic<bool> taken_{false};
    std::vector<Row> rows_;
  };
  // More rows of a host thread than this are not listed.
  static constexpr std::size_t kMostRows = 1 << 20;

  // `bases`: the allocations, sorted. `proved`: for each operation of the kernel, from `first_pc`
  // on, whether it is one of those that are proved apart.
  DeferredStores(std::vector<memory::Address> bases, std::uint32_t first_pc,
                 std::vector<bool> proved)
      : bases_(std::move(bases)), first_pc_(first_pc), proved_(std::move(proved)) {}

  bool covers(const memory::Allocation& a) const {
    return std::binary_search(bases_.begin(), bases_.end(), a.base);
  }
  bool is_proved(std::uint32_t pc) const {
    return pc - first_pc_ < proved_.size() && proved_[pc - first_pc_];
  }
  // Whether every access is recorded by now.
  bool are_recorded() const { return recorded_.load(std::memory_order_acquire); }

  // A list for each of `threads` host threads, before they start.
  void start(std::size_t threads) { lists_ = std::vector<List>(threads); }
  List* list(std::size_t thread) { return &lists_[thread]; }
  // False: the store must be recorded.
  bool add(List& list, const Row& row) {
    const Taken taken(*this, list);
    if (are_recorded()) return false;
    if (!list.rows_.empty() && list.rows_.back().is_followed_by(row)) {
      ++list.rows_.back().warps;
      return true;
    }
    if (list.rows_.size() == kMostRows) return false;
    list.rows_.push_back(row);
    return true;
  }
  // Calls `record` for each listed row, those of a thread in the order of its stores.
  template <class Record>
  void record_all(Record record) {
    const std::lock_guard lock(mutex_);
    recorded_.store(true, std::memory_order_release);
    for (List& list : lists_) {
      const Taken taken(*this, list);
      for (const Row& row : list.rows_) {
        for (std::uint32_t warp = 0; warp < row.warps; ++warp) record(row.of_warp(warp));
      }
      std::vector<Row>().swap(list.rows_);
    }
  }

 private:
  class Taken {
   public:
    Taken(const DeferredStores& all, List& list) : list_(all.lists_.size() > 1 ? &list : nullptr) {
      while (list_ != nullptr && list_->taken_.exchange(true, std::memory_order_acquire))
        std::this_thread::yield();
    }
    ~Taken() {
      if (list_ != nullptr) list_->taken_.store(false, std::memory_order_release);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

   private:
    List* const list_;
  };

  const std::vector<memory::Address> bases_;
  const std::uint32_t first_pc_;
  const std::vector<bool> proved_;
  std::atomic<bool> recorded_{false};
  std::mutex mutex_;
  std::vector<List> lists_;
};

}  // namespace lockstep::engine
