// Replays corpora. Arguments are archives corpus/TARGET.tar.xz. A crash, an abort of a target or a
// hang fails the test. The input's name is printed before it runs, so it is the last line of the
// log.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "simulator/fuzz/targets.h"

namespace {

namespace fs = std::filesystem;

const std::map<std::string, void (*)(lockstep::fuzz::Bytes)> kTargets = {
    {"fatbin", lockstep::fuzz::fatbin},
    {"program", lockstep::fuzz::program},
    {"ptx", lockstep::fuzz::ptx}};

// A hang is detected long before the test's own time limit.
constexpr unsigned kSecondsAnInput = 20;

bool unpack(const fs::path& archive, const fs::path& folder) {
  fs::create_directories(folder);
  const pid_t child = fork();
  if (child == 0) {
    execlp("tar", "tar", "-xJf", archive.c_str(), "-C", folder.c_str(),
           static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int replay(const fs::path& archive, const fs::path& scratch) {
  const std::string target =
      archive.filename().string().substr(0, archive.filename().string().find('.'));
  const auto run = kTargets.find(target);
  const fs::path folder = scratch / target;
  if (run == kTargets.end() || !unpack(archive, folder)) {
    std::fprintf(stderr, "%s is no corpus of a target, or cannot be unpacked\n", archive.c_str());
    return -1;
  }
  std::vector<fs::path> inputs;
  for (const auto& entry : fs::directory_iterator(folder)) inputs.push_back(entry.path());
  std::sort(inputs.begin(), inputs.end());
  for (const fs::path& input : inputs) {
    std::ifstream file(input, std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
    std::printf("%s %s\n", target.c_str(), input.filename().c_str());
    std::fflush(stdout);
    alarm(kSecondsAnInput);
    run->second(bytes);
    alarm(0);
  }
  return static_cast<int>(inputs.size());
}

}  // namespace

int main(int argc, char** argv) {
  const char* scratch = std::getenv("TEST_TMPDIR");
  for (int i = 1; i < argc; ++i) {
    if (replay(argv[i],
               scratch != nullptr ? scratch : fs::temp_directory_path() / "lockstep-corpus") <= 0)
      return 1;
  }
  return argc > 1 ? 0 : 1;
}
