// inspect FILE...: reports whether the simulated GPU can run each program. If it cannot run one, it
// reports what to change, and which kernels are refused. Exits with 0 if it can run all.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "simulator/runtime/inspect/inspect.h"
#include "simulator/runtime/state/environment.h"
#include "simulator/runtime/state/refusals.h"

namespace lockstep::runtime {
namespace {

// Says what of a program's device code is refused. False when some is.
bool say_refusals(const char* path, const Inspection& found) {
  memory::DeviceMemory memory;
  std::size_t kernels = 0;
  bool good = true;
  for (const std::vector<std::string>& texts : found.modules) {
    std::vector<std::string> own;
    for (const std::string& text : texts) {
      for (std::string& kernel : kernels_in(text)) own.push_back(std::move(kernel));
    }
    std::vector<std::string> refused;
    const std::vector<Refusal> refusals = find_refusals(texts, memory, &refused);
    kernels += own.size() - std::min(own.size(), refused.size());
    // A function that no kernel may call is in nobody's way. A module without kernels is not loaded
    // for them.
    if (refusals.empty() || (refused.empty() && !own.empty())) continue;
    good = false;
    std::string names;
    for (const std::string& kernel : refused) names += (names.empty() ? "" : ", ") + kernel;
    const bool all = refused.size() == own.size();
    std::printf("%s: the simulated GPU cannot run %s%s\n", path,
                refused.size() == 1 ? "the kernel "
                : all               ? "any of the kernels of one module: "
                                    : "the kernels ",
                names.c_str());
    for (const Refusal& r : refusals) {
      std::printf("  %s\n", r.message.c_str());
      if (!r.source.file.empty())
        std::printf("    at %s:%d\n", r.source.file.c_str(), r.source.line);
    }
  }
  if (good && kernels == 1)
    std::printf("%s: %s, which can run its kernel\n", path, found.sentence.c_str());
  if (good && kernels != 1)
    std::printf("%s: %s, which can run all of its %zu kernels\n", path, found.sentence.c_str(),
                kernels);
  if (!good && kernels != 0) std::printf("%s: its other kernels (%zu) can run\n", path, kernels);
  return good;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: %s PROGRAM...\nSays whether the simulated GPU (LOCKSTEP_DEVICE) can run "
                 "each program.\n",
                 argv[0]);
    return 2;
  }
  const auto settings =
      read_settings([](const char* name) { return std::getenv(name); }, names_in_environment());
  if (const auto* error = std::get_if<std::string>(&settings)) {
    std::fprintf(stderr, "lockstep: %s\n", error->c_str());
    return 2;
  }
  bool all = true;
  for (int i = 1; i < argc; ++i) {
    std::error_code none;
    const bool is_folder = std::filesystem::is_directory(argv[i], none);
    errno = 0;
    std::ifstream file(argv[i], std::ios::binary);
    if (is_folder || !file) {
      std::fprintf(stderr, "%s: cannot be read: %s\n", argv[i],
                   is_folder ? "it is a folder" : std::strerror(errno));
      all = false;
      continue;
    }
    const std::vector<std::uint8_t> contents{std::istreambuf_iterator<char>(file), {}};
    const Inspection found =
        inspect(contents, std::get<Settings>(settings).profile->compute_capability());
    if (found.runnable && !found.modules.empty()) {
      all = say_refusals(argv[i], found) && all;
    } else {
      std::printf("%s: %s\n", argv[i], found.sentence.c_str());
      all = all && found.runnable;
    }
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "lockstep: stdout cannot be written: %s\n", std::strerror(errno));
    return 2;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace lockstep::runtime

int main(int argc, char** argv) {
  try {
    return lockstep::runtime::main(argc, argv);
  } catch (const std::exception& error) {  // no memory for a device
    std::fprintf(stderr, "lockstep: %s\n", error.what());
    return 2;
  }
}
