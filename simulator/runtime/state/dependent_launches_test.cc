// Chains of grids that may overlap, compared with a simple model: a graph of the orders that every
// execution of a programmatic dependent launch guarantees, and a search for paths in it.
#include "simulator/runtime/state/dependent_launches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "simulator/engine/tests/testing.h"

namespace lockstep::runtime {
namespace dependent_launches_test {

constexpr std::uint32_t kSlots = 6, kThreads = 64;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  std::uint32_t operator()(std::uint32_t n) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::uint32_t>((state_ >> 33) % n);
  }

 private:
  std::uint64_t state_;
};

enum class What { kRead, kWrite, kWait, kStart, kBarrier };
// How a grid is launched into the stream: it may overlap with its predecessor, it may not, or
// another operation precedes it.
enum class Put { kOverlapping, kPlain, kAfterSomethingElse };

struct Step {
  What what = What::kRead;
  std::uint32_t thread = 0;  // 0 or 32; for a barrier, all threads
  std::uint32_t slot = 0;
  int node = 0;
};
struct Grid {
  Put put = Put::kOverlapping;
  std::vector<std::vector<Step>> blocks;
  int begin = 0, end = 0;  // nodes of the graph
};

// Only thread 0 of a block waits and triggers, so program order decides which comes first. At most
// one thread of a grid accesses a slot: races within a grid are not tested here.
Grid random_grid(Random& random) {
  Grid g;
  const std::uint32_t put = random(8);
  g.put = put == 0 ? Put::kPlain : put == 1 ? Put::kAfterSomethingElse : Put::kOverlapping;
  g.blocks.resize(1 + random(2));
  std::uint32_t owner[kSlots];
  for (std::uint32_t& o : owner) o = random(4);
  for (std::uint32_t b = 0; b < g.blocks.size(); ++b) {
    const std::uint32_t steps = 1 + random(6);
    for (std::uint32_t k = 0; k < steps; ++k) {
      Step s;
      const std::uint32_t what = random(10);
      s.what = what < 3    ? What::kRead
               : what < 6  ? What::kWrite
               : what == 6 ? What::kWait
               : what < 9  ? What::kStart
                           : What::kBarrier;
      s.slot = random(kSlots);
      if (s.what == What::kRead || s.what == What::kWrite) {
        if (owner[s.slot] / 2 != b) continue;
        s.thread = owner[s.slot] % 2 * 32;
      }
      g.blocks[b].push_back(s);
    }
  }
  return g;
}

std::string text_of(const Grid& g) {
  std::string s = R"(
.visible .entry k(.param .u64 data)
{
  .reg .pred %p<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
)";
  for (std::uint32_t b = 0; b < g.blocks.size(); ++b) {
    const std::string next = "NEXT" + std::to_string(b);
    s += "  setp.ne.u32 %p1, %r2, " + std::to_string(b) + ";\n  @%p1 bra " + next + ";\n";
    for (const Step& k : g.blocks[b]) {
      const std::string place = "[%rd1+" + std::to_string(4 * k.slot) + "]";
      if (k.what != What::kBarrier)
        s += "  setp.eq.u32 %p2, %r1, " + std::to_string(k.thread) + ";\n  @%p2 ";
      switch (k.what) {
        case What::kRead: s += "ld.global.u32 %r3, " + place + ";\n"; break;
        case What::kWrite: s += "st.global.u32 " + place + ", %r1;\n"; break;
        case What::kWait: s += "griddepcontrol.wait;\n"; break;
        case What::kStart: s += "griddepcontrol.launch_dependents;\n"; break;
        case What::kBarrier: s += "  bar.sync 0;\n"; break;
      }
    }
    s += next + ":\n";
  }
  return s + "  ret;\n}\n";
}

std::string text_of(const std::vector<Grid>& grids) {
  std::string s;
  for (const Grid& g : grids) {
    const char* const put[] = {"overlapping", "plain", "after something else"};
    s += std::string("grid, ") + put[static_cast<int>(g.put)] + text_of(g);
  }
  return s;
}

// The order that holds in every execution.
class Model {
 public:
  void add(Grid& g) {
    g.begin = node();
    g.end = node();
    if (!grids_.empty()) {
      const Grid& before = grids_.back();
      bool started = false;
      for (const auto& block : before.blocks) {
        for (const Step& s : block) started |= s.what == What::kStart;
      }
      if (g.put == Put::kOverlapping) {
        // A grid starts when every block of the previous grid has triggered it or has ended.
        for (std::size_t b = 0; b < before.blocks.size(); ++b) edge(starts_[b], g.begin);
        if (!started) edge(before.end, g.begin);
      } else {
        for (const Grid& h : grids_) edge(h.end, g.begin);
      }
    }
    starts_.clear();
    for (auto& block : g.blocks) {
      int last[2] = {g.begin, g.begin}, start = -1;
      for (Step& s : block) {
        s.node = node();
        const bool all = s.what == What::kBarrier;
        for (const int t : {0, 1}) {
          if (!all && s.thread != static_cast<std::uint32_t>(32 * t)) continue;
          edge(last[t], s.node);
          last[t] = s.node;
        }
        if (s.what == What::kWait && !grids_.empty()) edge(grids_.back().end, s.node);
        if (s.what == What::kStart && start < 0) start = s.node;
      }
      const int end = node();
      for (const int l : last) edge(l, end);
      edge(end, g.end);
      starts_.push_back(start < 0 ? end : start);
    }
    grids_.push_back(g);
  }

  // Accesses of a grid are ordered before others when the grid has ended.
  bool is_ordered(const Grid& before, const Step& after) const {
    return is_before(before.end, after.node);
  }

 private:
  int node() {
    edges_.emplace_back();
    return static_cast<int>(edges_.size()) - 1;
  }
  void edge(int from, int to) { edges_[static_cast<std::size_t>(from)].push_back(to); }
  bool is_before(int from, int to) const {
    if (from == to) return true;
    for (const int next : edges_[static_cast<std::size_t>(from)]) {
      if (is_before(next, to)) return true;
    }
    return false;
  }
  std::vector<std::vector<int>> edges_;
  std::vector<Grid> grids_;
  std::vector<int> starts_;  // the node, by block, from which on it no longer delays the next grid
};

bool is_access(const Step& s) { return s.what == What::kRead || s.what == What::kWrite; }

// Whether the step races with an access of an earlier grid. `alone`: no other grid has accessed the
// slot, so that no access has been forgotten.
bool races(const Model& model, const std::vector<Grid>& earlier, const Grid& grid, const Step& step,
           bool& alone) {
  bool found = false;
  std::size_t touched = 0;
  for (const Grid& h : earlier) {
    bool touches = false;
    for (const auto& block : h.blocks) {
      for (const Step& s : block) {
        if (!is_access(s) || s.slot != step.slot) continue;
        touches = true;
        found |=
            (s.what == What::kWrite || step.what == What::kWrite) && !model.is_ordered(h, step);
      }
    }
    touched += touches;
  }
  alone = touched == 1;
  for (const auto& block : grid.blocks) {
    for (const Step& s : block)
      alone = alone && (s.node >= step.node || !is_access(s) || s.slot != step.slot);
  }
  return found;
}

TEST(DependentLaunches, OrderWhatTheGraphOfTheirExecutionsOrders) {
  std::uint32_t found = 0, clean = 0, expected = 0;
  engine::testing::Machine gpu;
  const memory::Address data = gpu.buffer(std::vector<std::uint32_t>(kSlots, 7), "data");
  for (std::uint64_t chain = 0; chain < 400; ++chain) {
    Random random(chain);
    DependentLaunches launches;
    Model model;
    std::vector<Grid> grids;
    for (int k = 0; k < 5; ++k) {
      Grid grid = random_grid(random);
      model.add(grid);
      gpu.load(text_of(grid));
      if (grid.put == Put::kAfterSomethingElse) launches.forget();
      gpu.config.running_grids = launches.before(nullptr, grid.put != Put::kPlain);
      const engine::Outcome outcome =
          gpu.launch("k", static_cast<std::uint32_t>(grid.blocks.size()), kThreads, data);
      launches.ran(nullptr, "k", outcome);
      bool must_be_found = false;
      std::vector<Step> racing;
      for (const auto& block : grid.blocks) {
        for (const Step& s : block) {
          bool alone = false;
          if (!is_access(s) || !races(model, grids, grid, s, alone)) continue;
          racing.push_back(s);
          must_be_found |= alone;
        }
      }
      grids.push_back(grid);
      expected += must_be_found;
      if (outcome.findings.empty()) {
        ASSERT_FALSE(must_be_found) << "chain " << chain << ":\n" << text_of(grids);
        if (racing.empty()) ++clean;
        if (!racing.empty()) break;
        continue;
      }
      ++found;
      const check::Finding& f = outcome.findings[0];
      const auto slot = static_cast<std::uint32_t>((f.access.address - data) / 4);
      const auto accused = [&](const Step& s) {
        return s.slot == slot && s.thread == f.access.thread.x &&
               (s.what == What::kWrite) == f.access.is_write;
      };
      ASSERT_TRUE(std::any_of(racing.begin(), racing.end(), accused))
          << engine::testing::text(outcome) << "\nchain " << chain << ":\n"
          << text_of(grids);
      break;
    }
  }
  std::printf("%u grids race, %u of them for certain to be found; %u do not\n", found, expected,
              clean);
  EXPECT_GT(expected, 100u);
  EXPECT_GT(clean, 300u);
}

}  // namespace dependent_launches_test
}  // namespace lockstep::runtime
