// Variants of a kernel that test the tests: a mutant has a planted fault, which the laws must find
// for its stated reason; a negative control is right but written differently, and the laws must
// accept it. A family's kernels and their table stand together in <family>.cu.
#pragma once

#include <string>
#include <vector>

namespace lockstep::known_bad {

using Labels = std::vector<std::string>;  // of Failure::label: "mismatch", "finding:race", ...

template <class Launcher>
struct Mutant {
  std::string name;
  std::string
      change;  // the planted fault, in words; of a negative control, what it does differently
  Launcher* launch = nullptr;
  // The rejection must have one of these labels; several where the order of threads decides which
  // is seen first. None: a negative control.
  Labels rejected_for;
  // The same on silicon, where nothing watches each access ...
  Labels on_silicon;
  // ... or, if that is empty, why silicon cannot show it; then it does not run there.
  std::string simulator_only;

  bool has_fault() const { return !rejected_for.empty(); }
};

template <class Launcher>
using Mutants = std::vector<Mutant<Launcher>>;

}  // namespace lockstep::known_bad
