// Random calls of the CUDA runtime, right and wrong ones, on silicon or on the simulated GPU.
//
// calls record FIRST COUNT: prints what each call of COUNT seeds returns, from seed FIRST
// calls check FILE: compares these answers with those in FILE, which was compressed by zstd
//
// Each seed has a process of its own, since an implementation may end it. The calls are compiled
// with this file, since nvcc takes seconds for each.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>

#include "tests/calls/array_calls.cu"
#include "tests/calls/copy_calls.cu"
#include "tests/calls/device_calls.cu"
#include "tests/calls/graph_calls.cu"
#include "tests/calls/graph_exec_calls.cu"
#include "tests/calls/launch_calls.cu"
#include "tests/calls/memory_calls.cu"
#include "tests/calls/rig.cu"
#include "tests/calls/stream_calls.cu"
#include "tests/calls/transcripts.h"

namespace lockstep::calls {
namespace {

constexpr int kCalls = 60;

void run(std::uint64_t seed, std::FILE* out) {
  Rig rig(seed, out);
  std::vector<Call> all;
  std::size_t weights = 0;
  for (const auto& more : {memory_calls(), copy_calls(), stream_calls(), launch_calls(),
                           graph_calls(), graph_exec_calls(), array_calls(), device_calls()})
    all.insert(all.end(), more.begin(), more.end());
  for (const Call& call : all) weights += static_cast<std::size_t>(call.weight);
  for (int i = 0; i < kCalls; ++i) {
    auto at = static_cast<int>(rig.random.below(weights));
    std::size_t chosen = 0;
    while ((at -= all[chosen].weight) >= 0) ++chosen;
    all[chosen].make(rig);
  }
  rig.end();
}

// What a seed prints.
std::string transcript(std::uint64_t seed) {
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
  if (status != 0) text += calls::text("process status %#x\n", status);
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

int check(const std::string& path) {
  const std::vector<Transcript> all = split(read_compressed(path));
  int differences = 0;
  for (const Transcript& expected : all) {
    const std::vector<Transcript> now = split(transcript(expected.seed));
    differences +=
        report_difference(expected, now.empty() ? std::vector<std::string>{} : now.front().lines);
  }
  std::printf("%zu seeds of %d calls, %d differ\n", all.size(), kCalls, differences);
  return all.empty() || differences != 0 ? 1 : 0;
}

}  // namespace
}  // namespace lockstep::calls

int main(int argc, char** argv) {
  using namespace lockstep::calls;
  try {
    if (argc == 3 && std::strcmp(argv[1], "check") == 0) return check(argv[2]);
    if (argc == 4 && std::strcmp(argv[1], "record") == 0) {
      const std::uint64_t first = std::strtoull(argv[2], nullptr, 10);
      const std::uint64_t count = std::strtoull(argv[3], nullptr, 10);
      for (std::uint64_t seed = first; seed < first + count; ++seed)
        std::fputs(transcript(seed).c_str(), stdout);
      return 0;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "calls: %s\n", error.what());
    return 2;
  }
  std::fprintf(stderr, "usage: calls record FIRST COUNT | calls check FILE\n");
  return 2;
}
