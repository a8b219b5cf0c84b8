// Arrays that grow by chunks while other host threads read them, and elements of such an array that
// host threads use for a while.
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

  // Element i, which grown_to() has made before. An element stays where it is.
  T& operator[](std::uint32_t i) const {
    return chunks_[i / kChunk].load(std::memory_order_acquire)[i % kChunk];
  }
  // Element i, which is made if it is not there yet. Its value is that of an earlier use, or none.
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

// How many numbers a host thread sets aside for itself at a time.
inline constexpr std::uint32_t kLot = 64;

template <class T>
class Pool {
 public:
  explicit Pool(std::uint32_t most) : elements_(most) {}

  // What one host thread has set aside, and what it has given back.
  class Lot {
   public:
    void give_back(std::uint32_t i) { given_back_.push_back(i); }

   private:
    friend class Pool;
    std::uint32_t next_ = 0, end_ = 0;
    std::vector<std::uint32_t> given_back_;
  };

  // Nothing is in use any more, and at most `limit` elements will be.
  void start(std::uint32_t limit) {
    count_ = 0;
    limit_ = limit;
  }
  // How many have been in use.
  std::uint32_t used() const { return count_.load(std::memory_order_relaxed); }
  // The number of an element to use. False when there are no more.
  bool take(std::uint32_t& i, Lot& lot) {
    if (!lot.given_back_.empty()) {
      i = lot.given_back_.back();
      lot.given_back_.pop_back();
      return true;
    }
    if (lot.next_ == lot.end_) {
      const std::uint32_t first = count_.fetch_add(kLot, std::memory_order_relaxed);
      if (first >= limit_) {
        count_ = limit_;  // far from where it would wrap
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
