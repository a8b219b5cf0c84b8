#include "properties/shuffle.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "harness/half.h"
#include "harness/property.h"
#include "harness/refusal.h"
#include "reference/shuffle.h"

namespace lockstep::properties {
namespace {

using kernels::LaunchStatus;
using kernels::ShuffleOp;
using kernels::WarpCollective;
using kernels::WarpShape;

// What a launcher's element type is called on the host.
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

// Calls body with a value of the case's element type, for its type alone.
template <class Body>
void with_type(ElementType type, Body&& body) {
  switch (type) {
    case ElementType::kInt:
      return body(int{});
    case ElementType::kUnsigned:
      return body(unsigned{});
    case ElementType::kLongLong:
      return body(0ll);
    case ElementType::kFloat:
      return body(float{});
    case ElementType::kDouble:
      return body(double{});
    case ElementType::kHalf:
      return body(__half{});
  }
}

template <class T>
T* device(T* p) {
  return p;
}
inline __half* device(Half* p) { return reinterpret_cast<__half*>(p); }

reference::Exchange exchange_of(ShuffleOp op) {
  switch (op) {
    case ShuffleOp::kIndex:
      return reference::Exchange::kIndex;
    case ShuffleOp::kUp:
      return reference::Exchange::kUp;
    case ShuffleOp::kDown:
      return reference::Exchange::kDown;
    case ShuffleOp::kXor:
      return reference::Exchange::kButterfly;
  }
  throw std::logic_error("an exchange without a reference");
}

// Lanes of the warp of thread t that are threads, in blocks of `threads`.
std::uint32_t existing_lanes(int t, int threads) {
  const int left = threads - t / 32 * 32;
  return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

// One launch of an exchange on arrays under the case's contract.
template <class T>
DeviceArray<Host<T>> run(const Shuffle& family, const WarpCase& c, ShuffleOp op, const std::vector<Host<T>>& x,
                         const std::vector<int>& operand, std::uint32_t members, bool divergent) {
  const auto in = DeviceArray<Host<T>>::input("x", x, {.misalignment = c.x_offset, .poison = c.poison});
  const auto operands = DeviceArray<int>::input("operand", operand, {.misalignment = c.y_offset, .poison = c.poison});
  auto out = DeviceArray<Host<T>>::output("y", x.size(), {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(family.of<T>().shuffle(op, device(in.data()), operands.data(), device(out.data()), c.width, members,
                                      divergent, c.shape(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return out;
}

// The same with one operand for all, every lane a member.
template <class T>
std::vector<Host<T>> run(const Shuffle& family, const WarpCase& c, ShuffleOp op, const std::vector<Host<T>>& x,
                         int operand) {
  return run<T>(family, c, op, x, std::vector<int>(x.size(), operand), 0xffffffffu, false).fetch();
}

template <class T>
std::vector<Host<T>> values_of_case(const WarpCase& c) {
  return make_values<Host<T>>(c.values, c.elements());
}

}  // namespace

void WarpCase::fields_of(WarpCase& c, FieldVisitor& field, const std::vector<ValueKind>& values) {
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

void ExchangeCase::fields(ExchangeCase& c, FieldVisitor& field) {
  using enum kernels::ShuffleOp;
  fields_of(c, field, kAnyValues);
  field("op", c.op, choice<kernels::ShuffleOp>({{"index", kIndex}, {"up", kUp}, {"down", kDown}, {"xor", kXor}}));
  field("members", c.members,
        one_of<std::uint32_t>({0xffffffffu, 1u, 0x80000000u, 0x0000ffffu, 0xffff0000u, 0x55555555u, 0xf0f0f0f0u,
                               0x7fffffffu, 0xfffffffeu, 0x12345678u}));
  field("divergent", c.divergent, booleans());
  field("uniform", c.uniform, booleans());
  field("operand_seed", c.operand_seed, seeds());
}

void CollectiveCase::fields(CollectiveCase& c, FieldVisitor& field) {
  using enum kernels::WarpCollective;
  fields_of(c, field, {ValueKind::kSmallIntegers, ValueKind::kIndex, ValueKind::kOne, ValueKind::kUniform});
  field("collective", c.collective,
        choice<kernels::WarpCollective>({{"broadcast", kBroadcast},
                                         {"butterfly_sum", kButterflySum},
                                         {"tree_sum", kTreeSum},
                                         {"inclusive_scan", kInclusiveScan},
                                         {"exclusive_scan", kExclusiveScan}}));
  field("root", c.root, range(0, 31));
}

void LanesCase::fields(LanesCase& c, FieldVisitor& field) {
  fields_of(c, field, kAnyValues);
  field("lanes", c.lanes, range(0, 31));
}

void RefusedExchangeCase::fields(RefusedExchangeCase& c, FieldVisitor& field) {
  using enum Mistake;
  fields_of(c, field, kAnyValues);
  field("mistake", c.mistake,
        choice<Mistake>({{"no_threads", kNoThreads},
                         {"too_many_threads", kTooManyThreads},
                         {"no_blocks", kNoBlocks},
                         {"odd_width", kOddWidth},
                         {"no_width", kNoWidth},
                         {"null_input", kNullInput},
                         {"null_output", kNullOutput},
                         {"null_operand", kNullOperand},
                         {"misaligned_input", kMisalignedInput},
                         {"misaligned_output", kMisalignedOutput},
                         {"overlap", kOverlap},
                         {"unknown_operation", kUnknownOperation},
                         {"unknown_collective", kUnknownCollective},
                         {"root_outside", kRootOutside},
                         {"partial_segment", kPartialSegment}}));
}

void WarpCase::normalise() {
  if (x * y * z > 1024) z = 1;
  if (x * y * z > 1024) y = 1;
}

WarpShape WarpCase::shape() const {
  return {.block = dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)),
          .blocks = static_cast<unsigned>(blocks)};
}

void CollectiveCase::normalise() {
  WarpCase::normalise();
  while (threads() % width != 0) width /= 2;
  root %= width;
}

void LanesCase::normalise() {
  WarpCase::normalise();
  if (threads() % 32 != 0) x = 32, y = z = 1;
}

std::uint32_t ExchangeCase::peers(int lane, std::uint32_t existing) const {
  const std::uint32_t even = 0x55555555u, parity = lane % 2 == 0 ? even : ~even;
  return members & existing & (divergent ? parity : 0xffffffffu);
}

std::vector<int> ExchangeCase::operands() const {
  std::vector<int> operand(elements());
  for (std::size_t i = 0; i < operand.size(); ++i) {
    const int t = static_cast<int>(i % threads()), lane = t % 32;
    operand[i] = static_cast<int>(mix(operand_seed + (uniform ? 0 : i)) % 113) - 40;
    const int source = reference::source_lane(exchange_of(op), lane, operand[i], width);
    if (!(peers(lane, existing_lanes(t, threads())) >> source & 1)) operand[i] = op == ShuffleOp::kIndex ? lane : 0;
  }
  return operand;
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
        expected[i] = x[i - lane + reference::source_lane(exchange_of(c.op), lane, operand[i], c.width)];
      } else {
        REQUIRE_LAW(out.holds_poison(i, y[i]), "lane {} is no member, but its element {} was written", lane, i);
      }
    }
    REQUIRE_BITWISE_EQUAL(y, expected, c.where());
  });
}

void exchange_matches_its_definition_for_every_operand(const Shuffle& shuffle, const LanesCase& c) {
  std::vector<int> each = {std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 1 << 16, (1 << 16) + 1};
  for (int operand = -40; operand <= 72; ++operand) each.push_back(operand);
  LanesCase all = c;
  all.x = 32, all.y = all.z = 1, all.blocks = static_cast<int>(each.size());
  std::vector<int> operand(all.elements());
  for (std::size_t i = 0; i < operand.size(); ++i) operand[i] = each[i / 32];
  for (const auto type : {ElementType::kInt, ElementType::kUnsigned, ElementType::kLongLong, ElementType::kFloat,
                          ElementType::kDouble, ElementType::kHalf}) {
    for (const auto op : {ShuffleOp::kIndex, ShuffleOp::kUp, ShuffleOp::kDown, ShuffleOp::kXor}) {
      for (const int width : {1, 2, 4, 8, 16, 32}) {
        all.width = width;
        with_type(type, [&]<class T>(T) {
          const auto x = values_of_case<T>(all);
          auto expected = x;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const int lane = static_cast<int>(i % 32);
            expected[i] = x[i - lane + reference::source_lane(exchange_of(op), lane, operand[i], width)];
          }
          REQUIRE_BITWISE_EQUAL(run<T>(shuffle, all, op, x, operand, 0xffffffffu, false), expected, all.where());
        });
      }
    }
  }
}

void exchanging_twice_by_xor_changes_nothing(const Shuffle& shuffle, const LanesCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    LanesCase inside = c;
    inside.lanes %= c.width;  // a mask that leaves the segment is no exchange
    const auto once = run<T>(shuffle, inside, ShuffleOp::kXor, x, inside.lanes);
    REQUIRE_BITWISE_EQUAL(run<T>(shuffle, inside, ShuffleOp::kXor, once, inside.lanes), x, c.where());
  });
}

void down_after_up_restores_the_interior(const Shuffle& shuffle, const LanesCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    const int lanes = c.lanes % c.width;
    const auto up = run<T>(shuffle, c, ShuffleOp::kUp, x, lanes),
               back = run<T>(shuffle, c, ShuffleOp::kDown, up, lanes);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (static_cast<int>(i) % c.width + lanes >= c.width) continue;  // came from outside the segment
      REQUIRE_LAW(back[i] == x[i] || x[i] != x[i], "element {} of {} does not come back through up and down by {}", i,
                  x.size(), lanes);
    }
  });
}

void rotation_has_the_order_of_its_width(const Shuffle& shuffle, const LanesCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    std::vector<int> next(x.size());
    std::iota(next.begin(), next.end(), 1);  // the lane after the own; the index wraps within its segment
    auto turned = x;
    for (int i = 0; i < c.width; ++i)
      turned = run<T>(shuffle, c, ShuffleOp::kIndex, turned, next, 0xffffffffu, false).fetch();
    REQUIRE_BITWISE_EQUAL(turned, x, c.where());
  });
}

void lanes_and_warps_are_numbered_along_x_first(const Shuffle& shuffle, const ExchangeCase& c) {
  const auto out =
      DeviceArray<std::uint32_t>::output("y", 2 * c.elements(), {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(shuffle.lane_and_warp(out.data(), c.shape(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < c.elements(); ++i) {
    const auto t = static_cast<std::uint32_t>(i % c.threads());
    expected.insert(expected.end(), {t % 32, t / 32});
  }
  REQUIRE_BITWISE_EQUAL(out, expected);
}

namespace {

// What a collective should give, exactly: integers modulo their width.
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
    case WarpCollective::kButterflySum:
      return reference::SegmentSum::kAll;
    case WarpCollective::kTreeSum:
      return reference::SegmentSum::kFirst;
    case WarpCollective::kInclusiveScan:
      return reference::SegmentSum::kInclusive;
    case WarpCollective::kExclusiveScan:
      return reference::SegmentSum::kExclusive;
    case WarpCollective::kBroadcast:
      break;
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

}  // namespace

void collective_matches_its_reference(const Shuffle& shuffle, const CollectiveCase& c) {
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    const auto in = DeviceArray<Host<T>>::input("x", x, {.misalignment = c.x_offset, .poison = c.poison});
    const auto out = DeviceArray<Host<T>>::output("y", x.size(), {.misalignment = c.y_offset, .poison = c.poison});
    REQUIRE_CUDA(shuffle.of<T>().warp_collective(c.collective, device(in.data()), device(out.data()), c.width, c.root,
                                                 c.shape(), nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    if (c.collective == WarpCollective::kBroadcast) {
      auto expected = x;
      for (std::size_t i = 0; i < x.size(); ++i) expected[i] = x[i / c.width * c.width + c.root];
      REQUIRE_BITWISE_EQUAL(out, expected, c.where());
    } else if constexpr (std::is_integral_v<Host<T>>) {
      REQUIRE_BITWISE_EQUAL(out, integer_sums(c, x), c.where());
    } else {
      Eigen::ArrayXd terms(static_cast<Eigen::Index>(x.size()));
      for (std::size_t i = 0; i < x.size(); ++i) terms(static_cast<Eigen::Index>(i)) = number(x[i]);
      const reference::Bounded sums =
          reference::segment_sums(sum_of(c.collective), terms, c.width, kUnitRoundoff<Host<T>>);
      REQUIRE_WITHIN_BOUND(out, sums, c.where());
    }
  });
}

void exchange_is_deterministic(const Shuffle& shuffle, const ExchangeCase& c) {
  constexpr int kSchedules = 50;
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    REQUIRE_DETERMINISTIC(kSchedules,
                          [&] { return run<T>(shuffle, c, c.op, x, c.operands(), c.members, c.divergent).fetch(); });
  });
}

void exchange_refuses_bad_arguments(const Shuffle& shuffle, const RefusedExchangeCase& c) {
  using enum RefusedExchangeCase::Mistake;
  const std::vector<float> x = values_of_case<float>(c);
  const auto in = DeviceArray<float>::input("x", x, {.misalignment = c.x_offset, .poison = c.poison});
  const auto operands = DeviceArray<int>::input("operand", std::vector<int>(x.size()), {});
  const auto out = DeviceArray<float>::output("y", x.size(), {.misalignment = c.y_offset, .poison = c.poison});
  struct {
    ShuffleOp op = ShuffleOp::kIndex;
    WarpCollective collective = WarpCollective::kBroadcast;
    const float* x;
    const int* operand;
    float* y;
    int width, root = 0;
    WarpShape shape;
  } with = {.x = in.data(), .operand = operands.data(), .y = out.data(), .width = 1, .shape = c.shape()};
  switch (c.mistake) {
    case kNoThreads:
      with.shape.block.y = 0;
      break;
    case kTooManyThreads:
      with.shape.block = dim3(1024, 2, 1);
      break;
    case kNoBlocks:
      with.shape.blocks = 0;
      break;
    case kOddWidth:
      with.width = 3;
      break;
    case kNoWidth:
      with.width = 0;
      break;
    case kNullInput:
      with.x = nullptr;
      break;
    case kNullOutput:
      with.y = nullptr;
      break;
    case kNullOperand:
      with.operand = nullptr;
      break;
    case kMisalignedInput:
      with.x = shifted_by_bytes(with.x, 2);
      break;
    case kMisalignedOutput:
      with.y = shifted_by_bytes(with.y, 1);
      break;
    case kOverlap:
      with.y = const_cast<float*>(with.x) + (x.size() - 1);
      break;
    case kUnknownOperation:
      with.op = static_cast<ShuffleOp>(4);
      break;
    case kUnknownCollective:
      with.collective = static_cast<WarpCollective>(5);
      break;
    case kRootOutside:
      with.root = with.width;
      break;
    case kPartialSegment:
      with.shape.block = dim3(33), with.width = 32;
      break;
  }
  const bool of_shuffle_only = c.mistake == kNullOperand || c.mistake == kUnknownOperation;
  const bool of_collective_only =
      c.mistake == kUnknownCollective || c.mistake == kRootOutside || c.mistake == kPartialSegment;
  if (!of_collective_only)
    REQUIRE_REFUSED(shuffle.of<float>().shuffle(with.op, with.x, with.operand, with.y, with.width, ~0u, false,
                                                with.shape, nullptr));
  if (!of_shuffle_only) {
    REQUIRE_REFUSED(shuffle.of<float>().warp_collective(with.collective, with.x, with.y, with.width, with.root,
                                                        with.shape, nullptr));
  }
  REQUIRE_UNTOUCHED(out);
}

void collective_is_deterministic(const Shuffle& shuffle, const CollectiveCase& c) {
  constexpr int kSchedules = 50;
  with_type(c.type, [&]<class T>(T) {
    const auto x = values_of_case<T>(c);
    REQUIRE_DETERMINISTIC(kSchedules, [&] {
      const auto in = DeviceArray<Host<T>>::input("x", x, {.misalignment = c.x_offset, .poison = c.poison});
      const auto out = DeviceArray<Host<T>>::output("y", x.size(), {.misalignment = c.y_offset, .poison = c.poison});
      REQUIRE_CUDA(shuffle.of<T>().warp_collective(c.collective, device(in.data()), device(out.data()), c.width, c.root,
                                                   c.shape(), nullptr));
      return out.fetch();
    });
  });
}

const std::vector<Law<Shuffle>>& shuffle_laws() {
  static const std::vector<Law<Shuffle>> laws = {
      law("RefusesBadArguments", exchange_refuses_bad_arguments, 4),
      law("MatchesItsDefinition", exchange_matches_its_definition),
      law("MatchesItsDefinitionForEveryOperand", exchange_matches_its_definition_for_every_operand, 1000),
      law("ExchangingTwiceByXorChangesNothing", exchanging_twice_by_xor_changes_nothing),
      law("DownAfterUpRestoresTheInterior", down_after_up_restores_the_interior),
      law("RotationHasTheOrderOfItsWidth", rotation_has_the_order_of_its_width, 10),
      law("LanesAndWarpsAreNumberedAlongXFirst", lanes_and_warps_are_numbered_along_x_first),
      law("CollectiveMatchesItsReference", collective_matches_its_reference),
      law("IsDeterministic", exchange_is_deterministic, 50),
      law("CollectiveIsDeterministic", collective_is_deterministic, 50),
  };
  return laws;
}

}  // namespace lockstep::properties
