#include "tests/calls/seeds.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "tests/calls/random.h"
#include "tests/calls/transcripts.h"

namespace lockstep::calls {
namespace {

// What a seed prints.
std::string transcript(std::uint64_t seed, void (*run)(std::uint64_t, std::FILE*)) {
  std::FILE* const file = std::tmpfile();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    run(seed, file);
    std::fflush(file);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::string text;
  std::rewind(file);
  char part[4096];
  while (const std::size_t size = std::fread(part, 1, sizeof part, file)) text.append(part, size);
  std::fclose(file);
  if (status != 0) text += calls::text("process status %#x\n", static_cast<unsigned>(status));
  return text;
}

// Writes the first line that differs and those before it. Returns whether there is one.
bool report_difference(const Transcript& expected, const std::vector<std::string>& lines) {
  const std::size_t count = std::max(expected.lines.size(), lines.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::string want = i < expected.lines.size() ? expected.lines[i] : "nothing";
    const std::string have = i < lines.size() ? lines[i] : "nothing";
    if (want == have) continue;
    std::printf("seed %llu\n", static_cast<unsigned long long>(expected.seed));
    for (std::size_t j = 0; j < i; ++j) std::printf("  %s\n", lines[j].c_str());
    std::printf("  recorded: %s\n  now:      %s\n", want.c_str(), have.c_str());
    return true;
  }
  return false;
}

int check(const std::string& path, void (*run)(std::uint64_t, std::FILE*)) {
  const std::vector<Transcript> all = split(read_compressed(path));
  int differences = 0;
  for (const Transcript& expected : all) {
    const std::vector<Transcript> now = split(transcript(expected.seed, run));
    differences +=
        report_difference(expected, now.empty() ? std::vector<std::string>{} : now.front().lines);
  }
  std::printf("%zu seeds, %d differ\n", all.size(), differences);
  return all.empty() || differences != 0 ? 1 : 0;
}

}  // namespace

int run_seeds(int argc, char** argv, void (*run)(std::uint64_t seed, std::FILE* out)) {
  try {
    if (argc == 3 && std::strcmp(argv[1], "check") == 0) return check(argv[2], run);
    if (argc == 4 && std::strcmp(argv[1], "record") == 0) {
      const std::uint64_t first = std::strtoull(argv[2], nullptr, 10);
      const std::uint64_t count = std::strtoull(argv[3], nullptr, 10);
      for (std::uint64_t seed = first; seed < first + count; ++seed)
        std::fputs(transcript(seed, run).c_str(), stdout);
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
  std::fprintf(stderr, "usage: %s record FIRST COUNT | %s check FILE\n", argv[0], argv[0]);
  return 2;
}

}  // namespace lockstep::calls
