// Variants of a kernel that test the laws. A mutant has a planted fault, which the laws must find
// for its stated reason. A negative control is correct but written differently, and the laws must
// accept it. <family>.cu holds a family's kernels and their table.
#pragma once

#include <string>
#include <vector>

namespace lockstep::known_bad {

using Labels = std::vector<std::string>;  // of Failure::label: "mismatch", "finding:race", ...

template <class Launcher>
struct Mutant {
  std::string name;
  std::string change;  // the planted fault; for a negative control, the difference
  Launcher* launch = nullptr;
  // The rejection must have one of these labels. Several, if the order of threads decides which
  // failure is seen first. Empty for a negative control.
  Labels rejected_for;
  // The labels on silicon, where no check watches each access.
  Labels on_silicon;
  // If that is empty: why silicon cannot show the fault. The mutant does not run there.
  std::string simulator_only;

  bool has_fault() const { return !rejected_for.empty(); }
};

template <class Launcher>
using Mutants = std::vector<Mutant<Launcher>>;

}  // namespace lockstep::known_bad
