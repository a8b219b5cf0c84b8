#include "simulator/vectors/compiled.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace lockstep::vectors {

std::string compiled(const std::string& text, const std::string& ptxas,
                     const std::string& architecture) {
  if (ptxas.empty()) return text;
  const std::string base = "lockstep-module";
  std::ofstream(base + ".ptx") << text;
  const std::string command =
      ptxas + " -arch=" + architecture + " -o " + base + ".cubin " + base + ".ptx";
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "failed: %s\n", command.c_str());
    std::exit(1);
  }
  std::ifstream in(base + ".cubin", std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

}  // namespace lockstep::vectors
