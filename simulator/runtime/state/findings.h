// The findings of this process: printed as they happen, kept for lockstepTakeFindings, and shown by
// the exit status when no call took them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/check/unique_findings.h"

namespace lockstep::runtime {

// The exit status of a process that would have ended with 0 although an error was found that nobody
// took.
inline constexpr int kExitWithFindings = 86;

// A finding with the number by which it can be spoken of later. Numbers count from 1 in a process.
struct Reported {
  std::uint64_t number = 0;
  bool suppressed = false;
  check::Finding finding;
};

class FindingLog {
 public:
  // From now on a finding at a place that was reported before (check::same_place) is counted and
  // not reported again.
  void count_repeats();
  // Keeps findings and prints them. Suppressed ones are neither printed nor taken. Returns those
  // that were not reported before.
  std::vector<Reported> add(std::vector<check::Finding> findings, bool suppressed = false);

  // A call of the API failed, or device code was refused: one finding a place, whether or not
  // repeats are counted. Its number, and the finding if it was not reported before. An error of a
  // call is one until the program has looked at it as often as it happened.
  std::uint64_t add_failure(check::Finding finding, bool suppressed,
                            std::optional<Reported>* first);
  // The program has fetched the error of `times` calls. The finding, when this has made it
  // information for the first time.
  std::optional<Reported> looked_at(std::uint64_t number, std::uint64_t times);
  void again(std::uint64_t number);

  // The findings that have changed since they were reported: met again, or looked at.
  std::vector<Reported> changed() const;

  std::vector<check::Finding> take();
  bool errors_untaken() const;
  bool set_quiet(bool quiet);
  bool quiet() const;
  // Whether what is printed has a terminal's colours: the kind, the places.
  void set_colours(bool colours);

 private:
  // What is known of a finding beside itself.
  struct State {
    std::uint64_t not_looked_at = 0;
    bool suppressed = false, changed = false, informed = false;
  };
  // Keeps the finding, or counts it if it is a repetition and `once`.
  check::UniqueFindings::Added keep(check::Finding finding, bool suppressed, bool once);
  Reported reported(std::uint64_t number);
  void print(const check::Finding& finding) const;

  mutable std::mutex mutex_;
  check::UniqueFindings kept_;
  std::map<std::uint64_t, State> states_;  // by number
  bool quiet_ = false, colours_ = false, count_repeats_ = false;
};

// The array that extension.h describes.
std::string to_json(const std::vector<check::Finding>& findings);

// Makes the exit status show errors in `log`, which must live until the process ends.
void watch_exit(const FindingLog* log);

}  // namespace lockstep::runtime
