#include "properties/memory_access.h"

#include <algorithm>

#include "harness/property.h"
#include "harness/refusal.h"
#include "properties/no_launch.h"

namespace lockstep::properties {
namespace {

using kernels::AccessPattern;
using kernels::AccessShape;
using kernels::LaunchStatus;
using kernels::LoadPath;
using kernels::PatternKind;
using Bytes = std::vector<std::uint8_t>;

constexpr int kConstantBytes = 65536;

DeviceArray<std::uint8_t> input(const char* name, const Bytes& bytes, int offset, const AccessCase& c) {
  return DeviceArray<std::uint8_t>::input(name, bytes, {.misalignment = offset * c.bytes, .poison = c.poison});
}
DeviceArray<std::uint8_t> output(const char* name, std::int64_t elements, int offset, const AccessCase& c) {
  return DeviceArray<std::uint8_t>::output(name, elements * c.bytes,
                                           {.misalignment = offset * c.bytes, .poison = c.poison});
}

DeviceArray<std::uint8_t> run_gather(const MemoryAccess& access, const AccessCase& c,
                                     const DeviceArray<std::uint8_t>& x) {
  auto y = output("y", c.n, c.y_offset, c);
  REQUIRE_CUDA(
      access.gather(c.path, c.pattern(), c.bytes, x.data(), c.reach(), y.data(), c.n, {.block = c.block}, nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return y;
}

DeviceArray<std::uint8_t> run_scatter(const MemoryAccess& access, const AccessCase& c,
                                      const DeviceArray<std::uint8_t>& x) {
  auto y = output("y", c.reach(), c.y_offset, c);
  REQUIRE_CUDA(access.scatter(c.pattern(), c.bytes, x.data(), y.data(), c.reach(), c.n, {.block = c.block}, nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  return y;
}

// Bytes that no thread wrote must hold the poison; the others are `expected`.
void judge(const DeviceArray<std::uint8_t>& y, const Bytes& expected, const std::vector<bool>& written,
           const AccessCase& c, const WhereIs& where) {
  const Bytes actual = y.fetch();
  Bytes wanted = actual;
  for (std::size_t b = 0; b < actual.size(); ++b) {
    if (written[b]) {
      wanted[b] = expected[b];
    } else {
      REQUIRE_LAW(y.holds_poison(b, actual[b]), "no thread writes element {} of y, but its byte {} changed",
                  b / c.bytes, b % c.bytes);
    }
  }
  REQUIRE_BITWISE_EQUAL(actual, wanted, where);
}

// The model over all warps of a launch, where thread t goes to address base + place(t) * bytes.
template <class Place>
reference::Transactions model(const AccessCase& c, const void* base, Place&& place) {
  reference::Transactions sum;
  for (std::int64_t first = 0; first < c.n; first += 32) {
    reference::Addresses addresses(std::min<std::int64_t>({32, c.lanes, c.n - first}));
    for (Eigen::Index lane = 0; lane < addresses.size(); ++lane) {
      addresses(lane) =
          reinterpret_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(place(first + lane) * c.bytes);
    }
    sum += reference::request(addresses, c.bytes);
  }
  return sum;
}

void judge(const char* what, const TransactionCount& t) {
  REQUIRE_LAW(t.counted.requests == t.model.requests && t.counted.sectors == t.model.sectors &&
                  t.counted.lines == t.model.lines,
              "{}: the model says {} requests, {} sectors, {} lines; counted were {}, {}, {}", what, t.model.requests,
              t.model.sectors, t.model.lines, t.counted.requests, t.counted.sectors, t.counted.lines);
}

reference::Transactions loads(const lockstepCounters& k) {
  return {.requests = k.global_load_requests, .lines = k.global_load_lines, .sectors = k.global_load_sectors};
}
reference::Transactions stores(const lockstepCounters& k) {
  return {.requests = k.global_store_requests, .lines = k.global_store_lines, .sectors = k.global_store_sectors};
}

}  // namespace

void AccessCase::fields(AccessCase& c, FieldVisitor& field) { fields_of(c, field, 5000); }

void AccessCase::fields_of(AccessCase& c, FieldVisitor& field, std::int64_t most) {
  using enum kernels::LoadPath;
  using enum kernels::PatternKind;
  field("n", c.n, sizes(0, most));
  field("bytes", c.bytes, one_of<int>({4, 1, 2, 8, 16}));
  field("path", c.path,
        choice<kernels::LoadPath>(
            {{"default", kDefault}, {"ca", kCa}, {"cg", kCg}, {"read_only", kReadOnly}, {"constant", kConstant}}));
  field("pattern", c.kind,
        choice<kernels::PatternKind>({{"consecutive", kConsecutive},
                                      {"permuted", kPermuted},
                                      {"one_address", kOneAddress},
                                      {"strided", kStrided},
                                      {"random", kRandom}}));
  field("offset", c.offset, range(0, 32));
  field("factor", c.factor, one_of<int>({1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33}));
  field("lanes", c.lanes, one_of<int>({32, 1, 2, 3, 16, 31}));
  field("block", c.block, one_of<int>({32, 64, 128, 256, 1024}));
  field("x_offset", c.x_offset, range(0, 32));
  field("y_offset", c.y_offset, range(0, 32));
  field("poison", c.poison, poisons());
  field("seed", c.seed, seeds());
}

void ScatterCase::fields(ScatterCase& c, FieldVisitor& field) { AccessCase::fields(c, field); }

void ScheduledAccessCase::fields(ScheduledAccessCase& c, FieldVisitor& field) { fields_of(c, field, 400); }

void RefusedAccessCase::fields(RefusedAccessCase& c, FieldVisitor& field) {
  using enum Mistake;
  fields_of(c, field, 400);
  field("mistake", c.mistake,
        choice<Mistake>({{"odd_element", kOddElement},
                         {"negative_size", kNegativeSize},
                         {"huge_size", kHugeSize},
                         {"odd_block", kOddBlock},
                         {"too_many_threads", kTooManyThreads},
                         {"null_input", kNullInput},
                         {"null_output", kNullOutput},
                         {"misaligned", kMisaligned},
                         {"overlap", kOverlap},
                         {"too_far", kTooFar},
                         {"negative_offset", kNegativeOffset},
                         {"no_lanes", kNoLanes},
                         {"too_many_lanes", kTooManyLanes},
                         {"even_permutation", kEvenPermutation},
                         {"no_stride", kNoStride},
                         {"unknown_path", kUnknownPath},
                         {"unknown_pattern", kUnknownPattern}}));
}

void AccessCase::normalise() {
  if (kind == PatternKind::kPermuted) factor |= 1;
  if (path == LoadPath::kConstant) {
    while (n > 0 && reach() * bytes > kConstantBytes) n /= 2;
  }
}

void ScatterCase::normalise() {
  if (kind == PatternKind::kRandom || kind == PatternKind::kOneAddress) kind = PatternKind::kStrided;
  AccessCase::normalise();
}

void RefusedAccessCase::normalise() {
  n = std::max<std::int64_t>(n, 1);
  if (mistake == Mistake::kEvenPermutation) kind = PatternKind::kPermuted;
  if (mistake == Mistake::kNoStride) kind = PatternKind::kStrided;
  if (mistake == Mistake::kTooFar && kind == PatternKind::kRandom) kind = PatternKind::kConsecutive;
  if (mistake == Mistake::kMisaligned && bytes == 1) bytes = 4;
  AccessCase::normalise();
  n = std::max<std::int64_t>(n, 1);
}

std::int64_t AccessCase::index(std::int64_t t) const {
  switch (kind) {
    case PatternKind::kConsecutive:
      return offset + t;
    case PatternKind::kPermuted:
      return offset + t / 32 * 32 + factor * (t % 32) % 32;
    case PatternKind::kOneAddress:
      return offset;
    case PatternKind::kStrided:
      return offset + factor * t;
    case PatternKind::kRandom:
      return static_cast<std::int64_t>(mix((static_cast<std::uint64_t>(factor) << 32) + static_cast<std::uint64_t>(t)) %
                                       static_cast<std::uint64_t>(reach()));
  }
  throw std::logic_error("a pattern without an index");
}

std::int64_t AccessCase::reach() const {
  if (n == 0) return 0;
  switch (kind) {
    case PatternKind::kConsecutive:
      return offset + n;
    case PatternKind::kPermuted:
      return offset + (n + 31) / 32 * 32;
    case PatternKind::kOneAddress:
      return offset + 1;
    case PatternKind::kStrided:
      return offset + factor * (n - 1) + 1;
    case PatternKind::kRandom:
      return n + offset;
  }
  throw std::logic_error("a pattern without a reach");
}

Bytes AccessCase::bytes_of(std::int64_t count) const {
  Bytes v(static_cast<std::size_t>(count * bytes));
  for (std::size_t b = 0; b < v.size(); ++b) v[b] = static_cast<std::uint8_t>(mix(seed ^ (b << 8)));
  return v;
}

WhereIs AccessCase::where() const {
  return [bytes = static_cast<std::size_t>(bytes), block = static_cast<std::size_t>(block),
          items = static_cast<std::size_t>(kernels::access_items(bytes))](std::size_t b) {
    const std::size_t t = b / bytes;
    return Origin{.block = t / (items * block), .thread = static_cast<std::uint32_t>(t % block)};
  };
}

void gather_delivers_every_bit(const MemoryAccess& access, const AccessCase& c) {
  const Bytes x = c.bytes_of(c.reach());
  const auto in = input("x", x, c.x_offset, c);
  const auto y = run_gather(access, c, in);
  Bytes expected(y.size());
  std::vector<bool> written(y.size());
  for (std::int64_t t = 0; t < c.n; ++t) {
    if (!c.takes_part(t)) continue;
    std::copy_n(x.begin() + c.index(t) * c.bytes, c.bytes, expected.begin() + t * c.bytes);
    std::fill_n(written.begin() + t * c.bytes, c.bytes, true);
  }
  judge(y, expected, written, c, c.where());
}

void scatter_delivers_every_bit(const MemoryAccess& access, const ScatterCase& c) {
  const Bytes x = c.bytes_of(c.n);
  const auto in = input("x", x, c.x_offset, c);
  const auto y = run_scatter(access, c, in);
  Bytes expected(y.size());
  std::vector<bool> written(y.size());
  for (std::int64_t t = 0; t < c.n; ++t) {
    if (!c.takes_part(t)) continue;
    std::copy_n(x.begin() + t * c.bytes, c.bytes, expected.begin() + c.index(t) * c.bytes);
    std::fill_n(written.begin() + c.index(t) * c.bytes, c.bytes, true);
  }
  judge(y, expected, written, c, {});
}

TransactionCount count_gather_loads(const MemoryAccess& access, const AccessCase& c) {
  const auto in = input("x", c.bytes_of(c.reach()), c.x_offset, c);
  const lockstepCounters counters = counters_of([&] { run_gather(access, c, in); });
  return {model(c, in.data(), [&](std::int64_t t) { return c.index(t); }), loads(counters)};
}

TransactionCount count_scatter_stores(const MemoryAccess& access, const AccessCase& c) {
  const auto in = input("x", c.bytes_of(c.n), c.x_offset, c);
  std::uint64_t base = 0;
  const lockstepCounters counters =
      counters_of([&] { base = reinterpret_cast<std::uint64_t>(run_scatter(access, c, in).data()); });
  return {model(c, reinterpret_cast<const void*>(base), [&](std::int64_t t) { return c.index(t); }), stores(counters)};
}

void gather_transactions_equal_the_model(const MemoryAccess& access, const AccessCase& c) {
  require_capability({Capability::kSimulator});
  AccessCase global = c;
  if (global.path == LoadPath::kConstant)
    global.path = LoadPath::kDefault;  // constant memory has no transactions of its own
  judge("loads", count_gather_loads(access, global));
}

void scatter_transactions_equal_the_model(const MemoryAccess& access, const ScatterCase& c) {
  require_capability({Capability::kSimulator});
  judge("stores", count_scatter_stores(access, c));
}

void memory_access_is_deterministic(const MemoryAccess& access, const ScheduledAccessCase& c) {
  constexpr int kSchedules = 50;
  const auto in = input("x", c.bytes_of(c.reach()), c.x_offset, c);
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return run_gather(access, c, in).fetch(); });
  if (c.kind == PatternKind::kRandom || c.kind == PatternKind::kOneAddress) return;  // no pattern of a scatter
  const auto from = input("x", c.bytes_of(c.n), c.x_offset, c);
  REQUIRE_DETERMINISTIC(kSchedules, [&] { return run_scatter(access, c, from).fetch(); });
}

void memory_access_refuses_bad_arguments(const MemoryAccess& access, const RefusedAccessCase& c) {
  using enum RefusedAccessCase::Mistake;
  const auto in = input("x", c.bytes_of(c.reach()), c.x_offset, c);
  const auto out = output("y", c.reach(), c.y_offset, c);
  struct {
    LoadPath path;
    AccessPattern pattern;
    int bytes;
    const std::uint8_t* x;
    std::uint8_t* y;
    std::int64_t count, n;
    AccessShape shape;
  } with = {c.path, c.pattern(), c.bytes, in.data(), out.data(), c.reach(), c.n, {.block = c.block}};
  switch (c.mistake) {
    case kOddElement:
      with.bytes = 3;
      break;
    case kNegativeSize:
      with.n = -c.n;
      break;
    case kHugeSize:
      with.n = (std::int64_t{1} << 36) + 1;
      break;
    case kOddBlock:
      with.shape.block = 33;
      break;
    case kTooManyThreads:
      with.shape.block = 1056;
      break;
    case kNullInput:
      with.x = nullptr;
      break;
    case kNullOutput:
      with.y = nullptr;
      break;
    case kMisaligned:
      with.x += 1;
      break;
    case kOverlap:
      with.y = const_cast<std::uint8_t*>(with.x);
      break;
    case kTooFar:
      with.count = c.reach() - 1;
      break;
    case kNegativeOffset:
      with.pattern.offset = -1;
      break;
    case kNoLanes:
      with.pattern.lanes = 0;
      break;
    case kTooManyLanes:
      with.pattern.lanes = 33;
      break;
    case kEvenPermutation:
      with.pattern.factor = 2;
      break;
    case kNoStride:
      with.pattern.factor = 0;
      break;
    case kUnknownPath:
      with.path = static_cast<LoadPath>(5);
      break;
    case kUnknownPattern:
      with.pattern.kind = static_cast<PatternKind>(5);
      break;
  }
  REQUIRE_REFUSED(
      access.gather(with.path, with.pattern, with.bytes, with.x, with.count, with.y, with.n, with.shape, nullptr));
  if (c.mistake != kUnknownPath)
    REQUIRE_REFUSED(access.scatter(with.pattern, with.bytes, with.x, with.y, with.count, with.n, with.shape, nullptr));
  REQUIRE_UNTOUCHED(out);
}

void memory_access_launches_nothing_for_no_work(const MemoryAccess& access, const AccessCase& c) {
  require_no_launch([&](cudaStream_t stream) {
    AccessPattern pattern = c.pattern();
    for (const LaunchStatus& status :
         {access.gather(c.path, pattern, c.bytes, nullptr, 0, nullptr, 0, {.block = c.block}, stream),
          access.scatter({}, c.bytes, nullptr, nullptr, 0, 0, {.block = c.block}, stream)}) {
      REQUIRE_LAW(status.ok(), "n = 0 is legal, but a launcher answers: {}", status.message);
    }
  });
}

const std::vector<Law<MemoryAccess>>& memory_access_laws() {
  static const std::vector<Law<MemoryAccess>> laws = {
      law("LaunchesNothingForNoWork", memory_access_launches_nothing_for_no_work, 4),
      law("RefusesBadArguments", memory_access_refuses_bad_arguments, 4),
      law("GatherDeliversEveryBit", gather_delivers_every_bit),
      law("ScatterDeliversEveryBit", scatter_delivers_every_bit),
      law("GatherTransactionsEqualTheModel", gather_transactions_equal_the_model),
      law("ScatterTransactionsEqualTheModel", scatter_transactions_equal_the_model),
      law("IsDeterministic", memory_access_is_deterministic, 50),
  };
  return laws;
}

}  // namespace lockstep::properties
