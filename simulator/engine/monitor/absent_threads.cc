#include "simulator/engine/monitor/absent_threads.h"

#include <algorithm>
#include <bit>
#include <string>

#include "simulator/engine/monitor/reports.h"
#include "simulator/engine/state/launch_state.h"

namespace lockstep::engine {
namespace {

constexpr auto kKind = check::Kind::kBarrierDivergence;
// Further places are counted only.
constexpr std::size_t kMaxPlaces = 3;

// For each operation of a function, by pc - entry: whether a thread can reach `goal` from it.
std::vector<bool> can_reach(const Program& program, const Function& function, std::uint32_t goal) {
  std::vector<bool> reaches(function.end - function.entry);
  const auto known = [&](std::uint32_t pc) {
    return pc >= function.entry && pc < function.end && reaches[pc - function.entry];
  };
  const auto leads_there = [&](std::uint32_t pc) {
    const Op& op = program.ops[pc];
    const bool guarded = op.guard != kNoSlot;
    if (op.kind == OpKind::kBranch)
      return known(op.as<BranchFields>().target()) || (guarded && known(pc + 1));
    if (op.action == Action::kBranchTable) {
      const auto& table = program.tables[op.as<SideDataFields>().index()];
      return std::any_of(table.begin(), table.end(), known) || (guarded && known(pc + 1));
    }
    const bool ends =
        op.action == Action::kReturn || op.action == Action::kExit || op.action == Action::kTrap;
    return (!ends || guarded) && known(pc + 1);
  };
  reaches[goal - function.entry] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t pc = function.end; pc-- > function.entry;) {
      if (reaches[pc - function.entry] || !leads_there(pc)) continue;
      reaches[pc - function.entry] = changed = true;
    }
  }
  return reaches;
}

// The branches that lead to the barrier on one side only and to the exit on the other. If there are
// several, it is not known which one a thread took.
std::vector<std::uint32_t> parting_branches(const Program& program, std::uint32_t barrier,
                                            std::uint32_t exit) {
  const Function& function = program.function_at(barrier);
  if (&function != &program.function_at(exit)) return {};
  const std::vector<bool> to_barrier = can_reach(program, function, barrier),
                          to_exit = can_reach(program, function, exit);
  std::vector<std::uint32_t> branches;
  for (std::uint32_t pc = function.entry; pc + 1 < function.end; ++pc) {
    const Op& op = program.ops[pc];
    if (op.kind != OpKind::kBranch || op.guard == kNoSlot) continue;
    const std::uint32_t taken = op.as<BranchFields>().target() - function.entry,
                        next = pc + 1 - function.entry;
    if (to_barrier[taken] == to_barrier[next]) continue;
    if (to_exit[to_barrier[taken] ? next : taken]) branches.push_back(pc);
  }
  return branches;
}

// "a.cu:3 (ret), a.cu:7 (ret) and 2 more places": each source line once.
std::string places(const Program& program, const std::vector<std::uint32_t>& operations) {
  std::vector<check::Site> sites;
  for (const std::uint32_t pc : operations) {
    check::Site site = site_of(program, pc);
    if (std::none_of(sites.begin(), sites.end(),
                     [&](const check::Site& s) { return check::same_site(s, site); }))
      sites.push_back(std::move(site));
  }
  const std::size_t named = std::min(sites.size(), kMaxPlaces);
  std::string s;
  for (std::size_t i = 0; i < named; ++i) {
    s += (i == 0 ? "" : i + 1 == sites.size() ? " and " : ", ") + sites[i].to_string();
  }
  if (sites.size() > named) s += " and " + std::to_string(sites.size() - named) + " more places";
  return s;
}

std::string where_they_left(const Program& program, std::uint32_t barrier,
                            const AbsentThreads& absent) {
  const std::vector<std::uint32_t> exits = absent.exits();
  std::vector<std::uint32_t> branches;
  for (const std::uint32_t exit : exits) {
    for (const std::uint32_t b : parting_branches(program, barrier, exit)) {
      if (std::find(branches.begin(), branches.end(), b) == branches.end()) branches.push_back(b);
    }
  }
  std::string s =
      (absent.count() == 1 ? "It ended at " : "They ended at ") + places(program, exits);
  if (branches.size() == 1) s += "; the branch past the barrier is at " + places(program, branches);
  if (branches.size() > 1)
    s += "; the branches past the barrier are at " + places(program, branches);
  return s;
}

// The pc of the kernel's own frame that corresponds to the split's operation: the operation itself,
// or the call that leads to it.
std::uint32_t place_in_kernel(const Warp& w, const WarpSplit& split) {
  std::uint32_t pc = split.pc;
  for (const Frame* f = &w.control->frames[split.frame]; f->caller >= 0;
       f = &w.control->frames[f->caller])
    pc = f->return_pc - 1;
  return pc;
}

}  // namespace

void note_exit(Warp& w, LaneMask lanes) {
  std::vector<WarpExit>& exits = w.control->exits;
  const std::uint32_t pc = w.pc - 1;
  if (!exits.empty() && exits.back().pc == pc) {
    exits.back().lanes |= lanes;
  } else {
    exits.push_back({pc, lanes});
  }
  w.block->some_exited = true;
}

void AbsentThreads::add(const Warp& w, LaneMask lanes) {
  if (lanes == 0) return;
  count_ += static_cast<std::uint32_t>(std::popcount(lanes));
  for (const WarpExit& exit : w.control->exits) {
    if ((exit.lanes & lanes) != 0 &&
        std::find(exits_.begin(), exits_.end(), exit.pc) == exits_.end())
      exits_.push_back(exit.pc);
  }
}

std::vector<std::uint32_t> AbsentThreads::exits() const {
  std::vector<std::uint32_t> sorted = exits_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

bool begins_to_miss(Warp& w, std::uint32_t pc) {
  const Launch& launch = *w.block->launch;
  if (launch.strict_barriers) {
    if (already_reported(w, kKind, pc)) return false;
    first_time(w, kKind, pc);
    return true;
  }
  return launch.check_synchronisation && first_time(w, kKind, pc, ReportedSite::As::kInformation);
}

bool report_absent(Warp& w, const Warp& at, const WarpSplit& split, const AbsentThreads& absent,
                   const char* group) {
  const Launch& launch = *w.block->launch;
  check::Finding f = finding_at(at, split.pc, split.mask & -split.mask, kKind);
  f.where = std::to_string(absent.count()) +
            (absent.count() == 1 ? " thread of " : " threads of ") + group +
            (absent.count() == 1 ? " has ended and never comes" : " have ended and never come") +
            " to this barrier";
  f.detail = where_they_left(*w.block->program, place_in_kernel(at, split), absent) +
             ".\n  Hardware goes on without them; CUDA's programming model wants all threads of " +
             group + " at the barrier, or none.";
  if (launch.strict_barriers) return !report_unless_suppressed(w, std::move(f));
  f.severity = check::Severity::kInformation;
  report(w, std::move(f));
  return true;
}

}  // namespace lockstep::engine
