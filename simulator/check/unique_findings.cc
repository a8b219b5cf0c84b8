#include "simulator/check/unique_findings.h"

#include <algorithm>
#include <utility>

namespace lockstep::check {

UniqueFindings::Added UniqueFindings::add(Finding finding, std::uint64_t position) {
  const auto known = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& k) { return same_place(k.finding, finding); });
  if (known == kept_.end()) return {add_apart(std::move(finding), position), true};
  const std::uint64_t occurrences = known->finding.occurrences + finding.occurrences;
  if (position < known->position) {
    known->finding = std::move(finding);
    known->position = position;
  }
  known->finding.occurrences = occurrences;
  return {known->number, false};
}

std::uint64_t UniqueFindings::add_apart(Finding finding, std::uint64_t position) {
  kept_.push_back({++last_number_, position, std::move(finding)});
  return last_number_;
}

void UniqueFindings::count_at(Kind kind, Severity severity, const Site& site, bool by_origin,
                              std::uint64_t times) {
  const auto count = [&](const auto& is_here) {
    for (Kept& k : kept_) {
      Finding& f = k.finding;
      if (f.kind != kind || f.severity != severity || !is_here(f)) continue;
      f.occurrences += times;
      return true;
    }
    return false;
  };
  if (count([&](const Finding& f) {
        return by_origin ? f.origin && same_site(*f.origin, site) : same_site(f.access.site, site);
      }))
    return;
  // A race between blocks may have been noticed from its other side.
  count([&](const Finding& f) { return f.other && same_site(f.other->site, site); });
}

void UniqueFindings::keep_until(std::uint64_t last) {
  std::erase_if(kept_, [&](const Kept& k) { return k.position > last; });
  std::stable_sort(kept_.begin(), kept_.end(),
                   [](const Kept& a, const Kept& b) { return a.position < b.position; });
}

UniqueFindings::Kept* UniqueFindings::find(std::uint64_t number) {
  const auto it =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.number == number; });
  return it == kept_.end() ? nullptr : &*it;
}

std::vector<Finding> UniqueFindings::take() {
  std::vector<Finding> taken;
  for (Kept& k : kept_) taken.push_back(std::move(k.finding));
  kept_.clear();
  return taken;
}

}  // namespace lockstep::check
