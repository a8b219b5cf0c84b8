#include "properties/shuffle.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>

#include "harness/property/half.h"
#include "harness/property/values.h"
#include "properties/contract_laws.h"
#include "properties/shuffle_roundings.h"
#include "reference/shuffle.h"

namespace lockstep::properties {
namespace {

using kernels::ShuffleOp;
using kernels::WarpCollective;
using kernels::WarpShape;

reference::Exchange exchange_of(ShuffleOp op) {
  switch (op) {
    case ShuffleOp::kIndex: return reference::Exchange::kIndex;
    case ShuffleOp::kUp: return reference::Exchange::kUp;
    case ShuffleOp::kDown: return reference::Exchange::kDown;
    case ShuffleOp::kXor: return reference::Exchange::kButterfly;
  }
  throw std::logic_error("an exchange without a reference");
}

// The lanes of thread t's warp that exist in blocks of `threads`.
std::uint32_t existing_lanes(int t, int threads) {
  const int left = threads - t / 32 * 32;
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

enum class ElementType : std::uint8_t { kInt, kUnsigned, kLongLong, kFloat, kDouble, kHalf };

// A grid of warps, with the values that its threads exchange, and the segments.
struct WarpCase {
  int x = 32, y = 1, z = 1;  // threads of a block along each axis
  int blocks = 1;
  int width = 32;
  ElementType type = ElementType::kInt;
  int x_offset = 0, y_offset = 0;  // elements past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  // At most 1024 threads a block.
  void normalise() {
    if (x * y * z > 1024) z = 1;
    if (x * y * z > 1024) y = 1;
  }
  int threads() const { return x * y * z; }
  std::size_t elements() const {
    return static_cast<std::size_t>(threads()) * static_cast<std::size_t>(blocks);
  }
  WarpShape shape() const {
    return {
        .block = dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)),
        .blocks = static_cast<unsigned>(blocks)};
  }
  WhereIs where() const { return one_thread_per_element(static_cast<std::uint32_t>(threads())); }

  static void fields_of(WarpCase& c, FieldVisitor& field, const std::vector<ValueKind>& values) {
    using enum ElementType;
    field("x", c.x, one_of<int>({32, 1, 2, 7, 31, 33, 64, 96, 100, 256, 1000, 1024}));
    field("y", c.y, one_of<int>({1, 2, 3, 5, 16}));
    field("z", c.z, one_of<int>({1, 2, 3}));
    field("blocks", c.blocks, one_of<int>({1, 2, 3}));
    field("width", c.width, one_of<int>({32, 16, 8, 4, 2, 1}));
    field("type", c.type,
          choice<ElementType>({{"int", kInt},
                               {"unsigned", kUnsigned},
                               {"long_long", kLongLong},
                               {"float", kFloat},
                               {"double", kDouble},
                               {"half", kHalf}}));
    field("x_offset", c.x_offset, range(0, 31));
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of(values));
  }
  static inline const std::vector<ValueKind> kAnyValues = {ValueKind::kIndex, ValueKind::kUniform,
                                                           ValueKind::kWide, ValueKind::kSpecial};
};

// One exchange with an operand for every thread, without some lanes, along one branch or two.
struct ExchangeCase : WarpCase {
  ShuffleOp op = ShuffleOp::kIndex;
  std::uint32_t members = 0xffffffffu;
  bool divergent = false;
  bool uniform = false;  // one operand for all threads
  std::uint64_t operand_seed = 0;

  static void fields(ExchangeCase& c, FieldVisitor& field) {
    using enum ShuffleOp;
    fields_of(c, field, kAnyValues);
    field("op", c.op,
          choice<ShuffleOp>({{"index", kIndex}, {"up", kUp}, {"down", kDown}, {"xor", kXor}}));
    field("members", c.members,
          one_of<std::uint32_t>({0xffffffffu, 1u, 0x80000000u, 0x0000ffffu, 0xffff0000u,
                                 0x55555555u, 0xf0f0f0f0u, 0x7fffffffu, 0xfffffffeu, 0x12345678u}));
    field("divergent", c.divergent, booleans());
    field("uniform", c.uniform, booleans());
    field("operand_seed", c.operand_seed, seeds());
  }
  // The lanes that exchange with `lane` in a warp with the lanes `existing`.
  std::uint32_t peers(int lane, std::uint32_t existing) const {
    const std::uint32_t even = 0x55555555u, parity = lane % 2 == 0 ? even : ~even;
    return members & existing & (divergent ? parity : 0xffffffffu);
  }
  // Operands in and out of range. An operand that would select a lane that does not take part is
  // replaced by one that selects the own lane.
  std::vector<int> operands() const {
    std::vector<int> operand(elements());
    for (std::size_t i = 0; i < operand.size(); ++i) {
      const int t = static_cast<int>(i % threads()), lane = t % 32;
      operand[i] = static_cast<int>(mix(operand_seed + (uniform ? 0 : i)) % 113) - 40;
      const int source = reference::source_lane(exchange_of(op), lane, operand[i], width);
      if (!(peers(lane, existing_lanes(t, threads())) >> source & 1))
        operand[i] = op == ShuffleOp::kIndex ? lane : 0;
    }
    return operand;
  }
};

// The same shape, for a collective.
struct CollectiveCase : WarpCase {
  WarpCollective collective = WarpCollective::kBroadcast;
  int root = 0;

  static void fields(CollectiveCase& c, FieldVisitor& field) {
    using enum WarpCollective;
    fields_of(c, field,
              {ValueKind::kSmallIntegers, ValueKind::kIndex, ValueKind::kOne, ValueKind::kUniform,
               ValueKind::kWide, ValueKind::kMixed, ValueKind::kSpecial});
    field("collective", c.collective,
          choice<WarpCollective>({{"broadcast", kBroadcast},
                                  {"butterfly_sum", kButterflySum},
                                  {"tree_sum", kTreeSum},
                                  {"inclusive_scan", kInclusiveScan},
                                  {"exclusive_scan", kExclusiveScan}}));
    field("root", c.root, range(0, 31));
  }
  void normalise() {
    WarpCase::normalise();
    while (threads() % width != 0) width /= 2;
    root %= width;
  }
  // Sums of moderate size, for which the reference has a bound.
  bool bounded() const {
    return values.kind != ValueKind::kWide && values.kind != ValueKind::kMixed &&
           values.kind != ValueKind::kSpecial;
  }
};

// Whole warps, and a number of lanes.
struct LanesCase : WarpCase {
  int lanes = 1;
  static void fields(LanesCase& c, FieldVisitor& field) {
    fields_of(c, field, kAnyValues);
    field("lanes", c.lanes, range(0, 31));
  }
  void normalise() {
    WarpCase::normalise();
    if (threads() % 32 != 0) x = 32, y = z = 1;
  }
};

// The host's type for a launcher's element type.
template <class T>
struct HostOf {
  using Type = T;
};
template <>
struct HostOf<__half> {
  using Type = Half;
};
template <class T>
using Host = typename HostOf<T>::Type;

// Calls body with a value of the case's element type, of which only the type matters.
template <class Body>
void with_type(ElementType type, Body&& body) {
  switch (type) {
    case ElementType::kInt: return body(int{});
    case ElementType::kUnsigned: return body(unsigned{});
    case ElementType::kLongLong: return body(0ll);
    case ElementType::kFloat: return body(float{});
    case ElementType::kDouble: return body(double{});
    case ElementType::kHalf: return body(__half{});
  }
}

template <class T>
T* device(T* p) {
  return p;
}
inline __half* device(Half* p) { return reinterpret_cast<__half*>(p); }

// One launch of an exchange on arrays under the case's contract.
template <class T>
DeviceArray<Host<T>> run(const Shuffle& family, const WarpCase& c, ShuffleOp op,
                         const std::vector<Host<T>>& x, const std::vector<int>& operand,
                         std::uint32_t members, bool divergent) {
  const auto in =
      DeviceArray<Host<T>>::input("x", x, {.misalignment = c.x_offset, .poison = c.poison});
  const auto operands =
      DeviceArray<int>::input("operand", operand, {.misalignment = c.y_offset, .poison = c.poison});
  auto out =
      DeviceArray<Host<T>>::output("y", x.size(), {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(family.of<T>().shuffle(op, device(in.data()), operands.data(), device(out.data()),
                                      c.width, members, divergent, c.shape(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return out;
}

// The same with one operand for all, and every lane a member.
template <class T>
std::vector<Host<T>> run(const Shuffle& family, const WarpCase& c, ShuffleOp op,
                         const std::vector<Host<T>>& x, int operand) {
  return run<T>(family, c, op, x, std::vector<int>(x.size(), operand), 0xffffffffu, false).fetch();
}

template <class T>
std::vector<Host<T>> values_of_case(const WarpCase& c) {
  return make_values<Host<T>>(c.values, c.elements());
}

void exchange_matches_its_definition(const Shuffle& shuffle, const ExchangeCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    const std::vector<int> operand = c.operands();
    const auto out = run<T>(shuffle, c, c.op, x, operand, c.members, c.divergent);
    std::vector<Host<T>> y = out.fetch(), expected = y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const int t = static_cast<int>(i % c.threads()), lane = t % 32;
      if (c.peers(lane, existing_lanes(t, c.threads())) >> lane & 1) {
        expected[i] =
            x[i - lane + reference::source_lane(exchange_of(c.op), lane, operand[i], c.width)];
      } else {
        REQUIRE_LAW(out.holds_poison(i, y[i]),
                    "lane {} is no member, but its element {} was written", lane, i);
      }
    }
    REQUIRE_BITWISE_EQUAL(y, expected, c.where());
  });
}

// Every operation, type and width, with every operand from -40 to 72 and some extreme ones in every
// lane. Of the case, only layout, poison and values matter.
void exchange_matches_its_definition_for_every_operand(const Shuffle& shuffle, const LanesCase& c) {
  std::vector<int> each = {std::numeric_limits<int>::min(), std::numeric_limits<int>::max(),
                           1 << 16, (1 << 16) + 1};
  for (int operand = -40; operand <= 72; ++operand) each.push_back(operand);
  LanesCase all = c;
  all.x = 32, all.y = all.z = 1, all.blocks = static_cast<int>(each.size());
  std::vector<int> operand(all.elements());
  for (std::size_t i = 0; i < operand.size(); ++i) operand[i] = each[i / 32];
  for (const auto type : {ElementType::kInt, ElementType::kUnsigned, ElementType::kLongLong,
                          ElementType::kFloat, ElementType::kDouble, ElementType::kHalf}) {
    for (const auto op : {ShuffleOp::kIndex, ShuffleOp::kUp, ShuffleOp::kDown, ShuffleOp::kXor}) {
      for (const int width : {1, 2, 4, 8, 16, 32}) {
        all.width = width;
        with_type(type, [&]<class T>(T) {
          const auto x = values_of_case<T>(all);
          auto expected = x;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const int lane = static_cast<int>(i % 32);
            expected[i] =
                x[i - lane + reference::source_lane(exchange_of(op), lane, operand[i], width)];
          }
          REQUIRE_BITWISE_EQUAL(run<T>(shuffle, all, op, x, operand, 0xffffffffu, false), expected,
                                all.where());
        });
      }
    }
  }
}

void exchanging_twice_by_xor_changes_nothing(const Shuffle& shuffle, const LanesCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    LanesCase inside = c;
    inside.lanes %= c.width;  // a mask that leaves the segment does not exchange
    const auto once = run<T>(shuffle, inside, ShuffleOp::kXor, x, inside.lanes);
    REQUIRE_BITWISE_EQUAL(run<T>(shuffle, inside, ShuffleOp::kXor, once, inside.lanes), x,
                          c.where());
  });
}

void down_after_up_restores_the_interior(const Shuffle& shuffle, const LanesCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    const int lanes = c.lanes % c.width;
    const auto up = run<T>(shuffle, c, ShuffleOp::kUp, x, lanes),
               back = run<T>(shuffle, c, ShuffleOp::kDown, up, lanes);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (static_cast<int>(i) % c.width + lanes >= c.width)
        continue;  // came from outside the segment
      REQUIRE_LAW(back[i] == x[i] || x[i] != x[i],
                  "element {} of {} does not come back through up and down by {}", i, x.size(),
                  lanes);
    }
  });
}

void rotation_has_the_order_of_its_width(const Shuffle& shuffle, const LanesCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    std::vector<int> next(x.size());
    std::iota(next.begin(), next.end(),
              1);  // the lane after the own; the index wraps within its segment
    auto turned = x;
    for (int i = 0; i < c.width; ++i)
      turned = run<T>(shuffle, c, ShuffleOp::kIndex, turned, next, 0xffffffffu, false).fetch();
    REQUIRE_BITWISE_EQUAL(turned, x, c.where());
  });
}

void lanes_and_warps_are_numbered_along_x_first(const Shuffle& shuffle, const ExchangeCase& c) {
  const auto out = DeviceArray<std::uint32_t>::output(
      "y", 2 * c.elements(), {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(shuffle.lane_and_warp(out.data(), c.shape(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < c.elements(); ++i) {
    const auto t = static_cast<std::uint32_t>(i % c.threads());
    expected.insert(expected.end(), {t % 32, t / 32});
  }
  REQUIRE_BITWISE_EQUAL(out, expected);
}

// The exact results of a collective; integers are modulo their width.
template <class T>
std::vector<T> integer_sums(const CollectiveCase& c, const std::vector<T>& x) {
  using Unsigned = std::make_unsigned_t<T>;
  std::vector<T> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t first = i / c.width * c.width, position = i - first;
    std::size_t count = c.width;
    if (c.collective == WarpCollective::kTreeSum && position != 0) count = 0;
    if (c.collective == WarpCollective::kInclusiveScan) count = position + 1;
    if (c.collective == WarpCollective::kExclusiveScan) count = position;
    Unsigned sum = 0;
    for (std::size_t j = 0; j < count; ++j) sum += static_cast<Unsigned>(x[first + j]);
    y[i] = static_cast<T>(sum);
  }
  return y;
}

reference::SegmentSum sum_of(WarpCollective collective) {
  switch (collective) {
    case WarpCollective::kButterflySum: return reference::SegmentSum::kAll;
    case WarpCollective::kTreeSum: return reference::SegmentSum::kFirst;
    case WarpCollective::kInclusiveScan: return reference::SegmentSum::kInclusive;
    case WarpCollective::kExclusiveScan: return reference::SegmentSum::kExclusive;
    case WarpCollective::kBroadcast: break;
  }
  throw std::logic_error("a collective that is no sum");
}

double number(float v) { return v; }
double number(double v) { return v; }
double number(Half v) { return to_double(v); }

template <class T>
constexpr double kUnitRoundoff = reference::unit_roundoff<T>();
template <>
constexpr double kUnitRoundoff<Half> = 0x1p-11;

// One launch of a collective on arrays under the case's contract.
template <class T>
DeviceArray<Host<T>> collect(const Shuffle& family, const CollectiveCase& c,
                             const std::vector<Host<T>>& x) {
  const auto in =
      DeviceArray<Host<T>>::input("x", x, {.misalignment = c.x_offset, .poison = c.poison});
  auto out =
      DeviceArray<Host<T>>::output("y", x.size(), {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(family.of<T>().warp_collective(c.collective, device(in.data()), device(out.data()),
                                              c.width, c.root, c.shape(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return out;
}

void collective_matches_its_reference(const Shuffle& shuffle, const CollectiveCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    const auto out = collect<T>(shuffle, c, x);
    if (c.collective == WarpCollective::kBroadcast) {
      auto expected = x;
      for (std::size_t i = 0; i < x.size(); ++i) expected[i] = x[i / c.width * c.width + c.root];
      REQUIRE_BITWISE_EQUAL(out, expected, c.where());
    } else if constexpr (std::is_integral_v<Host<T>>) {
      REQUIRE_BITWISE_EQUAL(out, integer_sums(c, x), c.where());
    } else {
      const auto array_of = [](const std::vector<Host<T>>& all) {
        Eigen::ArrayXd numbers(static_cast<Eigen::Index>(all.size()));
        for (std::size_t i = 0; i < all.size(); ++i)
          numbers(static_cast<Eigen::Index>(i)) = number(all[i]);
        return numbers;
      };
      const reference::SegmentSum kind = sum_of(c.collective);
      if (c.bounded())
        REQUIRE_WITHIN_BOUND(
            out, reference::segment_sums(kind, array_of(x), c.width, kUnitRoundoff<Host<T>>),
            c.where());
      // The bits must also be those of the declared chain.
      const auto chain = reference::segment_chain<Host<T>>(
          kind, x, c.width, [](Host<T> a, Host<T> b) { return device_sum(a, b); });
      REQUIRE_WITHIN_BOUND(out, reference::exactly(array_of(chain)), c.where());
    }
  });
}

// A segment for each neighbour of the declared chains, in sums and in scans, next to each other in
// a block.
template <class T>
void keeps_the_roundings_of(const Shuffle& shuffle, const CollectiveCase& c) {
  CollectiveCase one = c;
  one.width = std::max(c.width, 8);
  Bits bits(mix(c.values.seed + (static_cast<std::uint64_t>(c.width) << 32)));
  for (const auto collective :
       {WarpCollective::kButterflySum, WarpCollective::kTreeSum, WarpCollective::kInclusiveScan}) {
    const bool scan = collective == WarpCollective::kInclusiveScan;
    const auto& roundings = segment_roundings<Host<T>>(scan ? reference::SegmentSum::kInclusive
                                                            : reference::SegmentSum::kAll);
    const auto found =
        roundings.find(bits, [&](Bits& b) { return any_segment<Host<T>>(one.width, b); });
    std::vector<Host<T>> x;
    for (const auto& f : found) x.insert(x.end(), f.input.begin(), f.input.end());
    one.collective = collective, one.root = 0;
    one.x = static_cast<int>(x.size()), one.y = one.z = one.blocks = 1;
    const std::vector<Host<T>> y = collect<T>(shuffle, one, x).fetch();
    std::vector<Host<T>> actual;
    for (std::size_t k = 0; k < found.size(); ++k)
      actual.push_back(y[k * one.width + (scan ? one.width - 1 : 0)]);
    roundings.require(found, actual,
                      [](const Host<T>& v) { return fmt::format("{:a}", number(v)); });
  }
}

void collective_keeps_its_roundings(const Shuffle& shuffle, const CollectiveCase& c) {
  keeps_the_roundings_of<float>(shuffle, c);
  keeps_the_roundings_of<double>(shuffle, c);
  keeps_the_roundings_of<__half>(shuffle, c);
}

// Zeros of either sign: -0 + -0 is -0; every other sum of two zeros is +0.
template <class T>
void keeps_the_signs_of_zeros_of(const Shuffle& shuffle, const CollectiveCase& c) {
  const auto zero = [](bool negative) {
    if constexpr (std::is_same_v<Host<T>, Half>) {
      return Half{static_cast<std::uint16_t>(negative ? 0x8000 : 0)};
    } else {
      return negative ? -Host<T>{0} : Host<T>{0};
    }
  };
  CollectiveCase one = c;
  one.root = 0;
  Bits bits(c.values.seed);
  std::vector<Host<T>> x(one.elements());
  // Some segments have zeros of only one sign, the others of both.
  for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(one.width)) {
    const unsigned negative = bits.chance(50) ? 100 : 50;
    for (std::size_t i = first; i < first + static_cast<std::size_t>(one.width); ++i)
      x[i] = zero(bits.chance(negative));
  }
  for (const auto collective : {WarpCollective::kButterflySum, WarpCollective::kTreeSum,
                                WarpCollective::kInclusiveScan, WarpCollective::kExclusiveScan}) {
    one.collective = collective;
    const auto chain = reference::segment_chain<Host<T>>(
        sum_of(collective), x, one.width, [](Host<T> a, Host<T> b) { return device_sum(a, b); });
    REQUIRE_BITWISE_EQUAL(collect<T>(shuffle, one, x), chain, one.where());
  }
}

void collective_keeps_the_signs_of_zeros(const Shuffle& shuffle, const CollectiveCase& c) {
  keeps_the_signs_of_zeros_of<float>(shuffle, c);
  keeps_the_signs_of_zeros_of<double>(shuffle, c);
  keeps_the_signs_of_zeros_of<__half>(shuffle, c);
}

// More blocks than 16 bits count, of one thread each.
void numbers_blocks_beyond_16_bits(const Shuffle& shuffle, const CollectiveCase& c) {
  CollectiveCase many = c;
  many.x = many.y = many.z = 1, many.blocks = (1 << 16) + 3, many.width = 1, many.root = 0;
  many.collective = WarpCollective::kBroadcast, many.values.kind = ValueKind::kWide;
  const std::vector<int> x = values_of_case<int>(many);
  REQUIRE_BITWISE_EQUAL(collect<int>(shuffle, many, x), x, many.where());
}

// Results do not depend on the number of branches of the members; the simulated GPU's counter of
// exchanges does.
void comes_along_two_branches(const Shuffle& shuffle, const ExchangeCase& c) {
  require_capability({Capability::kSimulator});
  const std::vector<unsigned> x(c.elements(), 1);
  const std::vector<int> own(c.elements(), 0);
  const auto exchanges = [&](bool divergent) {
    return counters_of(
               [&] { run<unsigned>(shuffle, c, ShuffleOp::kXor, x, own, c.members, divergent); })
        .shuffles;
  };
  std::uint64_t together = 0, apart = 0;  // per block, one for each warp with members
  for (int t = 0; t < c.threads(); t += 32) {
    const std::uint32_t members = c.members & existing_lanes(t, c.threads());
    together += members != 0;
    apart += ((members & 0x55555555u) != 0) + ((members & ~0x55555555u) != 0);
  }
  const auto require = [&](bool divergent, std::uint64_t of_block) {
    const std::uint64_t wanted = of_block * c.shape().blocks, counted = exchanges(divergent);
    REQUIRE_LAW(counted == wanted, "{} exchanges where divergent is {}, not {}", counted, divergent,
                wanted);
  };
  require(false, together);
  require(true, apart);
}

void exchange_is_deterministic(const Shuffle& shuffle, const ExchangeCase& c) {
  constexpr int kSchedules = 50;
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    REQUIRE_DETERMINISTIC(kSchedules, [&] {
      return run<T>(shuffle, c, c.op, x, c.operands(), c.members, c.divergent).fetch();
    });
  });
}

void collective_is_deterministic(const Shuffle& shuffle, const CollectiveCase& c) {
  constexpr int kSchedules = 50;
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    REQUIRE_DETERMINISTIC(kSchedules, [&] { return collect<T>(shuffle, c, x).fetch(); });
  });
}

// The launchers' calls in the case's shape, for floats and for elements of its type, with their
// contracts.

// A block's threads are a multiple of `unit`.
void describe_shape(Call<Shuffle>& call, WarpShape& shape, const WarpCase& c, int unit = 1) {
  const auto sides = [unit](int others, int most) {
    const int step = unit / std::gcd(unit, others);
    return Range{step, std::min(most, 1024 / others) / step * step, step};
  };
  call.integer("block.x", sides(c.y * c.z, 1024), shape.block.x);
  call.integer("block.y", sides(c.x * c.z, 1024), shape.block.y);
  call.integer("block.z", sides(c.x * c.y, 64), shape.block.z);
  call.integer("blocks", {1, std::numeric_limits<int>::max()}, shape.blocks);
  if (unit == 1) call.product({"block.x", "block.y", "block.z"}, 1024, {1024, 1024, 64});
  call.grid(
      {.threads = c.x * c.y * c.z, .least_blocks = shape.blocks, .most_blocks = shape.blocks});
}

constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max();

template <class T>
void describe_arrays(Call<Shuffle>& call, const T*& x, T*& y, const WarpCase& c) {
  const auto count = static_cast<std::int64_t>(c.elements());
  call.input("x", x, {.count = count}, {c.x_offset, c.poison},
             [&c] { return values_of_case<T>(c); });
  call.output<Host<T>>("y", y, {.count = count}, {c.y_offset, c.poison});
  call.apart("x", "y");
}

// The instance of a template of launchers.
template <class T>
std::string named(std::string launcher) {
  if (std::is_same_v<T, float>) return launcher;
  return launcher + (std::is_same_v<T, int>         ? "<int>"
                     : std::is_same_v<T, unsigned>  ? "<unsigned>"
                     : std::is_same_v<T, long long> ? "<long_long>"
                     : std::is_same_v<T, double>    ? "<double>"
                                                    : "<half>");
}

template <class T>
Call<Shuffle> shuffle_call(const CollectiveCase& c) {
  Call<Shuffle> call(named<T>("shuffle"));
  auto& [op, x, operand, y, width, members, divergent, shape] =
      call.arguments(&kernels::ShuffleLaunchersOf<T>::shuffle, ShuffleOp::kIndex, nullptr, nullptr,
                     nullptr, c.width, ~0u, false, c.shape());
  call.choice("op", ShuffleOp::kXor, op);
  call.integer("width", {.only = {1, 2, 4, 8, 16, 32}}, width);
  describe_shape(call, shape, c);
  describe_arrays<T>(call, x, y, c);
  call.input("operand", operand, {.count = static_cast<std::int64_t>(c.elements())},
             {.poison = c.poison}, [&c] { return std::vector<int>(c.elements()); });
  call.apart("operand", "y");
  call.lengthens("blocks", 1, kMostBlocks,
                 {{"x", c.threads()}, {"operand", c.threads()}, {"y", c.threads()}});
  return call;
}

template <class T>
Call<Shuffle> collective_call(const CollectiveCase& c) {
  Call<Shuffle> call(named<T>("warp_collective"));
  auto& [collective, x, y, width, root, shape] =
      call.arguments(&kernels::ShuffleLaunchersOf<T>::warp_collective, c.collective, nullptr,
                     nullptr, c.width, c.root, c.shape());
  Range widths;  // that divide the block, and contain the root
  for (const int w : {1, 2, 4, 8, 16, 32}) {
    if (c.threads() % w == 0 && w > c.root) widths.only.push_back(w);
  }
  call.choice("collective", WarpCollective::kExclusiveScan, collective);
  call.integer("width", widths, width);
  call.integer("root", {0, c.width - 1}, root);
  if (c.collective != WarpCollective::kBroadcast) call.immaterial("root");
  describe_shape(call, shape, c, c.width);
  describe_arrays<T>(call, x, y, c);
  call.lengthens("blocks", 1, kMostBlocks, {{"x", c.threads()}, {"y", c.threads()}});
  return call;
}

Call<Shuffle> lane_and_warp_call(const CollectiveCase& c) {
  Call<Shuffle> call("lane_and_warp");
  auto& [y, shape] = call.arguments(&Shuffle::lane_and_warp, nullptr, c.shape());
  describe_shape(call, shape, c);
  call.output<std::uint32_t>("y", y, {.count = 2 * static_cast<std::int64_t>(c.elements())},
                             {c.y_offset, c.poison});
  call.lengthens("blocks", 1, kMostBlocks, {{"y", 2 * c.threads()}});
  return call;
}

Calls<Shuffle> calls_of(const CollectiveCase& c) {
  Calls<Shuffle> calls;
  const auto add = [&]<class T>(T) {
    calls.push_back(shuffle_call<T>(c));
    calls.push_back(collective_call<T>(c));
  };
  add(float{});
  if (c.type != ElementType::kFloat) with_type(c.type, add);
  calls.push_back(lane_and_warp_call(c));
  return calls;
}

}  // namespace

Laws<Shuffle> shuffle_laws() {
  return with_batteries<calls_of, CollectiveCase, Arrays::kContiguous,
                        kSaysImmaterial | kSaysLengths>({
      refusal_law<calls_of, CollectiveCase>("RefusesBadArguments", {.cases = 200, .cost = 4}),
      law("MatchesItsDefinition", exchange_matches_its_definition, {.cases = 3000}),
      law("MatchesItsDefinitionForEveryOperand", exchange_matches_its_definition_for_every_operand,
          {.cases = 2, .cost = 1000}),
      law("ExchangingTwiceByXorChangesNothing", exchanging_twice_by_xor_changes_nothing,
          {.cases = 300}),
      law("DownAfterUpRestoresTheInterior", down_after_up_restores_the_interior, {.cases = 300}),
      law("RotationHasTheOrderOfItsWidth", rotation_has_the_order_of_its_width,
          {.cases = 100, .cost = 10}),
      law("LanesAndWarpsAreNumberedAlongXFirst", lanes_and_warps_are_numbered_along_x_first,
          {.cases = 300}),
      law("CollectiveMatchesItsReference", collective_matches_its_reference, {.cases = 1500}),
      law("CollectiveKeepsItsRoundings", collective_keeps_its_roundings, {.cases = 10, .cost = 20}),
      law("CollectiveKeepsTheSignsOfZeros", collective_keeps_the_signs_of_zeros,
          {.cases = 10, .cost = 20}),
      law("ComesAlongTwoBranches", comes_along_two_branches, {.cases = 20, .cost = 2}),
      law("NumbersBlocksBeyond16Bits", numbers_blocks_beyond_16_bits, {.cases = 1, .cost = 1000}),
      law("IsDeterministic", exchange_is_deterministic, {.cases = 20, .cost = 50}),
      law("CollectiveIsDeterministic", collective_is_deterministic, {.cases = 15, .cost = 50}),
  });
}

}  // namespace lockstep::properties
