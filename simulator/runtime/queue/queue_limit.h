// How many operations may be queued before some are executed although nobody waits for them.
//
// Short operations are cheaper in a queue that fits into a processor's L2 cache: with 1,024, each
// launch took twice as long. A long kernel is cheaper if the host waits when it is executed: then
// nothing can race with it (work/closed.h), so more of it is proved, and it may repeat an earlier
// launch (repeats/repeats.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace lockstep::runtime {

class QueueLimit {
 public:
  // Call when an operation has been executed.
  void executed(std::chrono::steady_clock::duration time) {
    ++count_;
    mean_ += (time - mean_) / kWeight;
  }
  std::size_t most() const { return count_ >= kFew && mean_ < kLong ? kOfShort : kOfLong; }

 private:
  static constexpr std::size_t kOfShort = 128, kOfLong = 8192;
  static constexpr std::chrono::microseconds kLong{100};
  static constexpr std::uint64_t kFew = 64;
  static constexpr int kWeight = 32;  // of so many operations, each has an equal share in the mean

  std::uint64_t count_ = 0;
  std::chrono::steady_clock::duration mean_{};
};

}  // namespace lockstep::runtime
