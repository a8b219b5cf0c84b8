// The conformance suites: one test program per family, listed in a manifest that bazel/suites.bzl
// generates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct Suite {
  std::string family;   // "stencil": the name for --suite=
  std::string program;  // path among the runfiles, or absolute
  std::string label;    // "//tests:stencil_test"
  bool silicon =
      false;  // measures a GPU: does not run on the simulated GPU, nor beside other suites
  std::string filter = {};  // of properties, in GoogleTest's syntax; empty: all
};

// Parsed from lines of "family<TAB>program<TAB>label", with "<TAB>silicon" for a suite that needs a
// GPU. On an error, `suites` is empty and `error` is a sentence.
struct Manifest {
  std::vector<Suite> suites;
  std::string error;
};
Manifest parse_manifest(std::string_view text);
Manifest read_manifest(const std::string& path);

// The suites named in `wanted` (each element is one name, or several between commas), in the
// manifest's order; all if `wanted` is empty. An unknown name is an error that lists the known
// names.
Manifest select_suites(const std::vector<Suite>& all, const std::vector<std::string>& wanted);

// The selected suites that a device can run: the simulated GPU runs none that measure silicon. It
// is an error if `wanted` names such a suite there.
Manifest suites_for(bool silicon, const std::vector<Suite>& selected,
                    const std::vector<std::string>& wanted);

}  // namespace lockstep
