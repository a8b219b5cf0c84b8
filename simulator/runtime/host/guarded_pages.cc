#include "simulator/runtime/host/guarded_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace lockstep::runtime {
namespace {

constexpr memory::Address page_of(memory::Address address) { return address & ~(kPageBytes - 1); }

bool same(const memory::Box& a, const memory::Box& b) { return a == b; }

// Whether the program may read and write all of it.
bool is_writable(memory::Address begin, memory::Address end) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  memory::Address seen = begin;  // up to there
  char line[4096];
  while (seen < end && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long from = 0, to = 0;
    char protection[5] = {};
    if (std::sscanf(line, "%llx-%llx %4s", &from, &to, protection) != 3 || to <= seen) continue;
    if (from > seen || protection[0] != 'r' || protection[1] != 'w') break;
    seen = to;
  }
  std::fclose(maps);
  return seen >= end;
}

}  // namespace

void GuardedPages::protect(memory::Address begin, memory::Address end, Level level) {
  const int protection = level == Level::kOpen       ? PROT_READ | PROT_WRITE
                         : level == Level::kReadOnly ? PROT_READ
                                                     : PROT_NONE;
  mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

GuardedPages::Area* GuardedPages::find(memory::Address address) {
  return const_cast<Area*>(std::as_const(*this).find(address));
}

const GuardedPages::Area* GuardedPages::find(memory::Address address) const {
  auto it = areas_.upper_bound(address);
  if (it == areas_.begin()) return nullptr;
  --it;
  return address < it->second.end ? &it->second : nullptr;
}

std::vector<GuardedPages::Level> GuardedPages::wanted(const Area& area) {
  std::vector<Level> levels((area.end - area.begin) / kPageBytes, Level::kOpen);
  for (const Guard& g : area.guards) {
    for (std::uint64_t z = 0; z < g.box.depth; ++z) {
      for (std::uint64_t y = 0; y < g.box.height; ++y) {
        const memory::Address first = g.box.begin + z * g.box.slice + y * g.box.pitch;
        const memory::Address from = std::max(page_of(first), area.begin),
                              to = std::min(first + g.box.width, area.end);
        for (memory::Address page = from; page < to; page += kPageBytes) {
          Level& level = levels[(page - area.begin) / kPageBytes];
          level = std::max(level, g.level);
        }
      }
    }
  }
  return levels;
}

// Brings pages to the level that is wanted: those that have more, and with `also_raise` those that
// have less. Runs of pages change together.
void GuardedPages::apply(Area& area, const std::vector<Level>& wanted, bool also_raise) {
  const std::size_t pages = wanted.size();
  area.uniform = false;
  const auto changes = [&](std::size_t i) {
    return also_raise ? area.levels[i] != wanted[i] : area.levels[i] > wanted[i];
  };
  for (std::size_t i = 0; i < pages;) {
    if (!changes(i)) {
      ++i;
      continue;
    }
    std::size_t end = i;
    for (; end < pages && wanted[end] == wanted[i] && changes(end); ++end)
      area.levels[end] = wanted[i];
    if (!(area.registered && executing_ > 0))
      protect(area.begin + i * kPageBytes, area.begin + end * kPageBytes, wanted[i]);
    i = end;
  }
}

void GuardedPages::set_all(Area& area, Level level) {
  if (area.uniform && area.levels[0] == level) return;
  std::fill(area.levels.begin(), area.levels.end(), level);
  area.uniform = true;
  if (!(area.registered && executing_ > 0)) protect(area.begin, area.end, level);
}

bool GuardedPages::add(const memory::Allocation& allocation, Guard guard) {
  const bool registered = allocation.kind == memory::Kind::kRegistered;
  memory::Address begin = page_of(allocation.base),
                  end = page_of(allocation.base + allocation.size + kPageBytes - 1);
  if (registered) {  // others have the rest of the first and the last page
    begin = page_of(allocation.base + kPageBytes - 1);
    end = page_of(allocation.base + allocation.size);
  }
  if (begin >= end) return false;
  const std::lock_guard lock(mutex_);
  const auto known = areas_.find(begin);
  if (registered && (known == areas_.end() || known->second.id != allocation.id)) {
    const auto left_out = left_out_.find(begin);
    if (left_out != left_out_.end() && left_out->second == allocation.id) return false;
    if (!is_writable(begin, end)) {
      left_out_[begin] = allocation.id;
      return false;
    }
  }
  Area& area = areas_[begin];
  if (area.levels.empty() || area.id != allocation.id) {
    area = {};
    area.begin = begin;
    area.end = end;
    area.id = allocation.id;
    area.base = allocation.base;
    area.registered = registered;
    area.levels.assign((end - begin) / kPageBytes, Level::kOpen);
    area.steps.assign(area.levels.size(), 0);
    area.opened.assign(area.levels.size(), 0);
  }
  std::erase_if(area.guards, [&](const Guard& g) {
    return g.lane == guard.lane && g.is_kernel == guard.is_kernel && g.level <= guard.level &&
           same(g.box, guard.box);
  });
  // What was opened before is closed again: another access may follow.
  const memory::Box& box = guard.box;
  const bool closes_all = guard.level == Level::kClosed && box.height == 1 && box.depth == 1 &&
                          box.begin <= area.begin + kPageBytes - 1 &&
                          box.begin + box.width > area.end - kPageBytes;
  area.guards.push_back(std::move(guard));
  if (closes_all) {
    set_all(area, Level::kClosed);
  } else {
    apply(area, wanted(area), true);
  }
  any_ = true;
  return true;
}

void GuardedPages::update_any() {
  any_ = std::any_of(areas_.begin(), areas_.end(),
                     [](const auto& a) { return !a.second.guards.empty(); });
}

void GuardedPages::settle(const Clock& known, const IsLive& is_live) {
  const std::lock_guard lock(mutex_);
  for (auto it = areas_.begin(); it != areas_.end();) {
    Area& area = it->second;
    if (!is_live(area.base, area.id)) {
      it = areas_.erase(it);
      continue;
    }
    const std::size_t before = area.guards.size();
    std::erase_if(area.guards, [&](const Guard& g) { return known.covers(g.lane, g.sequence); });
    if (area.guards.size() != before) {
      if (!area.guards.empty()) {
        apply(area, wanted(area), false);
      } else {
        set_all(area, Level::kOpen);
        if (area.steps_of_all != 0) std::fill(area.steps.begin(), area.steps.end(), 0);
        std::fill(area.opened.begin(), area.opened.end(), 0);
        area.steps_of_all = 0;
        area.run = 1;
      }
    }
    ++it;
  }
  update_any();
}

void GuardedPages::clear(const IsLive& is_live) {
  const std::lock_guard lock(mutex_);
  for (auto& [begin, area] : areas_) {
    area.guards.clear();
    if (is_live(area.base, area.id)) apply(area, wanted(area), false);
  }
  areas_.clear();
  any_ = false;
}

GuardedPages::State GuardedPages::state(memory::Address address, bool writes) const {
  const std::lock_guard lock(mutex_);
  const Area* const area = find(address);
  if (area == nullptr) return State::kNone;
  const Level level = area->levels[(address - area->begin) / kPageBytes];
  const bool permits = level == Level::kOpen || (level == Level::kReadOnly && !writes);
  return permits ? State::kOpen : State::kProtected;
}

bool GuardedPages::sees(memory::Address address, bool writes) const {
  const std::lock_guard lock(mutex_);
  const Area* const area = find(address);
  if (area == nullptr || area->registered) return false;
  const std::size_t page = (address - area->begin) / kPageBytes;
  const Level level = area->levels[page];
  return area->opened[page] == 0 &&
         (level == Level::kClosed || (level == Level::kReadOnly && writes));
}

std::vector<GuardedPages::Guard> GuardedPages::guards(memory::Address address,
                                                      std::uint64_t size) const {
  const std::lock_guard lock(mutex_);
  std::vector<Guard> result;
  const Area* const area = find(address);
  if (area == nullptr) return result;
  for (const Guard& g : area->guards)
    if (g.box.holds_any(address, size)) result.push_back(g);
  return result;
}

void GuardedPages::open(memory::Address address, bool with_others) {
  const std::lock_guard lock(mutex_);
  Area* const area = find(address);
  if (area == nullptr) return;
  const std::size_t first = (address - area->begin) / kPageBytes;
  std::size_t end = first + 1;
  if (with_others) {
    end = std::min(first + area->run, area->levels.size());
    area->run *= 2;
  }
  for (std::size_t i = first; i < end; ++i) {
    area->levels[i] = Level::kOpen;
    area->opened[i] = 1;
  }
  area->uniform = area->levels.size() == 1;
  protect(area->begin + first * kPageBytes, area->begin + end * kPageBytes, Level::kOpen);
}

bool GuardedPages::begin_step(memory::Address address) {
  const std::lock_guard lock(mutex_);
  Area* const area = find(address);
  if (area == nullptr) return false;
  const std::size_t i = (address - area->begin) / kPageBytes;
  if (area->steps[i] >= kStepsOfPage || area->steps_of_all >= kStepsOfArea || steps_ >= kSteps)
    return false;
  ++area->steps[i];
  ++area->steps_of_all;
  ++steps_;
  const memory::Address page = area->begin + i * kPageBytes;
  protect(page, page + kPageBytes, Level::kOpen);
  return true;
}

void GuardedPages::end_step(memory::Address address) {
  const std::lock_guard lock(mutex_);
  const Area* const area = find(address);
  if (area == nullptr || (area->registered && executing_ > 0)) return;
  const std::size_t i = (address - area->begin) / kPageBytes;
  const memory::Address page = area->begin + i * kPageBytes;
  protect(page, page + kPageBytes, area->levels[i]);
}

bool GuardedPages::begin_execution() {
  if (!any_) return false;
  const std::lock_guard lock(mutex_);
  if (executing_++ > 0) return true;
  for (const auto& [begin, area] : areas_)
    if (area.registered && !area.guards.empty()) protect(area.begin, area.end, Level::kOpen);
  return true;
}

void GuardedPages::end_execution() {
  const std::lock_guard lock(mutex_);
  if (--executing_ > 0) return;
  for (auto& [begin, area] : areas_) {
    if (!area.registered || area.guards.empty()) continue;
    if (area.uniform) {
      if (area.levels[0] != Level::kOpen) protect(area.begin, area.end, area.levels[0]);
      continue;
    }
    const std::vector<Level> levels =
        std::exchange(area.levels, std::vector<Level>(area.levels.size(), Level::kOpen));
    apply(area, levels, true);
  }
}

void GuardedPages::abandon() {
  for (const auto& [begin, area] : areas_)
    if (!area.guards.empty()) protect(area.begin, area.end, Level::kOpen);
  any_ = false;
}

}  // namespace lockstep::runtime
