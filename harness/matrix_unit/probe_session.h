// Common parts of the probe: querying the unit, recording findings, and finding the bit at which a
// step cuts its terms.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/matrix_unit/probe.h"
#include "harness/matrix_unit/probe_inputs.h"

namespace lockstep::matrix_unit {

class ProbeSession {
 public:
  ProbeSession(const Formats& formats, const Multiplier& multiply)
      : f_(formats), multiply_(multiply), in_(f_) {
    unit_.result_fraction_bits = f_.d.fraction_bits;
  }
  ProbeSession(const ProbeSession&) = delete;
  ProbeSession& operator=(const ProbeSession&) = delete;

 protected:
  using Certainty = Finding::Certainty;
  static constexpr int kPlaceOfC =
      -1;  // C's place among the terms of a step; the place of a product is its k
  static constexpr int kFar =
      60;  // large terms have exponents below this, so that small terms are far enough away

  static double power(int exponent) { return std::ldexp(1.0, exponent); }

  // ---- Querying the unit ----

  double value(std::uint64_t bits) const {
    const Parts p = take_apart(bits, f_.d);
    if (p.kind == Parts::Kind::kFinite) return value_of(bits, f_.d);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return p.kind == Parts::Kind::kNaN ? std::nan("") : p.negative ? -kInfinity : kInfinity;
  }
  std::vector<double> values(const std::vector<Dot>& dots) const {
    std::vector<double> out;
    for (const std::uint64_t bits : multiply_(dots)) out.push_back(value(bits));
    return out;
  }
  double value(const Dot& dot) const { return values({dot}).front(); }
  std::uint64_t bits(const Dot& dot) const { return multiply_({dot}).front(); }

  bool set(Dot& dot, int place, double v) const {
    return place == kPlaceOfC ? in_.c(dot, v) : in_.product(dot, place, v);
  }

  // ---- Recording findings ----

  void say(Property p, std::string text, Certainty c = Certainty::kMeasured) {
    m_.findings[p] = {c, std::move(text)};
  }
  void say_unclear(Property p, std::string text) {
    say(p, std::move(text), Certainty::kNotDetermined);
  }
  void say_no_effect(Property p, std::string text) {
    say(p, std::move(text), Certainty::kNoEffect);
  }
  bool known(Property p) const {
    const auto at = m_.findings.find(p);
    return at != m_.findings.end() && at->second.certainty != Certainty::kNotDetermined;
  }
  bool measured(Property p) const {
    const auto at = m_.findings.find(p);
    return at != m_.findings.end() && at->second.certainty == Certainty::kMeasured;
  }

  // ---- Exponents of large and small terms ----

  int large() const { return std::min({in_.greatest_product(), f_.d.greatest_exponent(), kFar}); }
  // The exponent of the least result.
  int least_result() const {
    return f_.d.least_exponent() - (unit_.subnormal_results ? unit_.result_fraction_bits : 0);
  }
  // A product of normal factors if that is small enough.
  int small() const {
    constexpr int kEnough = 40;
    const int normal = std::max({least_normal_product(), least_result(), large() - 2 * kFar});
    return large() - normal >= kEnough
               ? normal
               : std::max({in_.least_product(), least_result(), large() - 2 * kFar});
  }
  int least_normal_product() const { return f_.a.least_exponent() + f_.b.least_exponent(); }

  // ---- Finding the cut ----

  struct CutPlace {
    bool clear = false;
    bool all_kept = false;  // all bits down to `last` are kept
    bool none_kept = false;
    int last = 0;  // exponent of the last bit that is kept
  };

  // Finds the bit at which a term at `small_place` is cut beside the terms of `dot`. Bits from the
  // least result up are visible in the result itself. For lower bits, the place `beside` gets a
  // value at the least result, whose rounding depends on the small term.
  CutPlace find_cut_place(const Dot& dot, int from, int small_place,
                          std::optional<int> beside) const {
    return find_cut_place(dot, from, from - 2 * kFar, small_place, beside);
  }
  CutPlace find_cut_place(const Dot& dot, int from, int to, int small_place,
                          std::optional<int> beside) const;

  // The end of the kept bits, which start at exponent `from`.
  static CutPlace last_kept(int from, const std::vector<double>& got,
                            const std::vector<double>& kept);

  // A result that a term below its last bit changes: for rounding to nearest, a value halfway
  // between two results.
  struct Sensor {
    double base, sign, with, without;
  };
  std::optional<Sensor> sensor_of(int quantum) const;

  // ---- Directions of rounding ----

  // The direction that explains every result `got` for the exact value `wanted`, in units of the
  // last bit.
  std::optional<Direction> direction_of(const std::vector<double>& wanted,
                                        const std::vector<double>& got) const;

  // `v`, in units of the last bit that is kept, rounded to an integer.
  static double directed(double v, Direction d);

  const Formats f_;
  const Multiplier& multiply_;
  Inputs in_;
  UnitArithmetic unit_;
  Measurement m_;
  std::vector<int> products_;  // of the step whose sums are observed
  std::vector<int> places_;    // these products, after C if C is a term of the step
  bool has_c_ = false;         // C is a term of the step
};

}  // namespace lockstep::matrix_unit
