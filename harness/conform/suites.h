// The conformance suites: one test program a family, listed in a manifest that bazel/suites.bzl
// writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct Suite {
  std::string family;   // "stencil": what --suite= names
  std::string program;  // path among the runfiles, or absolute
  std::string label;    // "//tests:stencil_test"
  bool silicon =
      false;  // it measures a GPU: nothing for the simulated one, and nothing may run beside it
  std::string filter = {};  // of its properties, as GoogleTest takes it; empty: all
};

// Lines of "family<TAB>program<TAB>label", and "<TAB>silicon" for a suite that needs a GPU. On an
// error `suites` is empty and `error` a sentence.
struct Manifest {
  std::vector<Suite> suites;
  std::string error;
};
Manifest parse_manifest(std::string_view text);
Manifest read_manifest(const std::string& path);

// The suites that `wanted` names (each element one name or several between commas), in the
// manifest's order; all when nothing is wanted. A name that no suite has is an error that lists the
// known ones.
Manifest select_suites(const std::vector<Suite>& all, const std::vector<std::string>& wanted);

// Those of them that a device can run: on the simulated GPU not the ones that measure silicon.
// Naming one of these there (`wanted`) is an error.
Manifest suites_for(bool silicon, const std::vector<Suite>& selected,
                    const std::vector<std::string>& wanted);

}  // namespace lockstep
