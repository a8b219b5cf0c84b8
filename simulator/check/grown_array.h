// GrownArray: an array that grows in chunks while other host threads read it. Pool: elements of
// such an array that host threads take and give back.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace lockstep::check {

template <class T>
class GrownArray {
 public:
  // At most `most` elements.
  explicit GrownArray(std::uint32_t most)
      : chunks_(std::make_unique<std::atomic<T*>[]>(most / kChunk + 1)) {}

  // Element i. grown_to() must have made it before. An element never moves.
  T& operator[](std::uint32_t i) const {
    return chunks_[i / kChunk].load(std::memory_order_acquire)[i % kChunk];
  }
  // Element i, made if necessary. Its value is left from an earlier use, or undefined.
  T& grown_to(std::uint32_t i) {
    std::atomic<T*>& chunk = chunks_[i / kChunk];
    if (chunk.load(std::memory_order_acquire) == nullptr) grow(chunk);
    return chunk.load(std::memory_order_relaxed)[i % kChunk];
  }

 private:
  static constexpr std::uint32_t kChunk = 4096;
  void grow(std::atomic<T*>& chunk) {
    std::lock_guard lock(mutex_);
    if (chunk.load(std::memory_order_relaxed) != nullptr) return;
    owned_.push_back(std::make_unique_for_overwrite<T[]>(kChunk));
    chunk.store(owned_.back().get(), std::memory_order_release);
  }

  std::unique_ptr<std::atomic<T*>[]> chunks_;
  std::vector<std::unique_ptr<T[]>> owned_;
  std::mutex mutex_;
};

// How many elements a host thread reserves at a time.
inline constexpr std::uint32_t kLot = 64;

template <class T>
class Pool {
 public:
  explicit Pool(std::uint32_t most) : elements_(most) {}

  // The elements that one host thread has reserved or given back.
  class Lot {
   public:
    void give_back(std::uint32_t i) { given_back_.push_back(i); }

   private:
    friend class Pool;
    std::uint32_t next_ = 0, end_ = 0;
    std::vector<std::uint32_t> given_back_;
  };

  // Restarts the pool: no element is in use, and at most `limit` will be.
  void start(std::uint32_t limit) {
    count_ = 0;
    limit_ = limit;
  }
  // How many elements have been taken.
  std::uint32_t used() const { return count_.load(std::memory_order_relaxed); }
  // Takes an element; `i` is its number. Returns false if there are no more.
  bool take(std::uint32_t& i, Lot& lot) {
    if (!lot.given_back_.empty()) {
      i = lot.given_back_.back();
      lot.given_back_.pop_back();
      return true;
    }
    if (lot.next_ == lot.end_) {
      const std::uint32_t first = count_.fetch_add(kLot, std::memory_order_relaxed);
      if (first >= limit_) {
        count_ = limit_;  // keeps the counter far from wrapping
        return false;
      }
      lot.next_ = first;
      lot.end_ = first + kLot;
    }
    i = lot.next_++;
    elements_.grown_to(i);
    return true;
  }
  T& operator[](std::uint32_t i) const { return elements_[i]; }

 private:
  GrownArray<T> elements_;
  std::atomic<std::uint32_t> count_{0};
  std::uint32_t limit_ = 0;
};

}  // namespace lockstep::check
