// Looks at a program before it runs: whether the simulated GPU can serve it and, where it cannot,
// what to do about that.
#pragma once

#include <string>
#include <vector>

namespace lockstep::exec {

struct Preflight {
  enum class Verdict {
    kGo,        // it can run
    kRefused,   // it cannot be served; `sentences` say why and what to change
    kNotFound,  // there is no such program
  };
  Verdict verdict = Verdict::kGo;
  std::string program;                 // its path
  std::vector<std::string> sentences;  // reasons, or with kGo: warnings
  bool preload =
      false;  // the simulated libcudart.so.13 must be preloaded: no other way leads to it for sure
};

// The path of the program that a shell starts by this name: with a slash the name itself, else by
// PATH. Empty: there is none.
std::string find_program(const std::string& name);

// `name` as a shell would take it: a path when it has a slash, else looked for on PATH.
// `library_folder` holds the simulated libcudart.so.13, and `compute_capability` is the simulated
// device's (90 for 9.0). Scripts, and programs without device code, may go: what they start may
// have some.
Preflight look_at(const std::string& name, const std::string& library_folder,
                  int compute_capability);

// What is to be said of a library that the program needs: nothing for one that is there and is no
// business of ours. For tests.
std::string about_library(const std::string& soname, bool found);

// The libraries of the loader's list, as ldd prints it: name and path, which is empty for one that
// is not found. For tests.
struct Needed {
  std::string soname, path;
};
std::vector<Needed> parse_library_list(const std::string& text);

}  // namespace lockstep::exec
