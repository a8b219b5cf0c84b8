// Derives mistakes from a contract, on a fake runtime, with a launcher whose checks can be omitted
// one by one. The mistakes must find each omitted check and report no other.
#include "harness/property/contract.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "harness/property/case.h"
#include "harness/property/property.h"
#include "harness/testing/fake_runtime.h"

namespace lockstep {
namespace contract_test {

enum class Mode : std::uint8_t { kPlain, kFast };

struct Status {
  cudaError_t error = cudaSuccess;
  std::string message;
};

// y[i] = x[i - 1] + x[i + 1] in 8-byte elements; x has a halo of one; n < 1000; a side of 1 ...
// 1024 in steps of 32.
using Launcher = Status(Mode, const std::int64_t* x, std::int64_t n, std::int64_t* y, unsigned side,
                        int width, cudaStream_t);
using Launch = std::function<Launcher>;

constexpr std::int64_t kMax = 999;

struct SumCase {
  std::int64_t n = 1;
  int offset = 0;
  static void fields(SumCase& c, FieldVisitor& field) {
    field("n", c.n, sizes(0, 40));
    field("offset", c.offset, range(0, 3));
  }
};

Call<Launch> sum_call(const SumCase& c) {
  Call<Launch> call("sum");
  auto& [mode, x, n, y, side, width] = call.arguments(Mode::kPlain, nullptr, c.n, nullptr, 64u, 4);
  call.choice("mode", Mode::kFast, mode);
  call.integer("n", {0, kMax}, n);
  call.integer("side", {32, 1024, 32}, side);
  call.integer("width", {.only = {1, 2, 4, 8}}, width);
  call.input("x", x, {.count = c.n, .before = 1, .after = 1}, {.misalignment = c.offset},
             [&c] { return std::vector<std::int64_t>(c.n + 2, 7); });
  call.output<std::int64_t>("y", y, {.count = c.n}, {});
  call.apart("x", "y");
  call.mistake("odd_pair", [&side = side, &width = width] { side = 32, width = 8; });
  return call;
}

// The launcher's checks, each of which can be omitted.
enum Check {
  kMode,
  kNegativeN,
  kHugeN,
  kNoSide,
  kHugeSide,
  kOddSide,
  kWidth,
  kNullX,
  kNullY,
  kAlignedX,
  kAlignedY,
  kOverlap,
  kPair,
  kAllChecks
};

Launch launcher_without(int left_out, bool writes = false) {
  return [left_out, writes](Mode mode, const std::int64_t* x, std::int64_t n, std::int64_t* y,
                            unsigned side, int width, cudaStream_t) -> Status {
    std::string why;
    const auto check = [&](Check which, bool met) {
      if (which != left_out && !met) why = "check " + std::to_string(which);
    };
    check(kMode, mode <= Mode::kFast);
    check(kNegativeN, n >= 0);
    check(kHugeN, n <= kMax);
    check(kNoSide, side >= 32);
    check(kHugeSide, side <= 1024);
    check(kOddSide, side % 32 == 0);
    check(kWidth, width == 1 || width == 2 || width == 4 || width == 8);
    check(kPair, side != 32 || width != 8);
    if (n > 0) {
      const auto from = reinterpret_cast<std::uintptr_t>(x),
                 to = reinterpret_cast<std::uintptr_t>(y);
      check(kNullX, x != nullptr);
      check(kNullY, y != nullptr);
      check(kAlignedX, from % 8 == 0);
      check(kAlignedY, to % 8 == 0);
      if (n <= kMax) check(kOverlap, from - 8 >= to + 8 * n || to >= from + 8 * n + 8);
    }
    if (writes && y != nullptr) *y = 3;
    return {why.empty() ? cudaSuccess : cudaErrorInvalidValue, why};
  };
}

using RefusedSum = Refused<sum_call, SumCase>;

// The mistakes, in a case with n elements, that the launcher does not refuse.
std::set<std::string> not_refused(const Launch& launch, std::int64_t n) {
  std::set<std::string> names;
  RefusedSum c;
  c.n = n;
  for (const std::string& name : sum_call(c).mistakes()) {
    c.mistake = name;
    const CaseOutcome outcome = run_case([&] { require_refusal(launch, c); });
    if (outcome.held()) continue;
    EXPECT_EQ(outcome.failure.label(), "law") << outcome.failure.message;
    EXPECT_NE(outcome.failure.message.find("sum with " + name + ": must be refused"),
              std::string::npos)
        << outcome.failure.message;
    names.insert(name);
  }
  return names;
}

TEST(Contract, NamesAValueOnEitherSideOfEveryRangeAndFarOnes) {
  SumCase c;
  c.n = 0;  // no elements: no mistake about arrays is possible
  const std::vector<std::string> wanted = {"mode:2",
                                           "mode:255",
                                           "n:-1",
                                           "n:1000",
                                           "n:-9223372036854775808",
                                           "n:9223372036854775807",
                                           "side:31",
                                           "side:0",
                                           "side:33",
                                           "side:1025",
                                           "side:1056",
                                           "side:4294967295",
                                           "width:0",
                                           "width:3",
                                           "width:5",
                                           "width:7",
                                           "width:9",
                                           "width:-1",
                                           "width:-2147483648",
                                           "width:2147483647",
                                           "odd_pair"};
  EXPECT_EQ(sum_call(c).mistakes(), wanted);
}

TEST(Contract, NamesWhatCanBeWrongAboutArraysWithElements) {
  const std::vector<std::string> all = sum_call(SumCase{}).mistakes();
  const std::set<std::string> names(all.begin(), all.end());
  EXPECT_EQ(names.size(), all.size()) << "no name twice";
  for (const std::string array : {"x", "y"}) {
    EXPECT_TRUE(names.contains(array + ":null"));
    for (int bytes = 1; bytes < 8; ++bytes)
      EXPECT_TRUE(names.contains(array + ":misaligned_by_" + std::to_string(bytes)));
    EXPECT_FALSE(names.contains(array + ":misaligned_by_8"));
  }
  for (const char* overlap : {"y:at_x", "y:begins_in_x", "y:ends_in_x"})
    EXPECT_TRUE(names.contains(overlap));
}

TEST(Contract, NamesTheEndsOfEveryRangeThatMustBeTaken) {
  SumCase c;
  c.n = 0;
  const std::vector<std::string> wanted = {"mode:0",    "mode:1",  "n:0",     "n:999",   "side:32",
                                           "side:1024", "width:1", "width:2", "width:4", "width:8"};
  EXPECT_EQ(sum_call(c).promises(), wanted);
  c.n = 5;
  const std::vector<std::string> all = sum_call(c).promises();
  EXPECT_EQ(std::vector<std::string>(all.begin() + 10, all.end()),
            (std::vector<std::string>{"y:right_after_x", "y:right_before_x"}));
  EXPECT_THROW(sum_call(c).make_promise("n:1000"), std::logic_error);
}

TEST(Contract, PromisesWhat32BitsDoNotHold) {
  std::int64_t n = 5;
  unsigned u = 5;
  std::int8_t small = 1;
  Contract contract("f");
  contract.integer("n", {1, std::int64_t{1} << 40, 2}, n);  // odd numbers
  contract.integer("u", {0, 0xffffffffu}, u);
  contract.integer("small", {-3, 5}, small);
  contract.promise("both", [&] { n = 7, u = 9; });
  // The extremes, and powers of two in between.
  const std::vector<std::string> wanted = {
      "n:1", "n:1099511627775", "n:4294967297", "n:8589934593", "n:17179869185", "n:68719476737",
      "u:0", "u:4294967295",    "u:2147483648", "small:-3",     "small:5",       "both"};
  EXPECT_EQ(contract.promises(), wanted);
  contract.make_promise("u:4294967295");
  EXPECT_EQ(u, 0xffffffffu);
  contract.make_promise("small:-3");
  EXPECT_EQ(small, -3);
  EXPECT_EQ(contract.integers()[2].get(), Whole{-3});
  EXPECT_EQ(contract.integers()[1].get(), Whole{0xffffffffu});
  contract.make_promise("both");
  EXPECT_EQ(n, 7);
}

TEST(Contract, NamesProductsThatSeemSmall) {
  unsigned x = 1, y = 1;
  std::int64_t z = 1;
  Contract contract("f");
  contract.integer("x", {1, 1024}, x);
  contract.integer("y", {1, 1024}, y);
  contract.integer("z", {1, 1024}, z);
  contract.product({"x", "y", "z"}, 1024);
  const std::vector<std::string> all = contract.mistakes();
  std::set<std::string> pairs;
  for (const std::string& name : all) {
    if (name.find(',') != name.npos) pairs.insert(name);
  }
  EXPECT_EQ(pairs,
            (std::set<std::string>{"x:65536,y:65536", "x:2147483648,y:2", "x:2,y:2147483648",
                                   "x:65536,z:65536", "x:2147483648,z:2", "x:2,z:2147483648",
                                   "y:65536,z:65536", "y:2147483648,z:2", "y:2,z:2147483648",
                                   // Products just above the limit.
                                   "x:513,y:2", "x:342,y:3", "x:33,y:32", "x:513,z:2", "x:342,z:3",
                                   "x:33,z:32", "y:513,x:2", "y:342,x:3", "y:33,x:32", "y:513,z:2",
                                   "y:342,z:3", "y:33,z:32", "z:513,x:2", "z:342,x:3", "z:33,x:32",
                                   "z:513,y:2", "z:342,y:3", "z:33,y:32"}));
  contract.make("x:65536,z:65536");
  EXPECT_EQ(x, 65536u);
  EXPECT_EQ(z, 65536);
  y = 7;
  contract.make("x:342,z:3");
  EXPECT_EQ(x, 342u);
  EXPECT_EQ(y, 1u) << "nothing else is too large";
  EXPECT_EQ(z, 3);
}

TEST(Contract, FindsChangesByTheirNames) {
  unsigned x = 1;
  Contract contract("f");
  contract.integer("x", {1, 8}, x);
  const std::vector<std::string> all = contract.mistakes();
  ASSERT_GT(all.size(), 2u);
  const auto changes = contract.mistakes_named({all[0], all[2]});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].name, all[0]);
  EXPECT_EQ(changes[1].name, all[2]);
  contract.mistakes_named({"x:9"})[0].make();
  EXPECT_EQ(x, 9u);
  contract.promises_named({"x:8"})[0].make();
  EXPECT_EQ(x, 8u);
  EXPECT_TRUE(contract.mistakes_named({}).empty());
  EXPECT_THROW(contract.mistakes_named({"x:8"}), std::logic_error) << "is legal";
  EXPECT_THROW(contract.promises_named({"x:9"}), std::logic_error);
}

TEST(Contract, PromisesTheLastLegalProducts) {
  unsigned x = 1, y = 1, z = 5;
  Contract contract("f");
  contract.integer("x", {1, 1024}, x);
  contract.integer("y", {1, 1024}, y);
  contract.integer("z", {1, 64}, z);
  contract.product({"x", "y", "z"}, 1024, {1024, 1024, 64});
  std::set<std::string> pairs;
  for (const std::string& name : contract.promises()) {
    if (name.find(',') != name.npos) pairs.insert(name);
  }
  EXPECT_EQ(pairs,
            (std::set<std::string>{"x:512,y:2", "x:341,y:3", "x:32,y:32", "x:512,z:2", "x:341,z:3",
                                   "x:32,z:32", "y:512,x:2", "y:341,x:3", "y:32,x:32", "y:512,z:2",
                                   "y:341,z:3", "y:32,z:32", "z:32,x:32", "z:32,y:32"}))
      << "z alone is at most 64";
  contract.make_promise("x:341,y:3");
  EXPECT_EQ(x, 341u);
  EXPECT_EQ(y, 3u);
  EXPECT_EQ(z, 1u);
}

TEST(Contract, TriesTheLastAndTheFirstIllegalValueOfArgumentsTogether) {
  std::int64_t first = 0, count = 1;
  Contract contract("f");
  contract.integer("first", {0, 100}, first);
  contract.integer("count", {0, 100}, count);
  contract.together("first+count", 100, [&](std::int64_t sum) { first = 40, count = sum - 40; });
  const std::vector<std::string> promises = contract.promises(), mistakes = contract.mistakes();
  EXPECT_NE(std::ranges::find(promises, "first+count:100"), promises.end());
  EXPECT_NE(std::ranges::find(mistakes, "first+count:101"), mistakes.end());
  contract.make_promise("first+count:100");
  EXPECT_EQ(first + count, 100);
  contract.make("first+count:101");
  EXPECT_EQ(first + count, 101);
}

TEST(Contract, SaysWhereRowsLieAtAnotherStride) {
  const float* m = nullptr;
  std::size_t pitch = 20;  // bytes
  Contract contract("f");
  contract.input("m", m, {.count = 13}, {}, [] { return std::vector<float>(13); });
  contract.rows("m", 3, 3, "pitch", {12, std::int64_t{1} << 40, 4}, pitch, /*unit=*/1);
  contract.rows("m", 1, 3, "one row", {12, 100, 4}, pitch, 1);
  ASSERT_EQ(contract.spreads().size(), 1u) << "a row has no stride";
  const std::vector<Piece> pieces = contract.spreads()[0].place(std::int64_t{1} << 34);
  EXPECT_EQ(pitch, std::size_t{1} << 34);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[2].first, 10);
  EXPECT_EQ(pieces[2].count, 3);
  EXPECT_EQ(pieces[2].to, std::int64_t{1} << 33);
}

TEST(Contract, NeitherTakesNorRefusesWhatIsLegalElsewhere) {
  int width = 4;
  Contract contract("f");
  contract.integer("width", {.only = {1, 2, 4, 8}, .here = {1, 2, 4}}, width);
  EXPECT_EQ(contract.promises(), (std::vector<std::string>{"width:1", "width:2", "width:4"}));
  for (const std::string& mistake : contract.mistakes()) EXPECT_NE(mistake, "width:8");
}

// Small arrays of a GPU are adjacent: the place of a moved array may be taken by another.
TEST(Contract, PutsAnArrayBesideOneAndNotIntoAnother) {
  using Three = std::function<Status(const std::int64_t* a, const std::int64_t* b, std::int64_t* c,
                                     cudaStream_t stream)>;
  const CaseOutcome outcome = run_case([&] {
    Call<Three> call("three");
    auto& [a, b, c] = call.arguments(nullptr, nullptr, nullptr);
    const auto contents = [] { return std::vector<std::int64_t>{1, 2, 3}; };
    call.input("a", a, {.count = 3}, {}, contents);
    call.input("b", b, {.count = 3}, {}, contents);
    call.output<std::int64_t>("c", c, {.count = 3}, {});
    call.apart("a", "c");
    call.apart("b", "c");
    call.allocate();
    const ArrayArgument &left = call.arrays()[0], &right = call.arrays()[1],
                        &moved = call.arrays()[2];
    for (const char* promise : {"c:right_after_a", "c:right_before_a"}) {
      right.set(std::string_view(promise).find("after") != std::string_view::npos
                    ? left.end()
                    : left.begin() - 24);
      const auto restore = call.keep();
      call.make_promise(promise);
      EXPECT_TRUE(moved.begin() == left.end() || moved.end() == left.begin()) << promise;
      EXPECT_TRUE(right.end() <= moved.begin() || moved.end() <= right.begin()) << promise;
      restore();
    }
    call.make_promise("c:right_after_b");
    EXPECT_EQ(moved.begin(), right.end());
  });
  EXPECT_EQ(outcome.failure.label(), "none") << outcome.failure.message;
}

TEST(Contract, PutsArraysRightBesideEachOtherOrFarApart) {
  for (const std::int64_t n : {1, 2, 9}) {
    SumCase c;
    c.n = n;
    const CaseOutcome outcome = run_case([&] {
      auto call = sum_call(c);
      call.allocate();
      const ArrayArgument &x = call.arrays()[0], &y = call.arrays()[1];
      const auto restore = call.keep();
      call.make_promise("y:right_after_x");
      EXPECT_EQ(y.begin(), x.end()) << "the halo counts";
      restore();
      call.make_promise("y:right_before_x");
      EXPECT_EQ(y.end(), x.begin());
      restore();
      const std::uintptr_t here = x.get();
      call.make_promise("n:0");
      EXPECT_EQ(x.get(), here) << "what is smaller needs no room";
      call.make_promise("n:999");
      EXPECT_EQ(y.begin() - x.begin(), std::uintptr_t{1} << 63);
      EXPECT_EQ(x.get() % 8, 0u);
    });
    EXPECT_TRUE(outcome.held()) << outcome.failure.message;
  }
  SumCase empty;
  empty.n = 0;
  auto call = sum_call(empty);
  call.make_promise("n:999");
  EXPECT_EQ(call.arrays()[1].begin() - call.arrays()[0].begin(), std::uintptr_t{1} << 63)
      << "they may get elements";
}

// Two outputs and a workspace, for example: no array is on one side of all pairs.
TEST(Contract, FindsRoomForArraysThatMustAllBeApart) {
  const std::int64_t *x = nullptr, *y = nullptr, *z = nullptr;
  std::int64_t n = 5;
  Contract contract("f");
  contract.integer("n", {0, std::int64_t{1} << 40}, n);
  const auto contents = [] { return std::vector<std::int64_t>(5); };
  contract.input("x", x, {.count = 5}, {}, contents);
  contract.input("y", y, {.count = 5}, {}, contents);
  contract.input("z", z, {.count = 5}, {}, contents);
  contract.apart("x", "y");
  contract.apart("y", "z");
  contract.apart("x", "z");
  const CaseOutcome outcome = run_case([&] {
    contract.allocate();
    const std::vector<ArrayArgument>& arrays = contract.arrays();
    const std::uintptr_t at[] = {arrays[0].get(), arrays[1].get(), arrays[2].get()};
    // Adjacent, as small arrays of a GPU are.
    const auto put_back = [&] {
      for (int k = 0; k < 3; ++k) arrays[k].set(at[0] + 40 * k);
    };
    std::set<std::string> made;
    for (const std::string& promise : contract.promises()) {
      put_back();
      contract.make_promise(promise);
      made.insert(promise);
      for (int k = 0; k < 3; ++k) {
        const ArrayArgument &one = arrays[k], &other = arrays[(k + 1) % 3];
        EXPECT_TRUE(one.end() <= other.begin() || other.end() <= one.begin())
            << promise << ": " << k;
        if (n > 5) {
          EXPECT_GE(std::max(one.begin() - other.begin(), other.begin() - one.begin()),
                    std::uintptr_t{1} << 62)
              << promise;
        }
      }
      n = 5;
    }
    EXPECT_TRUE(made.contains("z:right_after_y") && made.contains("z:right_before_x") &&
                made.contains("n:1099511627776"));
    for (int k = 0; k < 3; ++k) arrays[k].set(at[k]);
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message;
}

TEST(Contract, OverlapsArraysWhoseSizes32BitsTakeForNone) {
  const std::int64_t *x = nullptr, *y = nullptr;
  std::int64_t n = 5;
  Contract contract("f");
  contract.integer("n", {0, std::int64_t{1} << 40}, n);
  contract.input("x", x, {.count = 5}, {}, [] { return std::vector<std::int64_t>(5); });
  contract.input("y", y, {.count = 5}, {}, [] { return std::vector<std::int64_t>(5); });
  contract.apart("x", "y");
  const CaseOutcome outcome = run_case([&] {
    contract.allocate();
    for (const std::int64_t size : {std::int64_t{1} << 30, std::int64_t{1} << 32}) {
      contract.make("n:" + std::to_string(size) + ",y:at_x");
      EXPECT_EQ(n, size);
      EXPECT_EQ(y, x);
      n = 5;
    }
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message;
}

TEST(Contract, HasNothingAgainstALauncherThatKeepsIt) {
  for (const std::int64_t n : {0, 1, 2, 40})
    EXPECT_EQ(not_refused(launcher_without(kAllChecks), n), std::set<std::string>());
}

TEST(Contract, FindsEveryCheckThatIsLeftOut) {
  const std::vector<std::pair<Check, std::set<std::string>>> wanted = {
      {kMode, {"mode:2", "mode:255"}},
      {kNegativeN, {"n:-1", "n:-9223372036854775808"}},
      {kHugeN, {"n:1000", "n:9223372036854775807"}},
      {kNoSide, {"side:0"}},  // 31 is also odd
      {kHugeSide, {"side:1056"}},
      {kOddSide, {"side:33"}},
      {kWidth,
       {"width:0", "width:3", "width:5", "width:7", "width:9", "width:-1", "width:-2147483648",
        "width:2147483647"}},
      {kPair, {"odd_pair"}},
      {kNullX, {"x:null"}},
      {kNullY, {"y:null"}},
      {kOverlap, {"y:at_x", "y:begins_in_x", "y:ends_in_x"}}};
  for (const auto& [check, names] : wanted)
    EXPECT_EQ(not_refused(launcher_without(check), 5), names) << "check " << check;
  EXPECT_EQ(not_refused(launcher_without(kAlignedX), 5).size(), 7u);
  EXPECT_EQ(not_refused(launcher_without(kAlignedY), 5).size(), 7u);
}

TEST(Contract, OverlapsByOneElementAtEitherEndOfWhatIsTouched) {
  for (const std::int64_t n : {1, 2, 9}) {
    SumCase c;
    c.n = n;
    const CaseOutcome outcome = run_case([&] {
      for (const char* name : {"y:begins_in_x", "y:ends_in_x"}) {
        auto call = sum_call(c);
        call.allocate();
        call.make(name);
        const ArrayArgument &x = call.arrays()[0], &y = call.arrays()[1];
        EXPECT_EQ(x.end() - x.begin(), 8u * (n + 2)) << "the halo counts";
        EXPECT_EQ(y.get() % 8, 0u);
        EXPECT_EQ(std::min(x.end(), y.end()) - std::max(x.begin(), y.begin()), 8u)
            << name << ", n = " << n;
      }
    });
    EXPECT_TRUE(outcome.held()) << outcome.failure.message;
  }
}

TEST(Contract, RejectsARefusalThatWrites) {
  RefusedSum c;
  c.n = 5;
  c.mistake = "side:33";
  const CaseOutcome outcome =
      run_case([&] { require_refusal(launcher_without(kAllChecks, true), c); });
  EXPECT_EQ(outcome.failure.label(), "law");
  EXPECT_NE(outcome.failure.message.find("nothing may be written, but y[0] was"), std::string::npos)
      << outcome.failure.message;
}

TEST(Contract, RejectsARefusalThatLeavesAnErrorOfCuda) {
  RefusedSum c;
  c.n = 5;
  c.mistake = "side:33";
  const Launch leaves_error = [](Mode, const std::int64_t*, std::int64_t, std::int64_t*, unsigned,
                                 int, cudaStream_t) -> Status {
    void* memory = nullptr;
    testing::fake().free_bytes = 0;
    EXPECT_NE(cudaMalloc(&memory, 1), cudaSuccess);
    testing::fake().free_bytes = std::numeric_limits<std::size_t>::max();
    return {cudaErrorInvalidValue, "as CUDA says"};
  };
  const CaseOutcome outcome = run_case([&] { require_refusal(leaves_error, c); });
  EXPECT_NE(outcome.failure.message.find("it was CUDA that did (as CUDA says)"), std::string::npos)
      << outcome.failure.message;
}

// Arrays that are input and output, in device and host memory: a refusal must write to neither.
using AddTo = std::function<Status(std::int64_t* device, std::int64_t* host, int n, cudaStream_t)>;

Call<AddTo> add_call(const SumCase& c) {
  Call<AddTo> call("add");
  auto& [device, host, n] = call.arguments(nullptr, nullptr, 3);
  call.integer("n", {0, 3}, n);
  call.in_out("device", device, {.count = 3}, {.misalignment = c.offset}, [] {
    return std::vector<std::int64_t>{4, 5, 6};
  });
  call.host("host", host, {.count = 3}, [] { return std::vector<std::int64_t>{0, 0, 0}; });
  return call;
}

TEST(Contract, RejectsARefusalThatWritesToAnArrayThatGoesInAndOut) {
  using Case = Refused<add_call, SumCase>;
  Case c;
  c.mistake = "n:4";
  const auto label = [&](int device_at, int host_at) {
    const AddTo add = [=](std::int64_t* device, std::int64_t* host, int, cudaStream_t) -> Status {
      if (device_at >= 0) device[device_at] += 1;
      if (host_at >= 0) host[host_at] += 1;
      return {cudaErrorInvalidValue, "no"};
    };
    return run_case([&] { require_refusal(add, c); }).failure.label();
  };
  EXPECT_EQ(label(-1, -1), "none");
  for (const int at : {0, 2}) {
    EXPECT_EQ(label(at, -1), "mismatch") << at;
    EXPECT_EQ(label(-1, at), "law") << at;
  }
}

TEST(Contract, RefusesANameThatItDoesNotHave) {
  EXPECT_THROW(sum_call(SumCase{}).make("n:5"), std::logic_error);
  EXPECT_THROW(sum_call(SumCase{}).take<std::int64_t>("z"), std::logic_error);
  EXPECT_THROW(sum_call(SumCase{}).take<float>("y"), std::logic_error);
}

TEST(Contract, RunsALegalCallOnArraysOfTheCase) {
  SumCase c;
  c.n = 3;
  c.offset = 2;
  const CaseOutcome outcome = run_case([&] {
    const Launch sum = [](Mode, const std::int64_t* x, std::int64_t n, std::int64_t* y, unsigned,
                          int, cudaStream_t) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x) % 256, 24u)
          << "two elements past a boundary, and past the halo";
      for (std::int64_t i = 0; i < n; ++i) y[i] = x[i - 1] + x[i + 1];
      return Status{};
    };
    REQUIRE_BITWISE_EQUAL(sum_call(c).run(sum).take<std::int64_t>("y"),
                          std::vector<std::int64_t>(3, 14));
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message;
}

TEST(Contract, LeavesArraysWithoutElementsNullWhereThatIsAsked) {
  SumCase c;
  c.n = 0;
  const CaseOutcome outcome = run_case([&] {
    auto call = sum_call(c);
    call.allocate(/*null_where_empty=*/true);
    EXPECT_EQ(call.arrays()[0].get(), 0u);
    EXPECT_EQ(call.arrays()[1].get(), 0u);
  });
  EXPECT_TRUE(outcome.held()) << outcome.failure.message;
}

// ---- Cases that are refused.

TEST(Refused, ReadsBackWhatItPrintsAndShrinksToLegalCases) {
  Bits bits(1);
  for (int i = 0; i < 20; ++i) {
    const auto drawn = cases<RefusedSum>()(rc::Random(bits.next()));
    const RefusedSum c = drawn.value();
    EXPECT_EQ(c.mistake, "each");
    RefusedSum again;
    ASSERT_EQ(parse_case(print_case(c), again), "") << print_case(c);
    EXPECT_EQ(print_case(again), print_case(c));
    std::set<std::string> mistakes;
    for (auto shrinks = drawn.shrinks(); const auto shrink = shrinks.next();) {
      const RefusedSum simpler = shrink->value();
      ASSERT_EQ(parse_case(print_case(simpler), again), "") << print_case(simpler);
      mistakes.insert(simpler.mistake);
    }
    EXPECT_EQ(mistakes.size(), sum_call(c).mistakes().size() + (c.n + c.offset > 0))
        << "one at a time, or each";
  }
}

TEST(Refused, CommitsEachMistakeOfACase) {
  for (int check = 0; check < kAllChecks; ++check) {
    RefusedSum c;
    c.n = 5;
    EXPECT_EQ(run_case([&] { require_refusal(launcher_without(check), c); }).failure.label(), "law")
        << check;
  }
  RefusedSum c;
  c.n = 5;
  EXPECT_TRUE(run_case([&] { require_refusal(launcher_without(kAllChecks), c); }).held());
}

TEST(Refused, SaysWhichMistakesThereAre) {
  RefusedSum c;
  EXPECT_NE(parse_case("n=3 offset=0 mistake=n:5", c).find("field 'mistake' cannot be 'n:5'"),
            std::string::npos);
  EXPECT_NE(parse_case("n=0 offset=0 mistake=x:null", c).find("cannot be 'x:null'"),
            std::string::npos);
}

TEST(Refused, ShrinksToTheSmallestCaseThatShowsIt) {
  PropertyOptions options;
  options.cases = 500;
  const auto result = run_property<RefusedSum>(
      "Contract.Overlap",
      [](const RefusedSum& c) { require_refusal(launcher_without(kOverlap), c); }, options);
  EXPECT_FALSE(result.held);
  EXPECT_EQ(result.minimal_case, "n=1 offset=0 mistake=y:at_x");
}

// ---- Several launchers in one struct.

struct Pair {
  Status (*first)(int n, cudaStream_t) = nullptr;
  Status (*second)(int n) = nullptr;
};

Calls<Pair> pair_calls(const SumCase& c) {
  Calls<Pair> calls;
  for (const bool first : {true, false}) {
    Call<Pair> call(first ? "first" : "second");
    auto& [n] = first ? call.arguments(&Pair::first, static_cast<int>(c.n))
                      : call.arguments(&Pair::second, static_cast<int>(c.n));
    call.integer("n", {0, 10}, n);
    calls.push_back(std::move(call));
  }
  return calls;
}

TEST(Refused, NamesTheLauncherAndJudgesThatAlone) {
  using Case = Refused<pair_calls, SumCase>;
  Case c;
  c.mistake = "first.n:-1";
  const Pair second_accepts = {[](int, cudaStream_t) -> Status {
                                 return {cudaErrorInvalidValue, "no"};
                               },
                               [](int) -> Status { return {}; }};
  EXPECT_TRUE(run_case([&] { require_refusal(second_accepts, c); }).held());
  c.mistake = "second.n:11";
  const CaseOutcome outcome = run_case([&] { require_refusal(second_accepts, c); });
  EXPECT_NE(outcome.failure.message.find("second with n:11"), std::string::npos)
      << outcome.failure.message;
}

}  // namespace contract_test
}  // namespace lockstep
