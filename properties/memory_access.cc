#include "properties/memory_access.h"

#include <algorithm>
#include <limits>

#include "properties/batteries.h"
#include "properties/contract_laws.h"
#include "properties/far_access.h"
#include "properties/trial.h"

namespace lockstep::properties {
namespace {

using kernels::AccessPattern;
using kernels::AccessShape;
using kernels::LoadPath;
using kernels::PatternKind;
using Bytes = std::vector<std::uint8_t>;
using Contents = std::function<Bytes()>;

constexpr int kConstantBytes = 65536;

// The launchers' calls for a case, with their contracts; with the case's contents of x, or others.

// Whether all threads access different elements.
bool is_pattern_of_a_scatter(const AccessCase& c) {
  return c.kind != PatternKind::kRandom && (c.kind != PatternKind::kOneAddress || c.n <= 1);
}

// The kinds of pattern that stay within the case's array.
Range kinds_within(const AccessCase& c, bool scatters) {
  Range kinds;
  for (std::uint8_t kind = 0; kind <= static_cast<std::uint8_t>(PatternKind::kRandom); ++kind) {
    AccessCase other = c;
    other.kind = static_cast<PatternKind>(kind);
    if (other.kind == PatternKind::kPermuted && c.factor % 2 == 0) continue;
    // A product that may exceed 64 bits.
    const bool leaves = c.n > 0 && Whole{c.factor} * (c.n - 1) + c.offset >= c.reach();
    if (other.kind == PatternKind::kStrided && (c.factor < 1 || leaves)) continue;
    const bool meets =
        other.kind == PatternKind::kRandom || (other.kind == PatternKind::kOneAddress && c.n > 1);
    if (scatters && meets) continue;
    if (other.kind == PatternKind::kRandom || other.reach() <= c.reach())
      kinds.only.push_back(kind);
  }
  return kinds;
}

void describe_access(Call<MemoryAccess>& call, AccessPattern& pattern, int& bytes,
                     AccessShape& shape, const AccessCase& c, bool scatters) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  call.integer("pattern", kinds_within(c, scatters), reinterpret_cast<std::uint8_t&>(pattern.kind));
  // Elements are counted from the offset on; the array has as many as the pattern needs.
  call.integer("offset", {0, c.kind == PatternKind::kRandom || c.n == 0 ? kAny : c.offset},
               pattern.offset);
  if (c.kind == PatternKind::kStrided) {
    const std::int64_t most = c.n <= 1 ? kAny : c.factor;  // one thread has no stride
    call.integer("factor", {1, most}, pattern.factor);
  }
  if (c.kind == PatternKind::kPermuted) {
    call.mistake("factor:even", [&pattern] { ++pattern.factor; });
    call.mistake("factor:0", [&pattern] { pattern.factor = 0; });
  }
  // If the factor has no effect, any value is legal.
  if (c.kind == PatternKind::kConsecutive || c.kind == PatternKind::kOneAddress) {
    call.integer("factor", {-kAny - 1, kAny}, pattern.factor);
    call.immaterial("factor", {-kAny - 1, 0, kAny});
  }
  if (c.kind == PatternKind::kStrided && c.n <= 1) call.immaterial("factor");
  call.integer("lanes", {1, 32}, pattern.lanes);
  Range sizes = {.only = {1, 2, 4, 8, 16}};
  for (const Whole size : sizes.only) {
    if (size <= c.bytes) sizes.here.push_back(size);  // the arrays are large enough, and aligned
  }
  call.integer("bytes", sizes, bytes);
  call.integer("block", {32, 1024, 32}, shape.block);
  call.grid({.threads = c.block});
  call.immaterial("block");
}

// The most threads for which the pattern has elements.
std::int64_t most_threads(const AccessCase& c) {
  if (c.n == 0) return 0;
  if (c.kind == PatternKind::kPermuted) return (c.n + 31) / 32 * 32;
  const bool any = c.kind == PatternKind::kRandom || c.kind == PatternKind::kOneAddress;
  return any ? 32 * std::int64_t{0x7fffffff} : c.n;
}

template <class P>
void describe_arrays(Call<MemoryAccess>& call, const P*& x, std::int64_t x_count, P*& y,
                     std::int64_t y_count, const AccessCase& c, Contents contents) {
  const auto alignment = static_cast<std::size_t>(c.bytes);
  call.input("x", x, {.count = x_count * c.bytes, .alignment = alignment},
             {c.x_offset * c.bytes, c.poison}, std::move(contents));
  call.output<std::uint8_t>("y", y, {.count = y_count * c.bytes, .alignment = alignment},
                            {c.y_offset * c.bytes, c.poison});
  call.apart("x", "y");
}

constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 16;

// More threads, with an array that contains their elements. A pattern without an order has no last
// element.
void describe_length(Call<MemoryAccess>& call, const char* reached, const char* other,
                     std::int64_t& count, const AccessCase& c) {
  if (c.kind == PatternKind::kRandom) return;
  const std::int64_t each = c.kind == PatternKind::kOneAddress ? 0
                            : c.kind == PatternKind::kStrided  ? c.factor
                                                               : 1;
  std::vector<Line> lines = {{other, c.bytes}};
  if (each > 0) lines.push_back({reached, each * c.bytes});
  call.lengthens("n", std::int64_t{c.block} * kernels::access_items(c.bytes),
                 32 * Whole{std::numeric_limits<int>::max()}, std::move(lines),
                 [&count, &c, each](std::int64_t n) { count = c.reach() + each * (n - c.n); });
}

// The array whose extent depends on a pattern: an offset moves all of its elements, and a stride
// separates them.
void describe_reach(Call<MemoryAccess>& call, const char* array, AccessPattern& pattern,
                    std::int64_t& count, const AccessCase& c) {
  if (c.n == 0 || c.kind == PatternKind::kRandom) return;
  const std::int64_t size = c.bytes, behind = c.reach() - c.offset;
  call.spread(array, "offset", {0, kMaxElements - behind},
              [&, behind, size, from = c.offset](std::int64_t value) {
                pattern.offset = value, count = value + behind;
                return std::vector<Piece>{{from * size, behind * size, value * size}};
              });
  // The last elements of the longest array.
  call.together("offset_in_the_longest_array", kMaxElements - behind,
                [&](std::int64_t offset) { pattern.offset = offset, count = kMaxElements; });
  if (c.kind != PatternKind::kStrided || c.n < 2) return;
  call.together("factor_in_the_longest_array", (kMaxElements - 1 - c.offset) / (c.n - 1),
                [&](std::int64_t factor) { pattern.factor = factor, count = kMaxElements; });
  call.spread(
      array, "factor", {1, (kMaxElements - 1 - c.offset) / (c.n - 1)},
      [&, size](std::int64_t value) {
        pattern.factor = value, count = value * (c.n - 1) + c.offset + 1;
        std::vector<Piece> pieces;
        for (std::int64_t t = 0; t < c.n; ++t)
          pieces.push_back({(c.factor * t + c.offset) * size, size, (value * t + c.offset) * size});
        return pieces;
      });
}

Call<MemoryAccess> gather_call(const AccessCase& c, Contents contents) {
  Call<MemoryAccess> call("gather");
  if (c.path == LoadPath::kConstant) call.ordered_by_callers();
  auto& [path, pattern, bytes, x, x_count, y, n, shape] =
      call.arguments(&MemoryAccess::gather, c.path, c.pattern(), c.bytes, nullptr, c.reach(),
                     nullptr, c.n, AccessShape{c.block});
  call.choice("path",
              c.reach() * c.bytes <= kConstantBytes ? LoadPath::kConstant : LoadPath::kReadOnly,
              path);
  describe_access(call, pattern, bytes, shape, c, /*scatters=*/false);
  call.integer("n", {0, most_threads(c)}, n);
  const std::int64_t least =
      c.kind == PatternKind::kRandom ? std::min<std::int64_t>(c.n, 1) : c.reach();
  call.integer("x_count",
               {least, c.path == LoadPath::kConstant ? kConstantBytes / c.bytes : kMaxElements},
               x_count);
  describe_arrays(call, x, c.reach(), y, c.n, c, std::move(contents));
  if (c.path != LoadPath::kConstant)
    describe_reach(call, "x", pattern, x_count, c);  // that holds 64 KB
  call.immaterial("path", {0, 1, 2, 3, static_cast<Whole>(c.path)});
  call.own_kernels("path");
  if (c.path != LoadPath::kConstant) describe_length(call, "x", "y", x_count, c);
  return call;
}

Call<MemoryAccess> gather_call(const AccessCase& c) {
  return gather_call(c, [&c] { return c.bytes_of(c.reach()); });
}

Call<MemoryAccess> scatter_call(const AccessCase& c, Contents contents) {
  Call<MemoryAccess> call("scatter");
  auto& [pattern, bytes, x, y, y_count, n, shape] =
      call.arguments(&MemoryAccess::scatter, c.pattern(), c.bytes, nullptr, nullptr, c.reach(), c.n,
                     AccessShape{c.block});
  describe_access(call, pattern, bytes, shape, c, /*scatters=*/true);
  call.integer("n", {0, c.kind == PatternKind::kOneAddress ? 1 : most_threads(c)}, n);
  call.integer("y_count", {c.reach(), kMaxElements}, y_count);
  describe_arrays(call, x, c.n, y, c.reach(), c, std::move(contents));
  describe_reach(call, "y", pattern, y_count, c);
  if (c.kind != PatternKind::kOneAddress) describe_length(call, "y", "x", y_count, c);
  return call;
}

Call<MemoryAccess> scatter_call(const AccessCase& c) {
  return scatter_call(c, [&c] { return c.bytes_of(c.n); });
}

Calls<MemoryAccess> calls_of(const AccessCase& c) {
  Calls<MemoryAccess> calls;
  calls.push_back(gather_call(c));
  if (is_pattern_of_a_scatter(c)) calls.push_back(scatter_call(c));
  return calls;
}

// A result of this size that no thread has written.
Bytes untouched(std::size_t size, const AccessCase& c) {
  return Bytes(size, static_cast<std::uint8_t>(poison_word(c.poison, sizeof(std::uint8_t))));
}

// Bytes that no thread has written must hold the poison, as in `expected`.
void judge(const DeviceArray<std::uint8_t>& y, const Bytes& expected,
           const std::vector<bool>& written, const AccessCase& c, const WhereIs& where) {
  const Bytes actual = y.fetch();
  if (actual == expected) return;
  Bytes wanted = actual;
  for (std::size_t b = 0; b < actual.size(); ++b) {
    if (written[b]) {
      wanted[b] = expected[b];
    } else {
      REQUIRE_LAW(y.holds_poison(b, actual[b]),
                  "no thread writes element {} of y, but its byte {} changed", b / c.bytes,
                  b % c.bytes);
    }
  }
  REQUIRE_BITWISE_EQUAL(actual, wanted, where);
}

// The model over all warps of a launch, in which thread t accesses address base + place(t) * bytes.
template <class Place>
reference::Transactions model(const AccessCase& c, const void* base, Place&& place) {
  reference::Transactions sum;
  for (std::int64_t first = 0; first < c.n; first += 32) {
    reference::Addresses addresses(std::min<std::int64_t>({32, c.lanes, c.n - first}));
    for (Eigen::Index lane = 0; lane < addresses.size(); ++lane) {
      addresses(lane) = reinterpret_cast<std::uint64_t>(base) +
                        static_cast<std::uint64_t>(place(first + lane) * c.bytes);
    }
    sum += reference::request(addresses, c.bytes);
  }
  return sum;
}

void judge(const char* what, const TransactionCount& t) {
  REQUIRE_LAW(t.counted.requests == t.model.requests && t.counted.sectors == t.model.sectors &&
                  t.counted.lines == t.model.lines,
              "{}: the model says {} requests, {} sectors, {} lines; counted were {}, {}, {}", what,
              t.model.requests, t.model.sectors, t.model.lines, t.counted.requests,
              t.counted.sectors, t.counted.lines);
}

reference::Transactions loads(const lockstepCounters& k) {
  return {.requests = k.global_load_requests,
          .lines = k.global_load_lines,
          .sectors = k.global_load_sectors};
}
reference::Transactions stores(const lockstepCounters& k) {
  return {.requests = k.global_store_requests,
          .lines = k.global_store_lines,
          .sectors = k.global_store_sectors};
}

// Patterns in which all threads access different elements.
struct ScatterCase : AccessCase {
  static void fields(ScatterCase& c, FieldVisitor& field) { AccessCase::fields(c, field); }
  void normalise() {
    if (kind == PatternKind::kRandom) kind = PatternKind::kStrided;
    if (kind == PatternKind::kOneAddress) n = std::min<std::int64_t>(n, 1);
    AccessCase::normalise();
  }
};

// All of constant memory, or all but one element.
struct FullConstantCase : AccessCase {
  bool fewer = false;
  static void fields(FullConstantCase& c, FieldVisitor& field) {
    fields_of(c, field, 0);
    field("fewer", c.fewer, booleans());
  }
};

// A case of moderate size, because it runs once per schedule.
struct ScheduledAccessCase : AccessCase {
  static void fields(ScheduledAccessCase& c, FieldVisitor& field) { fields_of(c, field, 400); }
};

}  // namespace

void AccessCase::fields(AccessCase& c, FieldVisitor& field) { fields_of(c, field, 5000); }

void AccessCase::fields_of(AccessCase& c, FieldVisitor& field, std::int64_t most) {
  using enum kernels::LoadPath;
  using enum kernels::PatternKind;
  field("n", c.n, sizes(0, most));
  field("bytes", c.bytes, one_of<int>({4, 1, 2, 8, 16}));
  field("path", c.path,
        choice<kernels::LoadPath>({{"default", kDefault},
                                   {"ca", kCa},
                                   {"cg", kCg},
                                   {"read_only", kReadOnly},
                                   {"constant", kConstant}}));
  field("pattern", c.kind,
        choice<kernels::PatternKind>({{"consecutive", kConsecutive},
                                      {"permuted", kPermuted},
                                      {"one_address", kOneAddress},
                                      {"strided", kStrided},
                                      {"random", kRandom}}));
  field("offset", c.offset, range(0, 32));
  // The last values are for permutations and seeds: negative, and with bits beyond those that
  // affect the product modulo 32.
  constexpr std::int64_t k16 = 1 << 16, k31 = std::int64_t{1} << 31, k32 = std::int64_t{1} << 32,
                         k62 = k32 << 30;
  field(
      "factor", c.factor,
      one_of<std::int64_t>({1,  2,  3,  4,   5,   8,       9,       16,       17,      31,
                            32, 33, -1, -31, 257, k16 + 7, k31 - 3, -k31 - 5, k62 + 3, -k62 - 1}));
  field("lanes", c.lanes, one_of<int>({32, 1, 2, 3, 16, 31}));
  field("block", c.block, one_of<int>({32, 64, 128, 256, 1024}));
  field("x_offset", c.x_offset, range(0, 32));
  field("y_offset", c.y_offset, range(0, 32));
  field("poison", c.poison, poisons());
  field("seed", c.seed, seeds());
}

void AccessCase::normalise() {
  constexpr std::int64_t kLongestStride = 33;
  if (kind == PatternKind::kPermuted) factor |= 1;
  if (kind == PatternKind::kStrided && (factor < 1 || factor > kLongestStride))
    factor = kLongestStride;
  if (path == LoadPath::kConstant) {
    while (n > 0 && reach() * bytes > kConstantBytes) n /= 2;
  }
}

std::int64_t AccessCase::work() const {
  constexpr std::int64_t kStepsOfAThread = 4, kBytesOfAStep = 2;
  return n * kStepsOfAThread + reach() * bytes / kBytesOfAStep;
}

std::int64_t AccessCase::index(std::int64_t t) const {
  switch (kind) {
    case PatternKind::kConsecutive: return offset + t;
    case PatternKind::kPermuted: return offset + t / 32 * 32 + ((factor % 32 * (t % 32)) & 31);
    case PatternKind::kOneAddress: return offset;
    case PatternKind::kStrided: return offset + factor * t;
    case PatternKind::kRandom:
      return static_cast<std::int64_t>(
          mix((static_cast<std::uint64_t>(factor) << 32) + static_cast<std::uint64_t>(t)) %
          static_cast<std::uint64_t>(reach()));
  }
  throw std::logic_error("a pattern without an index");
}

std::int64_t AccessCase::reach() const {
  if (n == 0) return 0;
  switch (kind) {
    case PatternKind::kConsecutive: return offset + n;
    case PatternKind::kPermuted: return offset + (n + 31) / 32 * 32;
    case PatternKind::kOneAddress: return offset + 1;
    case PatternKind::kStrided: return offset + factor * (n - 1) + 1;
    case PatternKind::kRandom: return n + offset;
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

TransactionCount count_gather_loads(const MemoryAccess& access, const AccessCase& c) {
  return count_gather_loads(access, c, {c.path}).front();
}

// On the same arrays: making them takes longer than a launch of one warp.
std::vector<TransactionCount> count_gather_loads(const MemoryAccess& access, const AccessCase& c,
                                                 const std::vector<LoadPath>& paths) {
  auto call = gather_call(c);
  call.allocate();
  const auto x = call.take<std::uint8_t>("x"), y = call.take<std::uint8_t>("y");
  const reference::Transactions expected =
      model(c, x.data(), [&](std::int64_t t) { return c.index(t); });
  std::vector<TransactionCount> counts;
  for (const LoadPath path : paths) {
    const lockstepCounters counters = counters_of([&] {
      REQUIRE_CUDA(access.gather(path, c.pattern(), c.bytes, x.data(), c.reach(), y.data(), c.n,
                                 AccessShape{c.block}, nullptr));
      REQUIRE_CUDA(cudaDeviceSynchronize());
    });
    counts.push_back({expected, loads(counters)});
  }
  return counts;
}

TransactionCount count_scatter_stores(const MemoryAccess& access, const AccessCase& c) {
  auto call = scatter_call(c);
  const lockstepCounters counters = counters_of([&] { std::move(call).run(access); });
  const auto y = call.take<std::uint8_t>("y");
  return {model(c, y.data(), [&](std::int64_t t) { return c.index(t); }), stores(counters)};
}

namespace {

void gather_delivers_every_bit(const MemoryAccess& access, const AccessCase& c) {
  const Bytes x = c.bytes_of(c.reach());
  const auto y = gather_call(c, [&x] { return x; }).run(access).take<std::uint8_t>("y");
  Bytes expected = untouched(y.size(), c);
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
  const auto y = scatter_call(c, [&x] { return x; }).run(access).take<std::uint8_t>("y");
  Bytes expected = untouched(y.size(), c);
  std::vector<bool> written(y.size());
  for (std::int64_t t = 0; t < c.n; ++t) {
    if (!c.takes_part(t)) continue;
    const std::int64_t place = c.index(t) * c.bytes;
    std::copy_n(x.begin() + t * c.bytes, c.bytes, expected.begin() + place);
    std::fill_n(written.begin() + place, c.bytes, true);
  }
  judge(y, expected, written, c, {});
}

// Every element size by every pattern and load path, which have code of their own: whole blocks and
// a part of one, with all lanes and without some.
void moves_every_pattern_by_every_path(const MemoryAccess& access, const ScheduledAccessCase& c) {
  using enum PatternKind;
  constexpr std::int64_t kFactor = (std::int64_t{1} << 62) + 3;  // with high bits, for seeds
  ScatterCase one;
  static_cast<AccessCase&>(one) = c;
  one.block = 64;
  for (const int bytes : {1, 2, 4, 8, 16}) {
    for (const auto& [kind, factor] : {std::pair{kConsecutive, std::int64_t{1}},
                                       {kPermuted, kFactor},
                                       {kOneAddress, std::int64_t{1}},
                                       {kStrided, std::int64_t{3}},
                                       {kRandom, kFactor}}) {
      for (const int lanes : {32, 19}) {
        one.bytes = bytes, one.kind = kind, one.factor = factor, one.lanes = lanes;
        one.n = one.block * kernels::access_items(bytes) + 45;
        for (const LoadPath path : {LoadPath::kDefault, LoadPath::kCa, LoadPath::kCg,
                                    LoadPath::kReadOnly, LoadPath::kConstant}) {
          one.path = path;
          gather_delivers_every_bit(access, one);
        }
        if (is_pattern_of_a_scatter(one)) scatter_delivers_every_bit(access, one);
      }
    }
  }
}

void gather_transactions_equal_the_model(const MemoryAccess& access, const AccessCase& c) {
  require_capability({Capability::kSimulator});
  AccessCase global = c;
  if (global.path == LoadPath::kConstant)
    global.path = LoadPath::kDefault;  // constant memory has no transactions
  judge("loads", count_gather_loads(access, global));
}

void scatter_transactions_equal_the_model(const MemoryAccess& access, const ScatterCase& c) {
  require_capability({Capability::kSimulator});
  judge("stores", count_scatter_stores(access, c));
}

// As many bytes as constant memory holds, and one element fewer, for every element size: all must
// arrive.
void gathers_all_of_constant_memory(const MemoryAccess& access, const FullConstantCase& c) {
  FullConstantCase full = c;
  full.path = LoadPath::kConstant;
  if (full.kind != PatternKind::kPermuted) full.kind = PatternKind::kConsecutive;
  for (const int bytes : {1, 2, 4, 8, 16}) {
    full.bytes = bytes;
    full.n = kConstantBytes / bytes - full.offset -
             (full.fewer && full.kind == PatternKind::kConsecutive ? 1 : 0);
    if (full.kind == PatternKind::kPermuted) full.offset = 0, full.n = full.n / 32 * 32;
    gather_delivers_every_bit(access, full);
  }
}

// Past 31 and 32 bits: whole blocks of neighbours, and a last block with a few elements.
void moves_neighbours_at_far_ends(const MemoryAccess& access, const ScheduledAccessCase& c) {
  require_capability({Capability::kSimulator});
  for (const int bytes : {1, 2, 4, 8, 16}) {
    for (const int rest : {0, 5}) {
      ScheduledAccessCase whole = c;
      whole.kind = PatternKind::kConsecutive, whole.path = LoadPath::kDefault, whole.lanes = 32;
      whole.bytes = bytes, whole.block = 32;
      whole.n = 5 * 32 * kernels::access_items(bytes) + rest;
      auto judged = calls_of(whole), first = calls_of(whole);
      for (std::size_t i = 0; i < judged.size(); ++i) {
        first[i].allocate();
        Trial trial(judged[i].bind(access), first[i].bind(access), first[i].bind(access));
        require_far_ends(trial, c.seed);
      }
    }
  }
}

// Strides past 31 and 32 bits, for every element size.
void strides_far(const MemoryAccess& access, const ScheduledAccessCase& c) {
  ScheduledAccessCase strided = c;
  strided.kind = PatternKind::kStrided;
  strided.n = 2 + static_cast<std::int64_t>(c.seed % 5);
  if (strided.path == LoadPath::kConstant) strided.path = LoadPath::kDefault;
  strided.normalise();
  for (const int bytes : {1, 2, 4, 8, 16}) {
    strided.bytes = bytes;
    const SubjectOf<calls_of, ScheduledAccessCase, MemoryAccess> subject(access);
    battery::require_far_pieces_of(subject, detail::BoxedCase(strided));
  }
}

// Blocks whose threads all move neighbours, and a last block with one element fewer, for every
// element size.
void gathers_whole_blocks_of_neighbours(const MemoryAccess& access, const ScheduledAccessCase& c) {
  ScheduledAccessCase whole = c;
  whole.kind = PatternKind::kConsecutive, whole.block = std::min(c.block, 96);
  whole.lanes = c.seed / 2 % 2 ? 31 : 32;  // with 31 no block copies all of its elements
  for (const int bytes : {1, 2, 4, 8, 16}) {
    whole.bytes = bytes;
    whole.n =
        3 * whole.block * kernels::access_items(bytes) - static_cast<std::int64_t>(c.seed % 2);
    gather_delivers_every_bit(access, whole);
  }
}

void is_deterministic(const MemoryAccess& access, const ScheduledAccessCase& c) {
  constexpr int kSchedules = 50;
  REQUIRE_DETERMINISTIC(kSchedules,
                        [&] { return gather_call(c).run(access).take<std::uint8_t>("y").fetch(); });
  if (!is_pattern_of_a_scatter(c)) return;
  REQUIRE_DETERMINISTIC(
      kSchedules, [&] { return scatter_call(c).run(access).take<std::uint8_t>("y").fetch(); });
}

}  // namespace

Laws<MemoryAccess> memory_access_laws() {
  return with_batteries<calls_of, ScheduledAccessCase, Arrays::kStrided,
                        kSaysImmaterial | kSaysLengths>({
      no_work_law<calls_of, AccessCase, &AccessCase::n>("LaunchesNothingForNoWork",
                                                        {.cases = 50, .cost = 4}),
      refusal_law<calls_of, ScheduledAccessCase>("RefusesBadArguments", {.cases = 200, .cost = 4}),
      law("GatherDeliversEveryBit", gather_delivers_every_bit, {.cases = 2500}),
      law("ScatterDeliversEveryBit", scatter_delivers_every_bit, {.cases = 1500}),
      law("MovesEveryPatternByEveryPath", moves_every_pattern_by_every_path,
          {.cases = 1, .cost = 280}),
      law("GathersAllOfConstantMemory", gathers_all_of_constant_memory, {.cases = 4, .cost = 100}),
      law("MovesNeighboursAtFarEnds", moves_neighbours_at_far_ends, {.cases = 1, .cost = 1000}),
      law("StridesFar", strides_far, {.cases = 20, .cost = 20}),
      law("GathersWholeBlocksOfNeighbours", gathers_whole_blocks_of_neighbours,
          {.cases = 60, .cost = 5}),
      law("GathersFarElements", gathers_far_elements, {.cases = 400}),
      law("ScattersToFarElements", scatters_to_far_elements, {.cases = 300}),
      law("GatherTransactionsEqualTheModel", gather_transactions_equal_the_model, {.cases = 1500}),
      law("ScatterTransactionsEqualTheModel", scatter_transactions_equal_the_model,
          {.cases = 1000}),
      law("IsDeterministic", is_deterministic, {.cases = 15, .cost = 50}),
  });
}

}  // namespace lockstep::properties
