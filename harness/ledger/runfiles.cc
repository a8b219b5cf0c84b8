#include "harness/ledger/runfiles.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// A folder of the prefix under which the program `self` is installed as libexec/lockstep/<program>.
fs::path installed(const fs::path& self, const char* folder) {
  return self.parent_path().parent_path().parent_path() / folder;
}

std::vector<fs::path> roots() {
  std::vector<fs::path> roots;
  // The program's own folder first: the variables may belong to a parent process.
  std::array<char, PATH_MAX> self{};
  const ssize_t n = readlink("/proc/self/exe", self.data(), self.size() - 1);
  if (n > 0) roots.push_back(std::string(self.data(), static_cast<std::size_t>(n)) + ".runfiles");
  for (const char* variable : {"RUNFILES_DIR", "TEST_SRCDIR"}) {
    if (const char* value = std::getenv(variable)) roots.push_back(value);
  }
  if (n > 0)
    roots.push_back(installed(std::string(self.data(), static_cast<std::size_t>(n)), "share"));
  return roots;
}

// The workspace's folder: its name under WORKSPACE, _main under MODULE.bazel, or another name that
// a rule sets.
std::vector<std::string> workspaces() {
  std::vector<std::string> names = {"lockstep", "_main"};
  for (const char* variable : {"LOCKSTEP_WORKSPACE", "TEST_WORKSPACE"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      names.push_back(value);
  }
  return names;
}

}  // namespace

std::string runfile(std::string_view path) {
  for (const fs::path& root : roots()) {
    for (const std::string& workspace : workspaces()) {
      std::error_code error;
      const fs::path candidate = root / workspace / path;
      if (fs::exists(candidate, error)) return fs::absolute(candidate).string();
    }
  }
  return "";
}

}  // namespace lockstep
