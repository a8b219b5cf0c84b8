#include "harness/matrix_unit/probe_session.h"

namespace lockstep::matrix_unit {

using enum Property;

ProbeSession::CutPlace ProbeSession::find_cut_place(const Dot& dot, int from, int to,
                                                    int small_place,
                                                    std::optional<int> beside) const {
  const int lowest =
      std::max(to, small_place == kPlaceOfC ? f_.d.quantum_exponent() : in_.least_product());
  const int quantum = least_result();
  std::vector<Dot> dots;
  std::vector<double> kept;  // the result if the bit is kept
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
  // None of the lower bits is kept.
  return below.none_kept && place.clear ? CutPlace{true, false, false, place.last} : CutPlace{};
}

ProbeSession::CutPlace ProbeSession::last_kept(int from, const std::vector<double>& got,
                                               const std::vector<double>& kept) {
  std::size_t n = 0;
  while (n < got.size() && got[n] == kept[n]) ++n;
  for (std::size_t i = n; i < got.size(); ++i) {
    if (got[i] == kept[i]) return {};
  }
  if (n == 0) return {false, false, true, 0};
  return {true, n == got.size(), false, from - static_cast<int>(n) + 1};
}

std::optional<ProbeSession::Sensor> ProbeSession::sensor_of(int quantum) const {
  if (!measured(kRounding)) return std::nullopt;
  if (unit_.cut != Direction::kZero && unit_.cut != Direction::kNearestEven) return std::nullopt;
  const double q = power(quantum);
  switch (unit_.rounding) {
    case Direction::kZero:
    case Direction::kDown: return Sensor{q, -1, 0, q};
    case Direction::kUp:
      if (unit_.subnormal_results) return Sensor{q, 1, 2 * q, q};
      break;
    case Direction::kNearestEven:
      if (unit_.subnormal_results) return Sensor{1.5 * q, -1, q, 2 * q};
      break;
    default: break;
  }
  return std::nullopt;
}

std::optional<Direction> ProbeSession::direction_of(const std::vector<double>& wanted,
                                                    const std::vector<double>& got) const {
  std::optional<Direction> found;
  for (const Direction d : {Direction::kZero, Direction::kNearestEven, Direction::kDown,
                            Direction::kUp, Direction::kNearestAway}) {
    bool fits = true;
    for (std::size_t i = 0; i < got.size(); ++i) fits = fits && directed(wanted[i], d) == got[i];
    if (!fits) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

double ProbeSession::directed(double v, Direction d) {
  switch (d) {
    case Direction::kZero: return std::trunc(v);
    case Direction::kDown: return std::floor(v);
    case Direction::kUp: return std::ceil(v);
    case Direction::kNearestAway: return std::round(v);
    default: return std::nearbyint(v);
  }
}

}  // namespace lockstep::matrix_unit
