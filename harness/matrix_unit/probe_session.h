// What the parts of the probe share: asking the unit, saying what was found, and finding where a
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
  static constexpr int kPlaceOfC = -1;  // among the terms of a step; products have their k
  static constexpr int kFar =
      60;  // exponents of large terms stay below, so that small ones are far enough

  static double power(int exponent) { return std::ldexp(1.0, exponent); }

  // ---- Asking the unit ----

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

  // ---- Saying what was found ----

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

  // ---- How large terms are ----

  int large() const { return std::min({in_.greatest_product(), f_.d.greatest_exponent(), kFar}); }
  // The least result that a small term can be by itself.
  int least_result() const {
    return f_.d.least_exponent() - (unit_.subnormal_results ? unit_.result_fraction_bits : 0);
  }
  // As a product of normal factors where that is small enough.
  int small() const {
    constexpr int kEnough = 40;
    const int normal = std::max({least_normal_product(), least_result(), large() - 2 * kFar});
    return large() - normal >= kEnough
               ? normal
               : std::max({in_.least_product(), least_result(), large() - 2 * kFar});
  }
  int least_normal_product() const { return f_.a.least_exponent() + f_.b.least_exponent(); }

  // ---- Where a step cuts ----

  struct CutPlace {
    bool clear = false;
    bool all_kept = false;  // down to `last`
    bool none_kept = false;
    int last = 0;  // exponent of the last bit that is kept
  };

  // The place where a term at `small_place` is cut beside those that `dot` has: down to the least
  // result it is seen by itself; below, where `beside` is another place, beside the least result,
  // which rounds otherwise with it and without.
  CutPlace find_cut_place(const Dot& dot, int from, int small_place,
                          std::optional<int> beside) const {
    return find_cut_place(dot, from, from - 2 * kFar, small_place, beside);
  }
  CutPlace find_cut_place(const Dot& dot, int from, int to, int small_place,
                          std::optional<int> beside) const;

  // Of bits from exponent `from` down, where those that are kept end.
  static CutPlace last_kept(int from, const std::vector<double>& got,
                            const std::vector<double>& kept);

  // A result that a term below it changes: halfway between two where sums are rounded to the
  // nearest.
  struct Sensor {
    double base, sign, with, without;
  };
  std::optional<Sensor> sensor_of(int quantum) const;

  // ---- Directions ----

  // The direction that explains all: what was got for each multiple of a unit.
  std::optional<Direction> direction_of(const std::vector<double>& wanted,
                                        const std::vector<double>& got) const;

  // `v`, in units of the last bit that stays, as an integer of them.
  static double directed(double v, Direction d);

  const Formats f_;
  const Multiplier& multiply_;
  Inputs in_;
  UnitArithmetic unit_;
  Measurement m_;
  std::vector<int> products_;  // of the step in which sums are looked at
  std::vector<int> places_;    // and C, first, where it is a term of it
  bool has_c_ = false;         // whether it is
};

}  // namespace lockstep::matrix_unit
