// The findings of this process. They are printed as they occur, kept for lockstepTakeFindings, and
// determine the exit status if no call took them.
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

// The exit status of a process that would have ended with 0 although an error was found and not
// taken.
inline constexpr int kExitWithFindings = 86;

// A finding with its number, which later calls refer to. Numbers count from 1 in a process.
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
  // Keeps findings and prints them. Suppressed ones are neither printed nor taken. Returns the
  // findings that were not reported before.
  std::vector<Reported> add(std::vector<check::Finding> findings, bool suppressed = false);

  // Adds a failed API call or refused device code: one finding for each place, even if repeats are
  // not counted. Returns its number; `first` gets the finding if it is new. A call's error stays an
  // error until the program has fetched it as often as it occurred.
  std::uint64_t add_failure(check::Finding finding, bool suppressed,
                            std::optional<Reported>* first);
  // The program has fetched the error of `times` calls. Returns the finding if this has turned it
  // into information for the first time.
  std::optional<Reported> looked_at(std::uint64_t number, std::uint64_t times);
  void again(std::uint64_t number);

  // The findings that have changed since they were reported: repeated, or fetched by the program.
  std::vector<Reported> changed() const;

  std::vector<check::Finding> take();
  bool errors_untaken() const;
  bool set_quiet(bool quiet);
  bool quiet() const;
  // Whether to print with terminal colours for the kind and the places.
  void set_colours(bool colours);

 private:
  // Additional state of a finding.
  struct State {
    std::uint64_t not_looked_at = 0;
    bool suppressed = false, changed = false, informed = false;
  };
  // Keeps the finding, or counts it if it is a repetition and `once` is set.
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

// Makes the exit status reflect errors in `log`, which must live until the process ends.
void watch_exit(const FindingLog* log);

}  // namespace lockstep::runtime
