// Requests and sectors of launches, by the transaction model and on the simulated GPU, in a form
// that can be compared with a GPU's profiler.
//
//   patterns              launches gather and scatter in every pattern, size and load path. Prints
//                         one line per launch, in order, tab-separated: name, then requests and
//                         sectors of its loads and of its stores by the model
//   patterns RECORDING    on the simulated GPU: compares the same launches with a profiler's counts
//                         (profile.sh). Exit status 1 if the simulated GPU or the model differs in
//                         any of them
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/memory_access.h"
#include "reference/transactions.h"
#include "simulator/extension.h"

namespace {

using lockstep::kernels::AccessPattern;
using lockstep::kernels::LoadPath;
using lockstep::kernels::PatternKind;
using lockstep::reference::Transactions;

// Blocks of every kind: full ones, one that lacks a whole warp, and a last warp of 13 lanes.
constexpr std::int64_t kElements = 4096 + 5 * 32 + 13;
constexpr std::int64_t kSlack = 64;  // room for offsets
constexpr std::int64_t kMaxStride = 33;

// Load requests, load sectors, store requests, store sectors.
using Counts = std::array<std::uint64_t, 4>;

struct Launch {
  std::string name;
  bool scatters = false;
  LoadPath path = LoadPath::kDefault;
  int bytes = 4;
  AccessPattern pattern;
};

std::vector<Launch> launches() {
  const std::vector<std::pair<std::string, AccessPattern>> patterns = {
      {"consecutive", {}},
      {"consecutive, offset 1", {.offset = 1}},
      {"consecutive, offset 8", {.offset = 8}},
      {"consecutive, offset 13", {.offset = 13}},
      {"consecutive, 13 lanes", {.lanes = 13}},
      {"permuted", {.kind = PatternKind::kPermuted, .factor = 5}},
      {"stride 2", {.kind = PatternKind::kStrided, .factor = 2}},
      {"stride 3, offset 1", {.kind = PatternKind::kStrided, .offset = 1, .factor = 3}},
      {"stride 8", {.kind = PatternKind::kStrided, .factor = 8}},
      {"stride 32", {.kind = PatternKind::kStrided, .factor = 32}},
      {"stride 33", {.kind = PatternKind::kStrided, .factor = kMaxStride}},
      {"one address", {.kind = PatternKind::kOneAddress, .offset = 7}},
      {"random", {.kind = PatternKind::kRandom, .factor = 7}},
  };
  const std::vector<std::pair<std::string, LoadPath>> paths = {{"", LoadPath::kDefault},
                                                               {".ca", LoadPath::kCa},
                                                               {".cg", LoadPath::kCg},
                                                               {".nc", LoadPath::kReadOnly}};
  std::vector<Launch> all;
  for (const int bytes : {1, 2, 4, 8, 16}) {
    const std::string size = " " + std::to_string(bytes) + " B, ";
    for (const auto& [name, pattern] : patterns) {
      for (const auto& [suffix, path] : paths)
        all.push_back({"gather" + suffix + size + name, false, path, bytes, pattern});
      if (pattern.kind == PatternKind::kOneAddress || pattern.kind == PatternKind::kRandom)
        continue;
      all.push_back({"scatter" + size + name, true, LoadPath::kDefault, bytes, pattern});
    }
  }
  return all;
}

void must(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "patterns: %s\n", what.c_str());
  std::exit(2);
}

// The index that the kernels compute in index_of() (kernels/memory_access.h).
std::int64_t place(const AccessPattern& p, std::int64_t t, std::int64_t count) {
  switch (p.kind) {
    case PatternKind::kConsecutive: return t + p.offset;
    case PatternKind::kPermuted: return p.offset + t / 32 * 32 + p.factor * (t % 32) % 32;
    case PatternKind::kOneAddress: return p.offset;
    case PatternKind::kStrided: return p.factor * t + p.offset;
    case PatternKind::kRandom: break;
  }
  std::uint64_t z = (static_cast<std::uint64_t>(p.factor) << 32) + static_cast<std::uint64_t>(t);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::int64_t>((z ^ (z >> 31)) % static_cast<std::uint64_t>(count));
}

Transactions model(const Launch& launch, const void* base, bool by_pattern, std::int64_t count) {
  Transactions sum;
  for (std::int64_t first = 0; first < kElements; first += 32) {
    lockstep::reference::Addresses addresses(
        std::min<std::int64_t>({32, launch.pattern.lanes, kElements - first}));
    for (Eigen::Index lane = 0; lane < addresses.size(); ++lane) {
      const std::int64_t at =
          by_pattern ? place(launch.pattern, first + lane, count) : first + lane;
      addresses(lane) =
          reinterpret_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(at * launch.bytes);
    }
    sum += lockstep::reference::request(addresses, launch.bytes);
  }
  return sum;
}

// The counts of the simulated GPU for launches since reset(); not available on silicon.
struct Counters {
  lockstepResetCounters_t reset =
      reinterpret_cast<lockstepResetCounters_t>(dlsym(RTLD_DEFAULT, "lockstepResetCounters"));
  lockstepReadCounters_t read =
      reinterpret_cast<lockstepReadCounters_t>(dlsym(RTLD_DEFAULT, "lockstepReadCounters"));

  Counts counts() const {
    lockstepCounters c = {.size = sizeof c};
    must(read(&c) == 0, "the simulated GPU has no counters");
    return {c.global_load_requests, c.global_load_sectors, c.global_store_requests,
            c.global_store_sectors};
  }
};

std::map<std::string, Counts> read_recording(const std::string& path) {
  std::ifstream in(path);
  must(in.good(), "cannot read " + path);
  std::map<std::string, Counts> recorded;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::string name;
    Counts c;
    std::istringstream cells(line);
    std::getline(cells, name, '\t');
    must(static_cast<bool>(cells >> c[0] >> c[1] >> c[2] >> c[3]),
         path + " has a line that is none: " + line);
    must(recorded.emplace(name, c).second, path + " has two lines of " + name);
  }
  return recorded;
}

std::string text(const Counts& c) {
  std::string s;
  for (const std::uint64_t v : c) s += "\t" + std::to_string(v);
  return s;
}

int run(const std::string& recording) {
  const Counters counters;
  std::map<std::string, Counts> recorded;
  if (!recording.empty()) {
    must(counters.reset != nullptr,
         "a recording is compared with the simulated GPU, and this is none");
    recorded = read_recording(recording);
  }
  const std::int64_t count = kMaxStride * kElements + kSlack;
  char *x = nullptr, *y = nullptr;
  must(cudaMalloc(reinterpret_cast<void**>(&x), count * 16) == cudaSuccess, "no device memory");
  must(cudaMalloc(reinterpret_cast<void**>(&y), count * 16) == cudaSuccess, "no device memory");
  must(cudaMemset(x, 1, count * 16) == cudaSuccess, "no device");
  int differing = 0;
  const std::vector<Launch> all = launches();
  for (const Launch& launch : all) {
    if (counters.reset != nullptr) counters.reset();
    const auto status =
        launch.scatters ? scatter(launch.pattern, launch.bytes, x, y, count, kElements)
                        : gather(launch.path, launch.pattern, launch.bytes, x, count, y, kElements);
    must(status.ok(), launch.name + ": " + status.message);
    must(cudaDeviceSynchronize() == cudaSuccess, launch.name);
    const Transactions loads = model(launch, x, !launch.scatters, count),
                       stores = model(launch, y, launch.scatters, count);
    const Counts expected = {loads.requests, loads.sectors, stores.requests, stores.sectors};
    if (recording.empty()) {
      std::printf("%s%s\n", launch.name.c_str(), text(expected).c_str());
      continue;
    }
    const auto it = recorded.find(launch.name);
    if (it != recorded.end() && it->second == expected && counters.counts() == expected) continue;
    ++differing;
    std::printf("%s: recorded%s, simulated%s, model%s\n", launch.name.c_str(),
                it == recorded.end() ? " nothing" : text(it->second).c_str(),
                text(counters.counts()).c_str(), text(expected).c_str());
  }
  if (recording.empty()) return 0;
  std::printf("%zu launches, %zu recorded, %d differ\n", all.size(), recorded.size(), differing);
  return differing == 0 && recorded.size() == all.size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return argc > 2 ? 2 : run(argc == 2 ? argv[1] : ""); }
