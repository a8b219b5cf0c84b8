#include "harness/matrix_unit/probe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "harness/matrix_unit/probe_inputs.h"
#include "harness/matrix_unit/step_order.h"

namespace lockstep::matrix_unit {
namespace {

using Certainty = Finding::Certainty;
using enum Property;

constexpr int kC_ = -1;    // the place of C among the terms of a step; products have their k
constexpr int kEqual = 8;  // exponent of terms that make a sum: what is added to it must be a product, too
constexpr int kFar = 60;   // exponents of large terms stay below, so that those of small ones are far enough

double power(int exponent) { return std::ldexp(1.0, exponent); }

// magnitude, in units of the last bit that stays, as an integer of them.
double directed(double v, Direction d) {
  switch (d) {
    case Direction::kZero:
      return std::trunc(v);
    case Direction::kDown:
      return std::floor(v);
    case Direction::kUp:
      return std::ceil(v);
    case Direction::kNearestAway:
      return std::round(v);
    default:
      return std::nearbyint(v);
  }
}

constexpr Direction kDirections[] = {Direction::kZero, Direction::kNearestEven, Direction::kDown, Direction::kUp,
                                     Direction::kNearestAway};

class Probe {
 public:
  Probe(const Formats& formats, const Multiplier& multiply) : f_(formats), multiply_(multiply), in_(f_) {
    unit_.result_fraction_bits = f_.d.fraction_bits;
  }

  Measurement run() {
    find_subnormal_factors();
    unit_.subnormal_results = false;  // none is relied on before it was seen
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
    for (int p = 0; p <= static_cast<int>(kNaN); ++p) m_.findings.try_emplace(static_cast<Property>(p), Finding{});
    m_.unit = unit_;
    return std::move(m_);
  }

 private:
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

  bool set(Dot& dot, int place, double v) const { return place == kC_ ? in_.c(dot, v) : in_.product(dot, place, v); }

  // ---- Saying what was found ----

  void say(Property p, std::string text, Certainty c = Certainty::kMeasured) { m_.findings[p] = {c, std::move(text)}; }
  void say_unclear(Property p, std::string text) { say(p, std::move(text), Certainty::kNotDetermined); }
  void say_no_effect(Property p, std::string text) { say(p, std::move(text), Certainty::kNoEffect); }
  bool known(Property p) const {
    const auto at = m_.findings.find(p);
    return at != m_.findings.end() && at->second.certainty != Certainty::kNotDetermined;
  }
  bool measured(Property p) const {
    const auto at = m_.findings.find(p);
    return at != m_.findings.end() && at->second.certainty == Certainty::kMeasured;
  }

  // ---- Subnormal numbers ----

  void find_subnormal_factors() {
    Dot of_a = in_.zeros(), of_b = in_.zeros();
    const double a = power(f_.a.quantum_exponent()), b = power(f_.b.quantum_exponent());
    const double to_a = power(std::min(f_.b.greatest_exponent(), -f_.a.quantum_exponent()));
    const double to_b = power(std::min(f_.a.greatest_exponent(), -f_.b.quantum_exponent()));
    in_.factors(of_a, 0, a, to_a, true);
    in_.factors(of_b, 0, to_b, b, true);
    const double from_a = value(of_a), from_b = value(of_b);
    if (from_a == a * to_a && from_b == b * to_b) {
      say(kSubnormalFactors, "count");
      in_.allow_subnormal_factors(true);
    } else if (from_a == 0 && from_b == 0) {
      say(kSubnormalFactors, "are zero");
      unit_.subnormal_factors = false;
    } else {
      say_unclear(kSubnormalFactors, "of A and of B otherwise");
    }
  }

  // By a product that is one, or else by C, which is one as well.
  void find_subnormal_results() {
    const double half_least = power(f_.d.least_exponent() - 1);  // of normal numbers
    const int first = unit_.steps.front().front();
    Dot through = in_.zeros(), product = in_.zeros(), both = in_.zeros();
    in_.c(through, half_least), in_.c(both, half_least);
    const bool passes = value(through) == half_least;
    if (in_.product(product, first, half_least) && in_.product(both, first, half_least)) {
      unit_.subnormal_results = value(product) == half_least;
      unit_.subnormal_c = passes || value(both) == 2 * half_least;
    } else if (passes && !unit_.adds_c_last) {
      unit_.subnormal_results = unit_.subnormal_c = true;
    } else if (passes) {
      unit_.subnormal_results = unit_.subnormal_c = true;
      say(kSubnormalC, "counts");
      return say_no_effect(kSubnormalResults, "no sum is that small");
    } else {
      unit_.subnormal_results = unit_.subnormal_c = false;
      say_unclear(kSubnormalC, "C or the result is zero");
      say_unclear(kSubnormalResults, "C or the result is zero");
      return;
    }
    say(kSubnormalResults, unit_.subnormal_results ? "stay" : "become zero");
    say(kSubnormalC, unit_.subnormal_c ? "counts" : "is zero");
  }

  // ---- Steps ----

  int large() const { return std::min({in_.greatest_product(), f_.d.greatest_exponent(), kFar}); }
  // The least result that a small term can be by itself.
  int least_result() const {
    return f_.d.least_exponent() - (unit_.subnormal_results ? unit_.result_fraction_bits : 0);
  }
  // As a product of normal factors where that is small enough.
  int small() const {
    constexpr int kEnough = 40;
    const int normal = std::max({least_normal_product(), least_result(), large() - 2 * kFar});
    return large() - normal >= kEnough ? normal : std::max({in_.least_product(), least_result(), large() - 2 * kFar});
  }
  int least_normal_product() const { return f_.a.least_exponent() + f_.b.least_exponent(); }

  // Whether of three terms the small one is left.
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
    const StepOrder order = find_step_order(f_.k, [this](const auto& triples) { return survives(triples); });
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

  // The last of the steps with most products, since what comes after would cut its sum once more; and its places, C's
  // first where it is a term. Where steps have one product each, C is what they are handed.
  void choose_step() {
    for (const std::vector<int>& step : unit_.steps) {
      if (step.size() >= products_.size()) products_ = step;
    }
    has_c_ = !unit_.adds_c_last && (unit_.steps.size() == 1 || products_.size() == 1);
    places_ = products_;
    if (has_c_) places_.insert(places_.begin(), kC_);
  }

  // ---- Where a step cuts ----

  struct CutPlace {
    bool clear = false;
    bool all_kept = false;  // down to `last`
    bool none_kept = false;
    int last = 0;  // exponent of the last bit that is kept
  };

  // The place where a term at `small_place` is cut beside those that `dot` has: down to the least result it is seen by
  // itself; below, where `beside` is another place, beside the least result, which rounds otherwise with it and
  // without.
  CutPlace find_cut_place(const Dot& dot, int from, int small_place, std::optional<int> beside) const {
    return find_cut_place(dot, from, from - 2 * kFar, small_place, beside);
  }
  CutPlace find_cut_place(const Dot& dot, int from, int to, int small_place, std::optional<int> beside) const {
    const int lowest = std::max(to, small_place == kC_ ? f_.d.quantum_exponent() : in_.least_product());
    const int quantum = least_result();
    std::vector<Dot> dots;
    std::vector<double> kept;  // the value if the bit is
    for (int e = from; e >= std::max(lowest, quantum); --e) {
      if (!set(dots.emplace_back(dot), small_place, power(e))) return {};
      kept.push_back(power(e));
    }
    CutPlace place = last_kept(from, values(dots), kept);
    const auto sensor = beside ? sensor_of(quantum) : std::nullopt;
    if (!sensor || (!dots.empty() && !(place.clear && place.all_kept))) return place;
    Dot base = dot;
    if (!set(base, *beside, sensor->base) || value(base) != sensor->without) return place;
    dots.clear(), kept.clear();
    for (int e = std::min(from, quantum - 1); e >= lowest; --e) {
      if (!set(dots.emplace_back(base), small_place, sensor->sign * power(e))) return {};
      kept.push_back(sensor->with);
    }
    if (dots.empty()) return place;
    const CutPlace below = last_kept(std::min(from, quantum - 1), values(dots), kept);
    if (below.clear) return below;
    // None of these is kept.
    return below.none_kept && place.clear ? CutPlace{true, false, false, place.last} : CutPlace{};
  }

  // Of bits from exponent `from` down, where those that are kept end.
  static CutPlace last_kept(int from, const std::vector<double>& got, const std::vector<double>& kept) {
    std::size_t n = 0;
    while (n < got.size() && got[n] == kept[n]) ++n;
    for (std::size_t i = n; i < got.size(); ++i) {
      if (got[i] == kept[i]) return {};
    }
    if (n == 0) return {false, false, true, 0};
    return {true, n == got.size(), false, from - static_cast<int>(n) + 1};
  }

  // A result that a term below it changes: halfway between two where sums are rounded to the nearest.
  struct Sensor {
    double base, sign, with, without;
  };
  std::optional<Sensor> sensor_of(int quantum) const {
    if (!measured(kRounding)) return std::nullopt;
    if (unit_.cut != Direction::kZero && unit_.cut != Direction::kNearestEven) return std::nullopt;
    const double q = power(quantum);
    switch (unit_.rounding) {
      case Direction::kZero:
      case Direction::kDown:
        return Sensor{q, -1, 0, q};
      case Direction::kUp:
        if (unit_.subnormal_results) return Sensor{q, 1, 2 * q, q};
        break;
      case Direction::kNearestEven:
        if (unit_.subnormal_results) return Sensor{1.5 * q, -1, q, 2 * q};
        break;
      default:
        break;
    }
    return std::nullopt;
  }

  void find_fraction_bits() {
    if (products_.size() == 1) return find_fused();
    if (products_.size() < 3) return say_unclear(kFractionBits, "a step has less than three products");
    const int e = large();
    Dot dot = in_.zeros();
    set(dot, products_[0], power(e)), set(dot, products_[1], -power(e));
    const CutPlace cut = find_cut_place(dot, e - 1, products_[2], std::nullopt);
    if (!cut.clear) return say_unclear(kFractionBits, "what is kept is no row of bits");
    unit_.fraction_bits = cut.all_kept ? kExactBits : e - cut.last;
    if (cut.all_kept) return say(kFractionBits, std::to_string(e - cut.last), Certainty::kAtLeast);
    if (const std::vector<int>& first = unit_.steps.front(); !unit_.adds_c_last && first.size() >= 2) {
      Dot beside = in_.zeros();
      set(beside, first[0], power(e)), set(beside, first[1], -power(e));
      const CutPlace of_c = find_cut_place(beside, e - 1, kC_, std::nullopt);
      if (of_c.clear && !of_c.all_kept && of_c.last != cut.last)
        return say_unclear(kFractionBits,
                           std::to_string(e - cut.last) + " of products, " + std::to_string(e - of_c.last) + " of C");
    }
    say(kFractionBits, std::to_string(unit_.fraction_bits));
  }

  // A step of one product and the accumulator: whether all bits of the product count.
  void find_fused() {
    Dot dot = in_.zeros();
    const double x = 1 + power(-f_.a.fraction_bits), y = 1 - power(-f_.b.fraction_bits - 1);
    if (!has_c_ || !in_.c(dot, -1) || !in_.factors(dot, products_[0], x, y, false) ||
        value(dot) != std::fma(x, y, -1.0))
      return say_unclear(kFractionBits, "one product a step, and not all of its bits count");
    unit_.fraction_bits = kExactBits;
    say(kFractionBits, std::to_string(f_.a.fraction_bits + f_.b.fraction_bits + 1), Certainty::kAtLeast);
  }

  // The direction that explains all: what was got for each multiple of a unit.
  std::optional<Direction> direction_of(const std::vector<double>& wanted, const std::vector<double>& got) const {
    std::optional<Direction> found;
    for (const Direction d : kDirections) {
      bool fits = true;
      for (std::size_t i = 0; i < got.size(); ++i) fits = fits && directed(wanted[i], d) == got[i];
      if (!fits) continue;
      if (found) return std::nullopt;
      found = d;
    }
    return found;
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

  // A sum of as many equal terms as there are places but one, so that it has more bits than they: 2^sum_exponent().
  Dot sum_of_equals(double sign) const {
    Dot d = in_.zeros();
    for (int i = 0; i < 1 << (sum_exponent() - kEqual); ++i)
      set(d, places_[static_cast<std::size_t>(i)], sign * power(kEqual));
    return d;
  }
  int sum_exponent() const { return kEqual + std::bit_width(places_.size() - 1) - 1; }
  // Of the last bit that is kept beside them.
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

  // `base` and half a place more, after an even and an odd number of places, of either sign; places have `last`.
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
    // Beside the base, which is an even number of places, so that nothing is rounded here.
    std::vector<double> got = values(dots);
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = (got[i] - (wanted[i] < 0 ? -base : base)) / last;
    return direction_of(wanted, got);
  }

  void find_rounding() {
    const int m = sum_exponent(), last = m - unit_.result_fraction_bits;
    if (!known(kResultBits)) return say_unclear(kRounding, "");
    if (!measured(kResultBits) || last - 1 < last_kept_beside_equals())
      return say_no_effect(kRounding, "no sum is longer");
    const auto direction = find_direction(power(m), power(last), [&](Dot& d, double sign, double rest) {
      d = sum_of_equals(sign);
      return set(d, places_.back(), rest);
    });
    if (!direction) return say_unclear(kRounding, "no direction explains the results");
    unit_.rounding = *direction;
    say(kRounding, text_of(*direction));
  }

  void find_rounding_of_c() {
    const auto direction = find_direction(1, power(-f_.d.fraction_bits), [&](Dot& d, double sign, double rest) {
      return in_.product(d, 0, sign) && in_.c(d, rest);
    });
    if (!direction) return say_unclear(kC, "is added at the end; no direction explains the results");
    unit_.c_rounding = *direction;
    say(kC, "is added at the end, rounded " + text_of(*direction));
  }

  // What a step hands to the next: the first one's sum, of which the last takes away what needs no rounding.
  void find_between_steps() {
    if (unit_.steps.size() == 1) return say_no_effect(kBetweenSteps, "there is one step");
    const std::vector<int>& first = unit_.steps.front();
    // All but one of its products, or C where it has one.
    const int m = kEqual + (first.size() == 1 ? 0 : std::bit_width(first.size() - 1) - 1);
    const int last = m - unit_.result_fraction_bits;
    if (!measured(kRounding) || last - 1 < last_kept_beside_equals() || m - unit_.fraction_bits > last)
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
    if (bits(d) != element_of(unit_, f_, d)) return say_unclear(kBetweenSteps, "not rounded as a result is");
    say(kBetweenSteps, "rounded as a result is");
  }

  // ---- Exponents of terms ----

  // The exponent that a term which the unit sums has, by where others are cut beside it.
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
      // As large as can be; or else so small that what is cut lies beside the least results.
      for (const int rest : {large() - least, least_result() - 3 + unit_.fraction_bits - least}) {
        const int of_other = std::min(rest, other.greatest_exponent());
        const double x = power(least - 1), y = power(of_other);  // of which the first is subnormal
        Dot d = in_.zeros();
        if (!in_.factors(d, products_[0], in_a ? x : y, in_a ? y : x, true) ||
            !in_.factors(d, products_[1], in_a ? -x : -y, in_a ? y : x, true))
          continue;
        const auto exponent = exponent_of(d, least + of_other - 1);
        if (!exponent) continue;
        const bool is_own = *exponent == least + of_other - 1;
        contradiction = contradiction || (!is_own && *exponent != least + of_other) || (own && *own != is_own);
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
    if (products_.size() < 3) return say_unclear(kZeroExponent, "a step has less than three products");
    const int quantum = least_result(), least = in_.least_product();
    const Dot zeros = in_.zeros();
    CutPlace cut = find_cut_place(zeros, std::min(0, large()), least, products_[0], products_[1]);
    if (!cut.clear) return say_unclear(kZeroExponent, "what is kept is no row of bits");
    // C may be smaller than any product.
    const int least_of_c = unit_.subnormal_c ? quantum : f_.d.least_exponent();
    int own = least_normal_product();  // what a small term has at least, and the greatest exponent may be
    if (cut.all_kept && !unit_.adds_c_last && cut.last > least_of_c) {
      const CutPlace of_c = find_cut_place(zeros, cut.last, least_of_c, kC_, std::nullopt);
      if (of_c.clear) cut = of_c, own = f_.d.least_exponent();
    }
    unit_.zero_exponent = cut.last + unit_.fraction_bits;
    // Nor is it known where results end whose number of bits is not.
    const bool at_most = cut.all_kept || !measured(kResultBits) ||
                         (cut.last < quantum && unit_.zero_exponent <= quantum) ||
                         (cut.last < own && unit_.zero_exponent <= own);
    say(kZeroExponent, std::to_string(unit_.zero_exponent), at_most ? Certainty::kAtMost : Certainty::kMeasured);
  }

  // ---- What is no number, and signs ----

  void find_specials() {
    find_nan();
    find_overflow();
    Dot zeros = in_.zeros();
    for (int k = 0; k < f_.k; ++k) in_.factors(zeros, k, -0.0, 1, false);
    in_.c(zeros, -0.0);
    unit_.keeps_minus_zero = (bits(zeros) & f_.d.sign()) != 0;
    say(kMinusZero, unit_.keeps_minus_zero ? "-0" : "+0");
    find_underflow();
  }

  // A product below half of the least result, which is not cut, beside zeros that would not hide the sign.
  void find_underflow() {
    const int exponent = least_result() - 2;
    Dot tiny = in_.zeros();
    if (products_.empty() || !in_.product(tiny, products_[0], -power(exponent)) ||
        (known(kZeroExponent) && exponent < unit_.zero_exponent - unit_.fraction_bits))
      return say_no_effect(kUnderflow, "no sum is that small");
    if (!known(kZeroExponent)) return say_unclear(kUnderflow, "");
    if (unit_.adds_c_last) in_.c(tiny, -0.0);
    const double v = value(tiny);
    if (v != 0) return say_no_effect(kUnderflow, "no sum becomes zero");
    unit_.underflows_to_minus_zero = std::signbit(v);
    say(kUnderflow, std::signbit(v) ? "-0" : "+0");
  }

  void find_nan() {
    std::vector<Dot> dots;  // NaN in A, B, C; then zero times infinity, and a difference of infinities
    const auto at = [&](int k) { return static_cast<std::size_t>(k); };
    for (int i = 0; i < 3; ++i) dots.push_back(in_.zeros());
    in_.factors(dots[0], 0, 1, 1, false), in_.factors(dots[1], 0, 1, 1, false);
    dots[0].a[0] = f_.a.nan(), dots[1].b[0] = f_.b.nan() | f_.b.sign(), dots[2].c = f_.d.nan();
    if (f_.a.has_infinity && f_.b.has_infinity) {
      Dot product = in_.zeros(), difference = in_.zeros();
      product.a[0] = f_.a.infinity();
      difference.a[at(0)] = difference.a[at(1)] = f_.a.infinity();
      in_.factors(product, 1, 1, 1, false);
      difference.b[at(0)] = f_.b.infinity(), difference.b[at(1)] = f_.b.infinity() | f_.b.sign();
      dots.push_back(product), dots.push_back(difference);
    }
    const std::vector<std::uint64_t> got = multiply_(dots);
    for (const std::uint64_t v : got) {
      if (take_apart(v, f_.d).kind != Parts::Kind::kNaN) return say_unclear(kNaN, "a NaN is not kept");
    }
    unit_.nan = got.front();
    if (std::all_of(got.begin(), got.end(), [&](std::uint64_t v) { return v == got.front(); })) {
      say(kNaN, hexadecimal(got.front(), (f_.d.sign_bit() + 1) / 4));
    } else if (f_.a.fraction_bits == f_.d.fraction_bits && got[0] == dots[0].a[0] && got[1] == dots[1].b[0] &&
               got[2] == dots[2].c) {
      unit_.hands_nan_on = true;
      say(kNaN, "that of the operands");
    } else {
      say_unclear(kNaN, "otherwise for each operand");
    }
  }

  static std::string hexadecimal(std::uint64_t v, int digits) {
    std::string out(static_cast<std::size_t>(digits), '0');
    for (auto at = out.rbegin(); at != out.rend(); ++at, v >>= 4) *at = "0123456789abcdef"[v & 15];
    return out;
  }

  void find_overflow() {
    const int greatest = f_.d.greatest_exponent();
    Dot d = in_.zeros();
    if (places_.size() < 2 || in_.greatest_product() < greatest || !set(d, places_[0], power(greatest)) ||
        !set(d, places_[1], power(greatest)))
      return say_no_effect(kOverflow, "no product is that large");
    const double v = value(d);
    unit_.overflows_to_infinity = std::isinf(v);
    if (std::isinf(v) && v > 0) return say(kOverflow, "infinity");
    if (v == value(f_.d.infinity() - 1)) return say(kOverflow, "the greatest number");
    say_unclear(kOverflow, "neither infinity nor the greatest number");
  }

  const Formats f_;
  const Multiplier& multiply_;
  Inputs in_;
  UnitArithmetic unit_;
  Measurement m_;
  std::vector<int> products_;  // of the step in which sums are looked at
  std::vector<int> places_;    // and C, first, where it is a term of it
  bool has_c_ = false;         // whether it is
};

}  // namespace

const char* name_of(Property p) {
  switch (p) {
    case kSteps:
      return "products at once";
    case kC:
      return "C";
    case kFractionBits:
      return "bits below the largest";
    case kCut:
      return "terms are cut";
    case kProductExponent:
      return "exponent of a product";
    case kSubnormalExponent:
      return "exponent of a subnormal factor";
    case kZeroExponent:
      return "exponent of zero";
    case kResultBits:
      return "bits of a sum";
    case kRounding:
      return "sums are rounded";
    case kBetweenSteps:
      return "between steps";
    case kSubnormalFactors:
      return "subnormal factors";
    case kSubnormalC:
      return "subnormal C";
    case kSubnormalResults:
      return "subnormal results";
    case kOverflow:
      return "overflow";
    case kMinusZero:
      return "sum of -0";
    case kUnderflow:
      return "negative sum that rounds to zero";
    case kNaN:
      return "NaN";
  }
  return "";
}

bool Measurement::determined(Property p) const { return findings.at(p).certainty != Certainty::kNotDetermined; }

bool Measurement::explains_all() const {
  return std::all_of(findings.begin(), findings.end(),
                     [](const auto& f) { return f.second.certainty != Certainty::kNotDetermined; });
}

Measurement measure(const Formats& formats, const Multiplier& multiply) { return Probe(formats, multiply).run(); }

}  // namespace lockstep::matrix_unit
