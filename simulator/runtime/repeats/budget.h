// How much time the search for repetitions may take: digests and copies of memory.
//
// A program either repeats its launches or does not, and the first launches of a kernel do not show
// which. So a kernel's first records may cost much. If none of them was of use, its later ones may
// cost little. A program that executes many kernels a few times each shows it by all of them.
#pragma once

namespace lockstep::runtime {

class RepeatsBudget {
 public:
  // Whether so many seconds more may be spent on a kernel. `in_vain`: of its launches, those that
  // were recorded since its last repetition.
  bool allows(double seconds, int in_vain) const {
    const bool hopeful = in_vain < kHopeful && in_vain_ < kHopefulOfAll;
    const double share = hopeful ? kOfHopeful : kOfExecuted;
    return spent_ + seconds <= kAtFirst + share * executed_ + kOfGained * gained_;
  }
  void executed(double seconds) { executed_ += seconds; }
  void spent(double seconds) { spent_ += seconds; }
  // A launch was recorded.
  void recorded() { ++in_vain_; }
  // A launch was a repetition.
  void gained(double seconds) {
    gained_ += seconds;
    in_vain_ = 0;
  }

 private:
  // What a process may spend before any launch has ended, and shares of the time of executed
  // launches and of the time that repetitions have saved.
  static constexpr double kAtFirst = 0.02, kOfExecuted = 0.02, kOfHopeful = 0.1, kOfGained = 0.5;
  static constexpr int kHopeful = 8, kHopefulOfAll = 64;

  int in_vain_ = 0;  // records of all kernels since the last repetition
  // Seconds: of executed launches, of digests and copies, and of repetitions if they were executed.
  double executed_ = 0, spent_ = 0, gained_ = 0;
};

}  // namespace lockstep::runtime
