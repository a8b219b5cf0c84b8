// Examines a program before it runs: whether the simulated GPU can serve it and, if not, what to
// change.
#pragma once

#include <string>
#include <vector>

namespace lockstep::exec {

struct Preflight {
  enum class Verdict {
    kGo,        // it can run
    kRefused,   // it cannot be served; `sentences` explain why and what to change
    kNotFound,  // there is no such program
  };
  Verdict verdict = Verdict::kGo;
  std::string program;                 // its path
  std::vector<std::string> sentences;  // reasons or, with kGo, warnings
  bool preload =
      false;  // the simulated libcudart.so.13 must be preloaded: no other way is reliable
};

// The path of the program that a shell would start for this name: the name itself if it contains a
// slash, otherwise the program found by PATH. Empty if there is none.
std::string find_program(const std::string& name);

// `name` as in a shell: a path if it contains a slash, otherwise searched in PATH. `library_folder`
// contains the simulated libcudart.so.13. `compute_capability`: of the simulated device (90 for
// 9.0). Scripts, and programs without device code, may run, since programs that they start may have
// device code.
Preflight look_at(const std::string& name, const std::string& library_folder,
                  int compute_capability);

// The message about a library that the program needs; empty if it is found and irrelevant here. For
// tests.
std::string about_library(const std::string& soname, bool found);

// The libraries in the loader's list, as ldd prints it: name and path. The path is empty if the
// library is not found. For tests.
struct Needed {
  std::string soname, path;
};
std::vector<Needed> parse_library_list(const std::string& text);

}  // namespace lockstep::exec
