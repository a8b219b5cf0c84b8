// A program with the planted mistakes, for tools that observe a program from outside:
//
//   planted --list            prints the name and kind of each pair, one per line
//   planted NAME faulty       runs the kernel with the mistake
//   planted NAME correct      runs its negative control
//   planted all correct       runs every negative control
//
// The exit status is 2 for wrong usage, otherwise 0: it does not depend on the kernels' results.
#include <cstdio>
#include <cstring>

#include "tests/checker/checker.h"

namespace lockstep::checker {

std::vector<Pair>& pairs() {
  static std::vector<Pair> the_pairs;
  return the_pairs;
}
bool add(Pair pair) {
  pairs().push_back(pair);
  return true;
}

// Only the simulated GPU has the leak check and the strict checks.
LookForLeaks::LookForLeaks() : before_(0) {}
LookForLeaks::~LookForLeaks() = default;
Strict::Strict(unsigned) : before_(0) {}
Strict::~Strict() = default;

namespace {

void run(void (*body)()) {
  body();
  cudaDeviceSynchronize();
  cudaGetLastError();
}

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Pair& p : pairs()) std::printf("%s %s\n", p.name, p.kind);
    return 0;
  }
  const bool all = argc == 3 && std::strcmp(argv[1], "all") == 0,
             faulty = argc == 3 && std::strcmp(argv[2], "faulty") == 0;
  if (argc != 3 || (!faulty && std::strcmp(argv[2], "correct") != 0) || (all && faulty)) return 2;
  bool found = false;
  for (const Pair& p : pairs()) {
    if (!all && std::strcmp(argv[1], p.name) != 0) continue;
    found = true;
    if (all) std::fprintf(stderr, "== %s\n", p.name);
    run(faulty ? p.faulty : p.correct);
  }
  return found ? 0 : 2;
}

}  // namespace
}  // namespace lockstep::checker

int main(int argc, char** argv) { return lockstep::checker::main(argc, argv); }
