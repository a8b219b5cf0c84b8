#include "harness/matrix_unit/probe.h"

#include <bit>
#include <optional>

#include "harness/matrix_unit/probe_specials.h"
#include "harness/matrix_unit/step_order.h"

namespace lockstep::matrix_unit {
namespace {

using enum Property;

constexpr int kEqual =
    8;  // exponent of the terms of a sum; a product must be able to have the exponents below

class Probe : public SpecialsProbe {
 public:
  using SpecialsProbe::SpecialsProbe;

  Measurement run() {
    find_subnormal_factors();
    unit_.subnormal_results = false;  // not used before it has been seen
    find_steps();
    if (known(kSteps) && known(kC)) {
      choose_step();
      find_subnormal_results();
      find_fraction_bits();
      if (known(kFractionBits)) {
        find_cut();
        find_result_bits();
        find_rounding();
        find_exponents();
        find_zero_exponent();
        find_between_steps();
      }
    }
    if (unit_.adds_c_last) find_rounding_of_c();
    find_specials();
    for (int p = 0; p <= static_cast<int>(kNaN); ++p)
      m_.findings.try_emplace(static_cast<Property>(p), Finding{});
    m_.unit = unit_;
    return std::move(m_);
  }

 private:
  // ---- Steps ----

  // For each triple, whether the small one of three terms survives.
  std::vector<bool> survives(const std::vector<Triple>& triples) const {
    std::vector<Dot> dots;
    const double l = power(large()), s = power(small());
    for (const Triple& t : triples) {
      Dot& d = dots.emplace_back(in_.zeros());
      set(d, t.plus, l), set(d, t.minus, -l), set(d, t.small, s);
    }
    std::vector<bool> left;
    for (const double v : values(dots)) left.push_back(v == s);
    return left;
  }

  void find_steps() {
    const StepOrder order =
        find_step_order(f_.k, [this](const auto& triples) { return survives(triples); });
    if (!order.unclear.empty()) {
      say_unclear(kSteps, order.unclear);
      say_unclear(kC, order.unclear);
      return;
    }
    unit_.steps = order.steps;
    unit_.adds_c_last = order.c_last;
    say(kSteps, text_of(order.steps));
    say(kC, order.c_last ? "is added at the end" : "is a term of the first step");
  }

  // Chooses the step to observe: the last of those with the most products, because later steps
  // would cut its sum again. Lists its places, with C first if C is a term of the step. If steps
  // have one product each, C is the accumulator that they pass on.
  void choose_step() {
    for (const std::vector<int>& step : unit_.steps) {
      if (step.size() >= products_.size()) products_ = step;
    }
    has_c_ = !unit_.adds_c_last && (unit_.steps.size() == 1 || products_.size() == 1);
    places_ = products_;
    if (has_c_) places_.insert(places_.begin(), kPlaceOfC);
  }

  // ---- What a step keeps of its terms ----

  void find_fraction_bits() {
    if (products_.size() == 1) return find_fused();
    if (products_.size() < 3)
      return say_unclear(kFractionBits, "a step has less than three products");
    const int e = large();
    Dot dot = in_.zeros();
    set(dot, products_[0], power(e)), set(dot, products_[1], -power(e));
    const CutPlace cut = find_cut_place(dot, e - 1, products_[2], std::nullopt);
    if (!cut.clear) return say_unclear(kFractionBits, "what is kept is no row of bits");
    unit_.fraction_bits = cut.all_kept ? kExactBits : e - cut.last;
    if (cut.all_kept) return say(kFractionBits, std::to_string(e - cut.last), Certainty::kAtLeast);
    if (const std::vector<int>& first = unit_.steps.front();
        !unit_.adds_c_last && first.size() >= 2) {
      Dot beside = in_.zeros();
      set(beside, first[0], power(e)), set(beside, first[1], -power(e));
      const CutPlace of_c = find_cut_place(beside, e - 1, kPlaceOfC, std::nullopt);
      if (of_c.clear && !of_c.all_kept && of_c.last != cut.last)
        return say_unclear(kFractionBits, std::to_string(e - cut.last) + " of products, " +
                                              std::to_string(e - of_c.last) + " of C");
    }
    say(kFractionBits, std::to_string(unit_.fraction_bits));
  }

  // For steps of one product plus the accumulator: whether all bits of the product count.
  void find_fused() {
    Dot dot = in_.zeros();
    const double x = 1 + power(-f_.a.fraction_bits), y = 1 - power(-f_.b.fraction_bits - 1);
    if (!has_c_ || !in_.c(dot, -1) || !in_.factors(dot, products_[0], x, y, false) ||
        value(dot) != std::fma(x, y, -1.0))
      return say_unclear(kFractionBits, "one product a step, and not all of its bits count");
    unit_.fraction_bits = kExactBits;
    say(kFractionBits, std::to_string(f_.a.fraction_bits + f_.b.fraction_bits + 1),
        Certainty::kAtLeast);
  }

  void find_cut() {
    if (!measured(kFractionBits)) return say_no_effect(kCut, "nothing is");
    const int e = large();
    const double unit = power(e - unit_.fraction_bits);
    std::vector<Dot> dots;
    std::vector<double> wanted;
    for (const double v : {0.5, 0.75, 1.25, 1.5, 1.75}) {
      for (const double sign : {1.0, -1.0}) {
        Dot d = in_.zeros();
        set(d, products_[0], power(e)), set(d, products_[1], -power(e));
        if (!set(d, products_[2], sign * v * unit)) continue;
        dots.push_back(d);
        wanted.push_back(sign * v);
      }
    }
    std::vector<double> got = values(dots);
    for (double& v : got) v /= unit;
    const auto direction = wanted.size() < 8 ? std::nullopt : direction_of(wanted, got);
    if (!direction) return say_unclear(kCut, "no direction explains what is left");
    unit_.cut = *direction;
    say(kCut, text_of(*direction));
  }

  // ---- How a sum is rounded ----

  // A sum of equal terms in all places but one, 2^sum_exponent(). It has more bits than one of its
  // terms.
  Dot sum_of_equals(double sign) const {
    Dot d = in_.zeros();
    for (int i = 0; i < 1 << (sum_exponent() - kEqual); ++i)
      set(d, places_[static_cast<std::size_t>(i)], sign * power(kEqual));
    return d;
  }
  int sum_exponent() const { return kEqual + std::bit_width(places_.size() - 1) - 1; }
  // The exponent of the last bit kept beside the equal terms.
  int last_kept_beside_equals() const { return kEqual - unit_.fraction_bits; }

  void find_result_bits() {
    const int m = sum_exponent(), most = f_.d.fraction_bits;
    std::vector<Dot> dots;
    std::vector<double> kept;
    for (int j = 1; j <= most && m - j >= last_kept_beside_equals(); ++j) {
      Dot d = sum_of_equals(1);
      if (!set(d, places_.back(), power(m - j))) break;
      dots.push_back(d);
      kept.push_back(power(m) + power(m - j));
    }
    const std::vector<double> got = values(dots);
    std::size_t n = 0;
    while (n < got.size() && got[n] == kept[n]) ++n;
    for (std::size_t i = n; i < got.size(); ++i) {
      if (got[i] == kept[i]) return say_unclear(kResultBits, "what is kept is no row of bits");
    }
    if (n == got.size() && n < static_cast<std::size_t>(most))
      return say(kResultBits, std::to_string(n), Certainty::kAtLeast);
    unit_.result_fraction_bits = static_cast<int>(n);
    say(kResultBits, std::to_string(n));
  }

  // Tests `base` plus half a place, after an even and an odd number of places, with both signs. A
  // place has the exponent `last`.
  template <class Make>
  std::optional<Direction> find_direction(double base, double last, const Make& make) const {
    std::vector<Dot> dots;
    std::vector<double> wanted;
    for (const double sign : {1.0, -1.0}) {
      for (const double places : {0.5, 1.5}) {
        Dot d = in_.zeros();
        if (!make(d, sign, sign * places * last)) return std::nullopt;
        dots.push_back(d);
        wanted.push_back(sign * places);
      }
    }
    // Subtracts the base, an even number of places, which needs no rounding.
    std::vector<double> got = values(dots);
    for (std::size_t i = 0; i < got.size(); ++i)
      got[i] = (got[i] - (wanted[i] < 0 ? -base : base)) / last;
    return direction_of(wanted, got);
  }

  void find_rounding() {
    const int m = sum_exponent(), last = m - unit_.result_fraction_bits;
    if (!known(kResultBits)) return say_unclear(kRounding, "");
    if (!measured(kResultBits) || last - 1 < last_kept_beside_equals())
      return say_no_effect(kRounding, "no sum is longer");
    const auto direction =
        find_direction(power(m), power(last), [&](Dot& d, double sign, double rest) {
          d = sum_of_equals(sign);
          return set(d, places_.back(), rest);
        });
    if (!direction) return say_unclear(kRounding, "no direction explains the results");
    unit_.rounding = *direction;
    say(kRounding, text_of(*direction));
  }

  void find_rounding_of_c() {
    const auto direction =
        find_direction(1, power(-f_.d.fraction_bits), [&](Dot& d, double sign, double rest) {
          return in_.product(d, 0, sign) && in_.c(d, rest);
        });
    if (!direction)
      return say_unclear(kC, "is added at the end; no direction explains the results");
    unit_.c_rounding = *direction;
    say(kC, "is added at the end, rounded " + text_of(*direction));
  }

  // The first step passes its sum to the next. The last step subtracts the part of the sum that
  // needs no rounding.
  void find_between_steps() {
    if (unit_.steps.size() == 1) return say_no_effect(kBetweenSteps, "there is one step");
    const std::vector<int>& first = unit_.steps.front();
    // All but one of its products, or C if it is a term.
    const int m = kEqual + (first.size() == 1 ? 0 : std::bit_width(first.size() - 1) - 1);
    const int last = m - unit_.result_fraction_bits;
    if (!measured(kRounding) || last - 1 < last_kept_beside_equals() ||
        m - unit_.fraction_bits > last)
      return say_no_effect(kBetweenSteps, "no sum is longer");
    Dot d = in_.zeros();
    if (first.size() == 1) {
      if (unit_.adds_c_last) return say_unclear(kBetweenSteps, "");
      in_.c(d, power(kEqual));
    }
    for (int i = 0; first.size() > 1 && i < 1 << (m - kEqual); ++i)
      set(d, first[static_cast<std::size_t>(i)], power(kEqual));
    if (!set(d, first.back(), 1.5 * power(last)) || !set(d, unit_.steps.back().front(), -power(m)))
      return say_unclear(kBetweenSteps, "");
    if (bits(d) != element_of(unit_, f_, d))
      return say_unclear(kBetweenSteps, "not rounded as a result is");
    say(kBetweenSteps, "rounded as a result is");
  }

  // ---- Exponents of terms ----

  // The exponent that the unit gives a term, seen from the bits that it cuts from other terms.
  std::optional<int> exponent_of(const Dot& pair_of_large, int about) const {
    const auto beside = products_.size() >= 4 ? std::optional(products_[3]) : std::nullopt;
    const CutPlace cut = find_cut_place(pair_of_large, about - 1, products_[2], beside);
    if (!cut.clear || cut.all_kept) return std::nullopt;
    return cut.last + unit_.fraction_bits;
  }

  void find_exponents() {
    if (!measured(kFractionBits)) {
      say_no_effect(kProductExponent, "nothing is cut");
      say_no_effect(kSubnormalExponent, "nothing is cut");
      return;
    }
    if (products_.size() < 3) {
      say_unclear(kProductExponent, "a step has less than three products");
      say_unclear(kSubnormalExponent, "a step has less than three products");
      return;
    }
    const int of_b = std::min(large() / 2 - 1, f_.b.greatest_exponent() - 1);
    const int of_a = std::min(large() - 2 - of_b, f_.a.greatest_exponent() - 1), e = of_a + of_b;
    Dot d = in_.zeros();
    const bool made = in_.factors(d, products_[0], 1.5 * power(of_a), 1.5 * power(of_b), false) &&
                      in_.factors(d, products_[1], 1.5 * power(of_a), -1.5 * power(of_b), false);
    const auto exponent = made ? exponent_of(d, e) : std::nullopt;
    unit_.normalises_products = exponent == e + 1;
    if (exponent == e || exponent == e + 1) {
      say(kProductExponent, unit_.normalises_products ? "of the product" : "sum of the factors'");
    } else {
      say_unclear(kProductExponent, "");
    }
    find_subnormal_exponent();
  }

  void find_subnormal_exponent() {
    if (!unit_.subnormal_factors) return say_no_effect(kSubnormalExponent, "they are zero");
    std::optional<bool> own;
    bool contradiction = false;
    for (const bool in_a : {true, false}) {
      const NumberFormat &sub = in_a ? f_.a : f_.b, &other = in_a ? f_.b : f_.a;
      const int least = sub.least_exponent();
      // As large as possible; otherwise so small that the cut bits are near the least results.
      for (const int rest : {large() - least, least_result() - 3 + unit_.fraction_bits - least}) {
        const int of_other = std::min(rest, other.greatest_exponent());
        const double x = power(least - 1), y = power(of_other);  // x is subnormal
        Dot d = in_.zeros();
        if (!in_.factors(d, products_[0], in_a ? x : y, in_a ? y : x, true) ||
            !in_.factors(d, products_[1], in_a ? -x : -y, in_a ? y : x, true))
          continue;
        const auto exponent = exponent_of(d, least + of_other - 1);
        if (!exponent) continue;
        const bool is_own = *exponent == least + of_other - 1;
        contradiction =
            contradiction || (!is_own && *exponent != least + of_other) || (own && *own != is_own);
        own = is_own;
        break;
      }
    }
    if (contradiction) return say_unclear(kSubnormalExponent, "neither the least nor its own");
    if (!own) return say_no_effect(kSubnormalExponent, "nothing that small is cut");
    unit_.normalises_subnormals = *own;
    say(kSubnormalExponent, *own ? "its own" : "the least");
  }

  void find_zero_exponent() {
    if (!measured(kFractionBits)) return say_no_effect(kZeroExponent, "nothing is cut");
    if (products_.size() < 3)
      return say_unclear(kZeroExponent, "a step has less than three products");
    const int quantum = least_result(), least = in_.least_product();
    const Dot zeros = in_.zeros();
    CutPlace cut = find_cut_place(zeros, std::min(0, large()), least, products_[0], products_[1]);
    if (!cut.clear) return say_unclear(kZeroExponent, "what is kept is no row of bits");
    // C can be smaller than any product.
    const int least_of_c = unit_.subnormal_c ? quantum : f_.d.least_exponent();
    int own = least_normal_product();  // the exponent of the smallest term, and the least possible
                                       // largest exponent
    if (cut.all_kept && !unit_.adds_c_last && cut.last > least_of_c) {
      const CutPlace of_c = find_cut_place(zeros, cut.last, least_of_c, kPlaceOfC, std::nullopt);
      if (of_c.clear) cut = of_c, own = f_.d.least_exponent();
    }
    unit_.zero_exponent = cut.last + unit_.fraction_bits;
    // The end of results is unknown if their number of bits is unknown.
    const bool at_most = cut.all_kept || !measured(kResultBits) ||
                         (cut.last < quantum && unit_.zero_exponent <= quantum) ||
                         (cut.last < own && unit_.zero_exponent <= own);
    say(kZeroExponent, std::to_string(unit_.zero_exponent),
        at_most ? Certainty::kAtMost : Certainty::kMeasured);
  }
};

}  // namespace

Measurement measure(const Formats& formats, const Multiplier& multiply) {
  return Probe(formats, multiply).run();
}

}  // namespace lockstep::matrix_unit
