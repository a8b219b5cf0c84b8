#include "harness/ledger/verdict.h"

#include <array>
#include <cstddef>

namespace lockstep {
namespace {

constexpr std::array<const char*, 5> kVerdicts = {"pass", "fail", "waived", "not applicable",
                                                  "not run"};
constexpr std::array<const char*, 11> kReasons = {
    "none",           "mismatch",   "unwritten", "guard",     "input-changed", "law",
    "nondeterminism", "cuda-error", "finding",   "exception", "expectation",
};
static_assert(kVerdicts.size() == static_cast<std::size_t>(Verdict::kNotRun) + 1);
static_assert(kReasons.size() == static_cast<std::size_t>(Reason::kExpectation) + 1);

}  // namespace

const char* name(Verdict v) { return kVerdicts.at(static_cast<std::size_t>(v)); }
const char* name(Reason r) { return kReasons.at(static_cast<std::size_t>(r)); }

bool parse_verdict(std::string_view text, Verdict& out) {
  for (std::size_t i = 0; i < kVerdicts.size(); ++i) {
    if (text == kVerdicts[i]) {
      out = static_cast<Verdict>(i);
      return true;
    }
  }
  return false;
}

std::string Failure::label() const {
  if (reason == Reason::kFinding && !finding.empty()) return "finding:" + finding;
  return name(reason);
}

}  // namespace lockstep
