// A kernel under suspicion: one with a planted mistake, which the laws must reject for its stated reason, or a twin that is right but written
// differently, which they must accept. A family's kernels and their table stand together in <family>.cu.
#pragma once

#include <string>
#include <vector>

namespace lockstep::known_bad {

template <class Launcher>
struct Suspect {
  std::string name;
  std::string trap;  // the mistake, in words; for a twin, what it does differently
  // Labels (Failure::label) of which the rejection must have one. Several where the order of threads decides which is seen first; none for a twin.
  std::vector<std::string> rejected_for;
  Launcher* launch = nullptr;
  // The same on silicon, where nothing watches each access ...
  std::vector<std::string> rejected_on_silicon_for;
  // ... or why silicon cannot show it; then it is not tried there.
  std::string simulator_only;
};

}  // namespace lockstep::known_bad
