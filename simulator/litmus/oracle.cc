#include "simulator/litmus/oracle.h"

#include <algorithm>
#include <bit>

namespace lockstep::litmus {

const char* name(Verdict v) {
  switch (v) {
    case Verdict::kRace: return "race";
    case Verdict::kFree: return "free";
    case Verdict::kMixed: return "mixed";
    case Verdict::kInvalid: return "invalid";
    case Verdict::kTooLarge: return "too large";
  }
  return "";
}

namespace {

// Whether some execution may not terminate.
bool may_block(const Program& p) {
  for (const Thread& t : p.threads) {
    for (const Op& op : t.ops) {
      const bool part = (op.kind == Kind::kBarSync && op.warps != 0) || op.kind == Kind::kBarArrive;
      if (awaits(op) || part || op.kind == Kind::kWait || op.kind == Kind::kWarpSync) return true;
      if (op.kind == Kind::kClusterWait || op.kind == Kind::kBarSync) return true;
    }
  }
  return false;
}

class Explorer {
 public:
  Explorer(const Program& program, const Search& search)
      : setting_(program, search.rules),
        search_(search),
        whole_(search.everything || may_block(program)) {}

  Judgement run() {
    explore(Execution(setting_), 0, false);
    Verdict& v = judgement_.verdict;
    if (too_large_) {
      v = Verdict::kTooLarge;
    } else if (stuck_) {
      v = Verdict::kInvalid;
    } else {
      v = racy_ ? free_ ? Verdict::kMixed : Verdict::kRace : Verdict::kFree;
    }
    return std::move(judgement_);
  }

 private:
  bool over() const { return too_large_ || stuck_ || (!whole_ && racy_ && free_); }

  void explore(const Execution& before, std::uint8_t asleep, bool raced) {
    const std::uint8_t enabled = before.enabled();
    if (before.cut()) {
      racy_ |= raced;
      judgement_.cut = true;
      return;
    }
    if (enabled == 0 || before.broken()) {
      if (!before.finished() || before.broken()) {
        stuck_ = true;
        return;
      }
      ++judgement_.executions;
      (raced ? racy_ : free_) = true;
      if (search_.everything) {
        OfOutcome& o = judgement_.outcomes[before.outcome()];
        (raced ? o.races : o.free) = true;
      }
      return;
    }
    for (std::uint8_t left = enabled & static_cast<std::uint8_t>(~asleep); left != 0 && !over();
         left = static_cast<std::uint8_t>(left & (left - 1))) {
      const int t = std::countr_zero(left);
      if (++judgement_.steps > search_.most_steps) {
        too_large_ = true;
        return;
      }
      std::uint8_t next_asleep = 0;
      for (std::uint8_t u = asleep; u != 0; u = static_cast<std::uint8_t>(u & (u - 1))) {
        const int other = std::countr_zero(u);
        if (!search_.every_order &&
            setting_.independent(t, before.next(t), other, before.next(other))) {
          next_asleep |= static_cast<std::uint8_t>(1u << other);
        }
      }
      Execution after = before;
      const std::size_t known = races_.size();
      after.step(t, races_);
      const bool races = raced || races_.size() > known;
      if (search_.everything)
        judgement_.races.insert(races_.begin() + static_cast<std::ptrdiff_t>(known), races_.end());
      races_.resize(known);
      if (races && !whole_) {
        racy_ = true;
      } else {
        explore(after, next_asleep, races);
      }
      if (!search_.every_order) asleep |= static_cast<std::uint8_t>(1u << t);
    }
  }

  const Setting setting_;
  const Search search_;
  const bool whole_;  // continues after a race
  bool racy_ = false, free_ = false, stuck_ = false, too_large_ = false;
  std::vector<Race> races_;
  Judgement judgement_;
};

}  // namespace

Judgement judge(const Program& program, const Search& search) {
  return Explorer(program, search).run();
}

}  // namespace lockstep::litmus
