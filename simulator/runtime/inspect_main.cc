// inspect FILE...: says of each program whether the simulated GPU can run it, and what to change where it cannot. Exits 0 if it can run all.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "simulator/runtime/environment.h"
#include "simulator/runtime/inspect.h"

int main(int argc, char** argv) {
  using namespace lockstep::runtime;
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PROGRAM...\nSays whether the simulated GPU (LOCKSTEP_DEVICE) can run each program.\n", argv[0]);
    return 2;
  }
  const auto settings = read_settings([](const char* name) { return std::getenv(name); });
  if (const auto* error = std::get_if<std::string>(&settings)) {
    std::fprintf(stderr, "lockstep: %s\n", error->c_str());
    return 2;
  }
  bool all = true;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      all = false;
      continue;
    }
    const std::vector<std::uint8_t> contents{std::istreambuf_iterator<char>(file), {}};
    const Inspection found = inspect(contents, std::get<Settings>(settings).profile->compute_capability());
    std::printf("%s: %s\n", argv[i], found.sentence.c_str());
    all = all && found.runnable;
  }
  return all ? 0 : 1;
}
