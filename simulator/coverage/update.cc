// Writes docs/reference/ptx_coverage.md: bazel run //simulator/coverage:update
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "simulator/coverage/page.h"

int main(int argc, char** argv) {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr || argc < 3) {
    std::fprintf(stderr, "usage: bazel run //simulator/coverage:update\n");
    return 2;
  }
  const std::string path = std::string(workspace) + "/docs/reference/ptx_coverage.md";
  std::ofstream out(path, std::ios::binary);
  out << lockstep::coverage::coverage_page(
      argv[1], lockstep::coverage::judges_of(std::vector<std::string>(argv + 2, argv + argc)));
  if (!out.flush()) {
    std::fprintf(stderr, "%s cannot be written\n", path.c_str());
    return 1;
  }
  std::printf("%s\n", path.c_str());
}
