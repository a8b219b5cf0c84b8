// A kernel under suspicion: one with a planted mistake, which the laws must reject for its stated reason, or a twin
// that is right but written differently, which they must accept. A family's kernels and their table stand together in
// <family>.cu.
#pragma once

#include <string>
#include <vector>

namespace lockstep::known_bad {

using Labels = std::vector<std::string>;  // of Failure::label: "mismatch", "finding:race", ...

template <class Launcher>
struct Suspect {
  std::string name;
  std::string trap;  // the mistake, in words; for a twin, what it does differently
  Launcher* launch = nullptr;
  // The rejection must have one of these labels; several where the order of threads decides which is seen first. None:
  // a twin.
  Labels rejected_for;
  // The same on silicon, where nothing watches each access ...
  Labels on_silicon;
  // ... or, if that is empty, why silicon cannot show it; then it is not tried there.
  std::string simulator_only;

  bool is_bad() const { return !rejected_for.empty(); }
};

template <class Launcher>
using Suspects = std::vector<Suspect<Launcher>>;

}  // namespace lockstep::known_bad
