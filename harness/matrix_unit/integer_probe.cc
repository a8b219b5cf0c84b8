#include "harness/matrix_unit/integer_probe.h"

#include <algorithm>
#include <limits>

namespace lockstep::matrix_unit {
namespace {

using Certainty = Finding::Certainty;

constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min(),
                       kGreatest = std::numeric_limits<std::int32_t>::max();

std::int64_t factor_of(std::uint64_t bits, const IntegerUnit& unit, const IntegerFormats& f) {
  const bool negative =
      unit.has_sign && f.factor_bits > 1 && (bits >> (f.factor_bits - 1) & 1) != 0;
  return static_cast<std::int64_t>(bits) - (negative ? std::int64_t{1} << f.factor_bits : 0);
}

Dot zeros(const IntegerFormats& f) {
  const auto k = static_cast<std::size_t>(f.k);
  return {std::vector<std::uint64_t>(k), std::vector<std::uint64_t>(k), 0};
}

}  // namespace

std::uint64_t element_of(const IntegerUnit& unit, const IntegerFormats& f, const Dot& dot) {
  std::int64_t sum = static_cast<std::int32_t>(dot.c);
  for (std::size_t k = 0; k < dot.a.size(); ++k) {
    if (f.factor_bits == 1) {
      sum += static_cast<std::int64_t>(unit.counts_differing ? dot.a[k] ^ dot.b[k]
                                                             : dot.a[k] & dot.b[k]);
    } else {
      sum += factor_of(dot.a[k], unit, f) * factor_of(dot.b[k], unit, f);
    }
  }
  if (unit.saturates) sum = std::clamp(sum, kLeast, kGreatest);
  return static_cast<std::uint32_t>(sum);
}

bool IntegerMeasurement::explains_all() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const auto& f) { return f.second.certainty != Certainty::kNotDetermined; });
}

IntegerMeasurement measure(const IntegerFormats& f, const Multiplier& multiply) {
  IntegerMeasurement m;
  const auto say = [&](const char* name, const std::string& text) {
    m.findings.push_back(
        {name, {text.empty() ? Certainty::kNotDetermined : Certainty::kMeasured, text}});
  };
  const std::uint64_t ones = (std::uint64_t{1} << f.factor_bits) - 1;
  const std::size_t last = static_cast<std::size_t>(f.k) - 1;

  // The largest bit pattern times one; the largest sum plus one; and two products that cancel.
  Dot product = zeros(f), above = zeros(f), back = zeros(f), forth = zeros(f);
  product.a[0] = ones, product.b[0] = 1;
  above.a[0] = above.b[0] = 1, above.c = static_cast<std::uint64_t>(kGreatest);
  back.a[0] = ones, back.b[0] = 1, back.a[last] = 1, back.b[last] = 1;
  forth.a[0] = 1, forth.b[0] = 1, forth.a[last] = ones, forth.b[last] = 1;
  back.c = static_cast<std::uint64_t>(kGreatest);
  forth.c = back.c;
  const std::vector<std::uint64_t> got = multiply({product, above, back, forth});
  if (f.factor_bits == 1) {
    m.unit.counts_differing = got[0] == 0;
    say("counts", got[0] == 0 ? "bits that differ" : got[0] == 1 ? "bits that are both set" : "");
  } else {
    m.unit.has_sign = got[0] == 0xffffffff;
    say("factors", got[0] == 0xffffffff ? "signed" : got[0] == ones ? "unsigned" : "");
  }
  // When differing bits are counted, 1 and 0 count as one.
  Dot over = above;
  if (m.unit.counts_differing) over.b[0] = 0;
  const std::uint64_t beyond = multiply({over}).front();
  m.unit.saturates = beyond == static_cast<std::uint64_t>(kGreatest);
  say("overflow", beyond == 0x80000000 ? "wraps" : m.unit.saturates ? "saturates" : "");
  if (m.unit.has_sign) {
    // 1 and -1 leave C unchanged, in either order: no intermediate sum is limited.
    const bool whole = got[2] == back.c && got[3] == back.c;
    say("is limited", whole ? "the sum of all" : "");
  }
  return m;
}

}  // namespace lockstep::matrix_unit
