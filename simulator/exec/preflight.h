// Inspects a program before it runs: whether the simulated GPU can run it and, if not, how to
// change the program or its build.
#pragma once

#include <string>
#include <vector>

namespace lockstep::exec {

struct Preflight {
  enum class Verdict {
    kGo,        // it can run
    kRefused,   // it cannot run; `sentences` name the reasons and the changes needed
    kNotFound,  // there is no such program
  };
  Verdict verdict = Verdict::kGo;
  std::string program;                 // its path
  std::vector<std::string> sentences;  // reasons, or warnings if the action is kGo
  bool preload =
      false;  // the simulated libcudart.so.13 must be preloaded: no other way is certain to load it
};

// The path of the program that a shell would start for `name`: `name` itself if it contains a
// slash, otherwise the result of a search on PATH. Empty if not found.
std::string find_program(const std::string& name);

// Inspects `name`, found as by find_program(). `library_folder` contains the simulated
// libcudart.so.13; `compute_capability` is the simulated device's (90 for 9.0). Accepts scripts and
// programs without device code, because the programs they start may have some.
Preflight look_at(const std::string& name, const std::string& library_folder,
                  int compute_capability);

// The warning about a library that the program needs; empty if the library was found and is
// irrelevant here. For tests.
std::string about_library(const std::string& soname, bool found);

// Parses the loader's list of libraries, as ldd prints it: names and paths. The path of a missing
// library is empty. For tests.
struct Needed {
  std::string soname, path;
};
std::vector<Needed> parse_library_list(const std::string& text);

}  // namespace lockstep::exec
