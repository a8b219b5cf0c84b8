// The batteries on a copying launcher, on the simulated GPU. They accept it if it keeps its
// contract, and detect each mistake that launchers make outside of their kernels.
#include "properties/batteries.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness/property/case.h"
#include "harness/property/field.h"
#include "harness/property/values.h"
#include "properties/contract_laws.h"

namespace lockstep::properties {
namespace {

struct Status {
  cudaError_t error = cudaSuccess;
  std::string message;
  bool of_cuda = false;
};

// y = x, n elements of 4 bytes.
using Launcher = Status(const std::uint32_t* x, std::int64_t n, std::uint32_t* y,
                        cudaStream_t stream);
using Copy = std::function<Launcher>;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;

struct CopyCase {
  std::int64_t n = 7;
  Values values = {ValueKind::kUniform, 1};
  static void fields(CopyCase& c, FieldVisitor& field) {
    field("n", c.n, sizes(0, 40));
    field("values", c.values, values_of({ValueKind::kUniform}));
  }
};

Call<Copy> copy_call(const CopyCase& c) {
  Call<Copy> call("copy");
  auto& [x, n, y] = call.arguments(nullptr, c.n, nullptr);
  call.integer("n", {0, kMost}, n);
  call.input("x", x, {.count = c.n}, {},
             [&c] { return make_values<std::uint32_t>(c.values, c.n); });
  call.output<std::uint32_t>("y", y, {.count = c.n}, {});
  call.apart("x", "y");
  return call;
}

Status refused(const std::string& why) { return {cudaErrorInvalidValue, "copy: " + why}; }

Status check(const std::uint32_t* x, std::int64_t n, const std::uint32_t* y) {
  const auto from = reinterpret_cast<std::uintptr_t>(x), to = reinterpret_cast<std::uintptr_t>(y);
  if (n < 0 || n > kMost) return refused("n");
  if (n == 0) return {};
  if (from == 0 || to == 0 || from % 4 != 0 || to % 4 != 0) return refused("null or misaligned");
  const std::uint64_t bytes = 4 * static_cast<std::uint64_t>(n);
  if (from <= to ? to - from < bytes : from - to < bytes) return refused("overlap");
  return {};
}

Status status_of(cudaError_t error) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();
  return {error, "copy: the copy failed", true};
}

cudaError_t do_copy(const std::uint32_t* x, std::int64_t n, std::uint32_t* y, cudaStream_t stream) {
  return cudaMemcpyAsync(y, x, 4 * static_cast<std::size_t>(n), cudaMemcpyDeviceToDevice, stream);
}

Status right(const std::uint32_t* x, std::int64_t n, std::uint32_t* y, cudaStream_t stream) {
  if (Status s = check(x, n, y); s.error != cudaSuccess || n == 0) return s;
  return status_of(do_copy(x, n, y, stream));
}

// ---- The laws, each on one case. They return "" if the law holds.

std::string outcome_of(const std::function<void()>& body) {
  const CaseOutcome outcome = run_case(body);
  if (outcome.not_applicable) return "not applicable: " + *outcome.not_applicable;
  return outcome.held() ? "" : outcome.failure.label() + ": " + outcome.failure.message;
}

const CopyCase kCase;
detail::BoxedCase<CopyCase> boxed(const CopyCase& c) { return detail::BoxedCase(c); }
template <auto kCalls, class Implementation>
SubjectOf<kCalls, CopyCase, Implementation> subject_of(const Implementation& f) {
  return SubjectOf<kCalls, CopyCase, Implementation>(f);
}
std::string order_of(const Copy& f) {
  return outcome_of(
      [&] { battery::require_stream_order_of(subject_of<copy_call>(f), boxed(kCase)); });
}
std::string capture_of(const Copy& f) {
  return outcome_of([&] { battery::require_capture_of(subject_of<copy_call>(f), boxed(kCase)); });
}
std::string state_of(const Copy& f) {
  return outcome_of([&] { battery::require_no_state_of(subject_of<copy_call>(f), boxed(kCase)); });
}
std::string errors_of(const Copy& f) {
  return outcome_of(
      [&] { battery::require_errors_returned_of(subject_of<copy_call>(f), boxed(kCase)); });
}
std::string devices_of(const Copy& f) {
  return outcome_of([&] {
    battery::require_no_state_between_devices_of(subject_of<copy_call>(f), boxed(kCase));
  });
}
std::string promises_of(const Copy& f) {
  return outcome_of([&] {
    battery::require_promises_of(subject_of<copy_call>(f), boxed(kCase), detail::kEach,
                                 Arrays::kContiguous, 0);
  });
}
std::string arguments_of(const Copy& f) {
  return outcome_of(
      [&] { battery::require_no_state_of_arguments_of(subject_of<copy_call>(f), boxed(kCase)); });
}
std::string refusals_of(const Copy& f) {
  Refused<copy_call, CopyCase> c;
  c.n = kCase.n;
  return outcome_of([&] { require_refusal(f, c); });
}

void expect_failure(const std::string& outcome, const std::string& label, const std::string& text) {
  EXPECT_EQ(outcome.substr(0, label.size() + 1), label + ":") << outcome;
  EXPECT_NE(outcome.find(text), std::string::npos) << outcome;
}

TEST(Batteries, HaveNothingAgainstALauncherThatKeepsItsContract) {
  for (const auto law :
       {order_of, capture_of, state_of, arguments_of, devices_of, promises_of, refusals_of})
    EXPECT_EQ(law(right), "");
}

TEST(Batteries, FindAnotherStream) {
  const Copy on_default = [](auto x, auto n, auto y, auto) { return right(x, n, y, nullptr); };
  // The race is between the copy and the earlier fill of the array that it reads.
  expect_failure(order_of(on_default), "finding:race",
                 "cudaMemcpyAsync went to the default stream");
  expect_failure(capture_of(on_default), "law", "cudaMemcpyAsync went to the default stream");
  const Copy of_thread = [](auto x, auto n, auto y, auto) {
    return right(x, n, y, cudaStreamPerThread);
  };
  expect_failure(order_of(of_thread), "finding:race", "the thread's default stream");
  const Copy of_its_own = [](auto x, auto n, auto y, auto) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    const Status status = right(x, n, y, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return status;
  };
  expect_failure(order_of(of_its_own), "finding:race", "a stream of its own");
}

TEST(Batteries, FindALauncherThatCannotBeCaptured) {
  const Copy waits = [](auto x, auto n, auto y, auto stream) {
    const Status status = right(x, n, y, stream);
    return status.error == cudaSuccess ? status_of(cudaStreamSynchronize(stream)) : status;
  };
  expect_failure(order_of(waits), "law", "waits for the work that its stream already holds");
  const Copy waits_first = [](auto x, auto n, auto y, auto stream) {
    const Status status = status_of(cudaStreamSynchronize(stream));
    return status.error == cudaSuccess ? right(x, n, y, stream) : status;
  };
  expect_failure(order_of(waits_first), "law", "waits for the work that its stream already holds");
  expect_failure(capture_of(waits), "law", "cannot be captured");
  const Copy allocates = [](auto x, auto n, auto y, auto stream) {
    void* memory = nullptr;
    if (const Status status = status_of(cudaMalloc(&memory, 16)); status.error != cudaSuccess)
      return status;
    cudaFree(memory);
    return right(x, n, y, stream);
  };
  expect_failure(capture_of(allocates), "law", "cannot be captured");
}

// If a contract states that a launcher cannot be captured, the capture must fail.
Call<Copy> uncapturable_call(const CopyCase& c) {
  Call<Copy> call = copy_call(c);
  call.capture(Contract::Capture::kRefused);
  return call;
}
TEST(Batteries, HoldALauncherToWhatItSaysOfCapture) {
  const auto outcome = [](const Copy& f) {
    return outcome_of(
        [&] { battery::require_capture_of(subject_of<uncapturable_call>(f), boxed(kCase)); });
  };
  EXPECT_EQ(outcome([](auto x, auto n, auto y, auto stream) {
              const Status status = right(x, n, y, stream);
              return status.error == cudaSuccess ? status_of(cudaStreamSynchronize(stream))
                                                 : status;
            }),
            "");
  expect_failure(outcome(right), "law", "says that it cannot be captured");
}

TEST(Batteries, FindWhatIsKeptFromOneCallToTheNext) {
  struct Call {
    const std::uint32_t *x = nullptr, *y = nullptr;
    std::int64_t n = 0;
    bool operator==(const Call&) const = default;
  };
  Call last;
  const Copy remembers = [&](auto x, auto n, auto y, auto stream) {
    if (std::exchange(last, {x, y, n}) == Call{x, y, n}) return Status{};
    return right(x, n, y, stream);
  };
  expect_failure(state_of(remembers), "mismatch", "with new contents behind the same pointers");

  const std::uint32_t* first_x = nullptr;
  const Copy keeps_pointer = [&](auto x, auto n, auto y, auto stream) {
    if (first_x == nullptr) first_x = x;
    return right(x == nullptr ? x : first_x, n, y, stream);
  };
  EXPECT_NE(state_of(keeps_pointer), "");

  std::optional<std::thread::id> owner;
  const Copy of_one_thread = [&](auto x, auto n, auto y, auto stream) {
    if (!owner) owner = std::this_thread::get_id();
    return *owner == std::this_thread::get_id() ? right(x, n, y, stream) : refused("not my thread");
  };
  expect_failure(state_of(of_one_thread), "law", "fails in another host thread");

  bool refused_once = false;
  const Copy takes_offence = [&](auto x, auto n, auto y, auto stream) {
    const Status status = right(x, n, y, stream);
    if (status.error != cudaSuccess) refused_once = true;
    return refused_once ? refused("never again") : status;
  };
  expect_failure(state_of(takes_offence), "cuda-error", "after calls that were refused");

  std::optional<std::int64_t> usual;
  const Copy of_one_size = [&](auto x, auto n, auto y, auto stream) {
    if (!usual) usual = n;
    return right(x, std::min(n, *usual), y, stream);
  };
  CopyCase small;
  small.n = 1;
  EXPECT_NE(outcome_of([&] {
              battery::require_no_state_of(subject_of<copy_call>(of_one_size),
                                           boxed(small));  // the other case is larger
              battery::require_no_state_of(subject_of<copy_call>(of_one_size), boxed(kCase));
            }),
            "");
}

TEST(Batteries, FindArgumentsThatAreKeptForTheSameArrays) {
  const std::uint32_t *last_x = nullptr, *last_y = nullptr;
  std::int64_t last_n = 0;
  const Copy keeps = [&](auto x, auto n, auto y, auto stream) {
    if (const Status status = check(x, n, y); status.error != cudaSuccess) return status;
    if (last_x != x || last_y != y) last_n = n;
    last_x = x, last_y = y;
    return right(x, last_n, y, stream);
  };
  EXPECT_EQ(state_of(keeps), "") << "which gives other arguments to other arrays";
  expect_failure(arguments_of(keeps), "mismatch", "on the same arrays with other arguments");
}

// A launcher prepares state for one call that the next call uses. Between its CUDA calls, another
// host thread prepares the state for its own call.
TEST(Batteries, FindWhatHostThreadsShareBetweenTheirCalls) {
  static std::atomic<std::int64_t> prepared;
  const Copy shares = [](auto x, auto n, auto y, auto stream) {
    if (const Status status = check(x, n, y); status.error != cudaSuccess || n == 0) return status;
    prepared = n;
    int device = 0;
    if (const Status status = status_of(cudaGetDevice(&device)); status.error != cudaSuccess)
      return status;
    return right(x, std::min<std::int64_t>(n, prepared), y, stream);
  };
  EXPECT_EQ(state_of(shares), "") << "where one thread calls after the other";
  // The case determines which of its arguments differ.
  std::string outcome;
  for (int n = 30; n < 40 && outcome.empty(); ++n) {
    CopyCase c;
    c.n = n;
    outcome = outcome_of([&] {
      battery::require_no_state_of_arguments_of(subject_of<copy_call>(shares), boxed(c));
    });
  }
  expect_failure(outcome, "mismatch",
                 "with another call by another host thread before its call 1 of CUDA");
}

// A launcher without a stream, which must have waited.
using HostCopy = std::function<Status(const std::uint32_t* x, std::int64_t n, std::uint32_t* to)>;
Call<HostCopy> host_copy_call(const CopyCase& c) {
  Call<HostCopy> call("host_copy");
  auto& [x, n, to] = call.arguments(nullptr, c.n, nullptr);
  call.input("x", x, {.count = c.n}, {},
             [&c] { return make_values<std::uint32_t>(c.values, c.n); });
  call.host("to", to, {.count = c.n}, [&c] { return std::vector<std::uint32_t>(c.n); });
  return call;
}

TEST(Batteries, FindALauncherWithoutAStreamThatDoesNotWait) {
  const auto outcome = [](const HostCopy& f) {
    return outcome_of(
        [&] { battery::require_stream_order_of(subject_of<host_copy_call>(f), boxed(kCase)); });
  };
  const auto copies = [](cudaError_t (*copy)(void*, const void*, std::size_t)) -> HostCopy {
    return [copy](auto x, auto n, auto to) {
      return status_of(copy(to, x, 4 * static_cast<std::size_t>(n)));
    };
  };
  EXPECT_EQ(outcome(copies([](void* to, const void* x, std::size_t bytes) {
              return cudaMemcpy(to, x, bytes, cudaMemcpyDeviceToHost);
            })),
            "");
  expect_failure(outcome(copies([](void* to, const void* x, std::size_t bytes) {
                   return cudaMemcpyAsync(to, x, bytes, cudaMemcpyDeviceToHost, nullptr);
                 })),
                 "law", "returns before 1 of its operations are done");
}

// Copies through host memory that a graph reads when it is launched.
TEST(Batteries, FindMemoryThatAGraphSharesWithOtherCalls) {
  static std::vector<std::uint32_t> staged(40);
  const Copy stages = [](auto x, auto n, auto y, auto stream) {
    if (const Status status = check(x, n, y); status.error != cudaSuccess || n == 0) return status;
    cudaStreamCaptureStatus capturing;
    cudaStreamIsCapturing(stream, &capturing);
    const auto count = static_cast<std::uint32_t>(n);
    if (capturing == cudaStreamCaptureStatusNone) std::fill(staged.begin(), staged.end(), 0);
    staged[0] = count;
    // The first element becomes n of the most recent call.
    if (const Status status = right(x, n, y, stream); status.error != cudaSuccess) return status;
    return status_of(
        cudaMemcpyAsync(y, staged.data(), sizeof count, cudaMemcpyHostToDevice, stream));
  };
  EXPECT_EQ(order_of(stages), "");
  expect_failure(capture_of(stages), "mismatch", "captured and launched, after another call");
}

// Copies `rows` rows of n words, `stride` words apart.
using RowLauncher = Status(const std::uint32_t* x, std::int64_t n, std::int64_t rows,
                           std::int64_t stride, std::uint32_t* y, cudaStream_t stream);
using CopyRows = std::function<RowLauncher>;

Call<CopyRows> rows_call(const CopyCase& c) {
  constexpr std::int64_t kRows = 3;
  Call<CopyRows> call("copy_rows");
  auto& [x, n, rows, stride, y] = call.arguments(nullptr, c.n, kRows, c.n, nullptr);
  call.input("x", x, {.count = kRows * c.n}, {},
             [&c] { return make_values<std::uint32_t>(c.values, kRows * c.n); });
  call.output<std::uint32_t>("y", y, {.count = kRows * c.n}, {});
  call.rows("x", kRows, c.n, "stride", {c.n, kMost / kRows}, stride);
  return call;
}

TEST(Batteries, FindRowsThat32BitsDoNotReach) {
  const auto copies_in = [](auto offset) -> CopyRows {
    return [offset](auto x, auto n, auto rows, auto stride, auto y, auto stream) {
      for (std::int64_t i = 0; i < rows; ++i) {
        if (const Status s = status_of(do_copy(x + offset(i * stride), n, y + i * n, stream));
            s.error != cudaSuccess)
          return s;
      }
      return Status{};
    };
  };
  const auto outcome = [](const CopyRows& f) {
    return outcome_of(
        [&] { battery::require_far_pieces_of(subject_of<rows_call>(f), boxed(kCase)); });
  };
  EXPECT_EQ(outcome(copies_in([](std::int64_t i) { return i; })), "");
  EXPECT_NE(
      outcome(copies_in([](std::int64_t i) { return std::int64_t{static_cast<std::int32_t>(i)}; })),
      "");
  EXPECT_NE(outcome(copies_in(
                [](std::int64_t i) { return std::int64_t{static_cast<std::uint32_t>(i)}; })),
            "");
  // A contract with strides requires the battery for strides.
  expect_failure(outcome_of([&] {
                   const CopyRows sound = copies_in([](std::int64_t i) { return i; });
                   battery::require_promises_of(subject_of<rows_call>(sound), boxed(kCase),
                                                detail::kEach, Arrays::kContiguous, 0);
                 }),
                 "law", "copy_rows has strides, and no battery tries them");
}

// Copies and counts words. Of a long array it copies only the first and the last words, like a grid
// of which only the first and the last blocks run.
struct Copied {
  std::int64_t words = 0;
  int parts = 0;
};
using PartLauncher = Status(const std::uint32_t* x, std::int64_t n, std::uint32_t* y, int parts,
                            std::int64_t room, Copied* copied, cudaStream_t stream);
using CopyInParts = std::function<PartLauncher>;
constexpr std::int64_t kBlock = 3;

// begins_there: y's first block already holds the expected result.
template <bool begins_there>
Call<CopyInParts> parts_call_of(const CopyCase& c) {
  Call<CopyInParts> call("copy_in_parts");
  auto& [x, n, y, parts, room, copied] = call.arguments(nullptr, c.n, nullptr, 1, c.n, nullptr);
  call.integer("n", {0, c.n}, n);
  call.integer("parts", {1, std::numeric_limits<int>::max()}, parts);
  call.integer("room", {c.n, kMost}, room);
  call.input("x", x, {.count = c.n}, {},
             [&c] { return make_values<std::uint32_t>(c.values, c.n); });
  if constexpr (begins_there) {
    call.in_out("y", y, {.count = c.n}, {}, [&c] {
      auto words = make_values<std::uint32_t>(c.values, c.n);
      for (std::size_t i = kBlock; i < words.size(); ++i) words[i] = ~words[i];
      return words;
    });
  } else {
    call.output<std::uint32_t>("y", y, {.count = c.n}, {});
  }
  call.apart("x", "y");
  call.immaterial("parts"), call.immaterial("room");
  call.lengthens("n", kBlock, kMost, {{"x"}, {"y"}}, [&room = room](std::int64_t n) { room = n; });
  call.reports<Copied>("copied", copied, [](const Copied& c) {
    return std::to_string(c.words) + " in " + std::to_string(c.parts);
  });
  return call;
}
constexpr auto parts_call = parts_call_of<false>;

// `last`: the position of the words that it treats as the last. `works`: whether it copies at all.
// `says`: what it reports.
CopyInParts in_parts(std::function<std::int64_t(std::int64_t n)> last,
                     std::function<bool(std::int64_t n, int parts, std::int64_t room)> works,
                     std::function<void(std::int64_t n, Copied&)> says) {
  return [=](auto x, auto n, auto y, int parts, auto room, auto copied, auto stream) {
    if (copied != nullptr) says(n, *copied);
    if (n == 0 || !works(n, parts, room)) return Status{};
    for (const std::int64_t at : {std::int64_t{0}, n <= kBlock ? 0 : last(n - kBlock)}) {
      if (const Status s = status_of(do_copy(x + at, std::min(n, kBlock), y + at, stream));
          s.error != cudaSuccess)
        return s;
    }
    // A long array is not backed by memory between its ends.
    return n <= 2 * kBlock || n > 1000
               ? Status{}
               : status_of(do_copy(x + kBlock, n - 2 * kBlock, y + kBlock, stream));
  };
}

TEST(Batteries, FindWhatIsWrongFarFromTheCase) {
  const auto whole = [](std::int64_t at) { return at; };
  const auto always = [](std::int64_t, int, std::int64_t) { return true; };
  const auto all = [](std::int64_t n, Copied& c) { c = {n, n > kBlock ? 2 : 1}; };
  const auto ends_of = [](const CopyInParts& f) {
    return outcome_of(
        [&] { battery::require_far_ends_of(subject_of<parts_call>(f), boxed(kCase)); });
  };
  const auto immaterial_of = [](const CopyInParts& f) {
    return outcome_of([&] {
      battery::require_no_effect_of_immaterial_arguments_of(subject_of<parts_call>(f),
                                                            boxed(kCase));
    });
  };
  const auto reports_of = [](const CopyInParts& f) {
    return outcome_of(
        [&] { battery::require_reports_filled_of(subject_of<parts_call>(f), boxed(kCase)); });
  };
  const CopyInParts sound = in_parts(whole, always, all);
  EXPECT_EQ(ends_of(sound), "");
  EXPECT_EQ(immaterial_of(sound), "");
  EXPECT_EQ(reports_of(sound), "");

  // Ends beyond 31 and 32 bits, and no work if the length is 0 in 32 bits.
  EXPECT_NE(
      ends_of(in_parts([](std::int64_t at) { return std::int64_t{static_cast<std::uint32_t>(at)}; },
                       always, all)),
      "");
  EXPECT_NE(
      ends_of(in_parts([](std::int64_t at) { return at > 0x7fffffff ? at - 1 : at; }, always, all)),
      "");
  expect_failure(
      ends_of(in_parts(
          whole,
          [](std::int64_t n, int, std::int64_t) { return static_cast<std::uint32_t>(n) >= kBlock; },
          all)),
      "law", "is in the first block of the grid, and not there");

  // Values in the second block that are neither the old nor the right ones.
  const CopyInParts repeats_a_block = [&sound](auto x, auto n, auto y, int parts, auto room,
                                               auto copied, auto stream) {
    const Status s = sound(x, n, y, parts, room, copied, stream);
    return n > 1000 ? status_of(do_copy(x, kBlock, y + kBlock, stream)) : s;
  };
  expect_failure(ends_of(repeats_a_block), "mismatch", "first 3 elements from the begin of row 0");

  // A first block with results that were already there: the next block does not run.
  EXPECT_EQ(outcome_of([&] {
              battery::require_far_ends_of(subject_of<parts_call_of<true>>(sound), boxed(kCase));
            }),
            "");

  // An argument that affects the results after all: by itself, and together with another.
  expect_failure(
      immaterial_of(in_parts(
          whole, [](std::int64_t, int parts, std::int64_t) { return parts < 1000; }, all)),
      "mismatch", "with parts:2147483647");
  expect_failure(
      immaterial_of(in_parts(
          whole, [](std::int64_t, int, std::int64_t room) { return room < std::int64_t{1} << 40; },
          all)),
      "mismatch", "with room:");

  // A report that is omitted without work, and one that omits a member.
  expect_failure(reports_of(in_parts(whole, always,
                                     [](std::int64_t n, Copied& c) {
                                       if (n > 0) c = {n, n > kBlock ? 2 : 1};
                                     })),
                 "law", "with n:0: copied is not filled in");
  expect_failure(
      reports_of(in_parts(whole, always, [](std::int64_t n, Copied& c) { c.words = n; })), "law",
      "launched: copied is not filled in");

  // A contract with this statement requires its battery.
  expect_failure(outcome_of([&] {
                   battery::require_promises_of(subject_of<parts_call>(sound), boxed(kCase),
                                                detail::kEach, Arrays::kContiguous, 0);
                 }),
                 "law", "says more (Says 7) than the family's batteries try (0)");
}

TEST(Batteries, FindAnErrorThatIsSwallowedOrLeftBehind) {
  const Copy swallows = [](auto x, auto n, auto y, auto stream) {
    const Status status = right(x, n, y, stream);
    return status.of_cuda ? Status{} : status;
  };
  expect_failure(state_of(swallows), "law",
                 "answers success on a stream on which CUDA refuses everything");
  const Copy leaves = [](auto x, auto n, auto y, auto stream) {
    Status status = check(x, n, y);
    if (status.error == cudaSuccess && n != 0) {
      status.error = do_copy(x, n, y, stream);
      if (status.error != cudaSuccess)
        status.message = "copy: the copy failed", status.of_cuda = true;
    }
    return status;
  };
  expect_failure(state_of(leaves), "law", "leaves cudaErrorStreamCaptureInvalidated pending");
}

// Makes two CUDA calls; `look` makes a status of their results.
template <class Look>
Copy in_two_steps(Look look) {
  return [look](auto x, auto n, auto y, auto stream) {
    if (Status s = check(x, n, y); s.error != cudaSuccess || n == 0) return s;
    const auto bytes = 4 * static_cast<std::size_t>(n);
    if (Status s = look(0, cudaMemsetAsync(y, 0, bytes, stream)); s.error != cudaSuccess) return s;
    return look(1, do_copy(x, n, y, stream));
  };
}

Status named(cudaError_t error) {
  Status status = status_of(error);
  if (status.of_cuda) status.message = std::string("copy: ") + cudaGetErrorName(error);
  return status;
}

TEST(Batteries, FindTheCallWhoseErrorIsSwallowed) {
  EXPECT_EQ(errors_of(in_two_steps([](int, cudaError_t e) { return named(e); })), "");
  for (const int swallowed : {0, 1}) {
    const Copy f = in_two_steps(
        [swallowed](int step, cudaError_t e) { return step == swallowed ? Status{} : named(e); });
    if (swallowed == 0) {
      EXPECT_EQ(state_of(f), "") << "where all calls fail it says so";
    }
    expect_failure(errors_of(f), "law",
                   swallowed == 0 ? "where cudaMemsetAsync fails with cudaErrorHardwareStackError: "
                                    "answers cudaSuccess"
                                  : "where cudaMemcpyAsync fails");
  }
}

TEST(Batteries, FindWhatIsWrongAboutAnErrorThatIsReturned) {
  const auto outcome = [](auto of) {
    return errors_of(in_two_steps([of](int, cudaError_t e) { return of(e); }));
  };
  expect_failure(
      outcome([](cudaError_t e) { return e == cudaSuccess ? Status{} : named(cudaErrorUnknown); }),
      "law", "answers cudaErrorUnknown");
  expect_failure(outcome([](cudaError_t e) { return status_of(e); }), "law",
                 "the message does not name cudaErrorHardwareStackError");
  expect_failure(outcome([](cudaError_t e) {
                   Status status = named(e);
                   status.of_cuda = false;
                   return status;
                 }),
                 "law", "does not name");
  expect_failure(outcome([](cudaError_t e) {
                   return e == cudaSuccess
                              ? Status{}
                              : Status{e, std::string("copy: ") + cudaGetErrorName(e), true};
                 }),
                 "law", "leaves cudaErrorHardwareStackError pending");
  cudaError_t first = cudaSuccess;
  const Copy goes_on = in_two_steps([&](int step, cudaError_t e) {
    if (step == 0) first = e, cudaGetLastError();
    if (step == 0) return Status{};
    return named(first != cudaSuccess ? first : e);
  });
  expect_failure(errors_of(goes_on), "law", "cudaMemcpyAsync comes all the same");
}

TEST(Batteries, FindWhatStaysBehind) {
  const auto after = [](auto leave) -> Copy {
    return [leave](auto x, auto n, auto y, auto stream) {
      const Status status = right(x, n, y, stream);
      if (status.of_cuda) return named(status.error);
      if (status.error == cudaSuccess) leave(stream);
      return status;
    };
  };
  expect_failure(errors_of(after([](cudaStream_t) {
                   cudaEvent_t event;
                   cudaEventCreate(&event);
                 })),
                 "law", "copy, launched: ");
  expect_failure(errors_of(after([](cudaStream_t) {
                   cudaStream_t stream;
                   cudaStreamCreate(&stream);
                 })),
                 "law", "allocations, streams, events and graphs exist");
  expect_failure(errors_of(after([](cudaStream_t stream) {
                   void* memory;
                   cudaMallocAsync(&memory, 16, stream);
                 })),
                 "law", "allocations, streams, events and graphs exist");
  expect_failure(errors_of(after([](cudaStream_t) { cudaSetDevice(1); })), "law",
                 "device 1 is the current one, not 0");
  expect_failure(errors_of(after([](cudaStream_t) {
                   cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
                   cudaThreadExchangeStreamCaptureMode(&mode);
                 })),
                 "law", "the thread has another capture mode");
  // Leaks an event if the copy fails.
  const Copy where_it_fails = [](auto x, auto n, auto y, auto stream) {
    cudaEvent_t event;
    if (const Status status = named(cudaEventCreate(&event)); status.error != cudaSuccess)
      return status;
    const Status status = named(do_copy(x, n, y, stream));
    if (status.error == cudaSuccess) cudaEventDestroy(event);
    return status;
  };
  expect_failure(errors_of(where_it_fails), "law", "where cudaMemcpyAsync fails: ");
}

TEST(Batteries, FindWhatIsKeptFromOneDeviceToTheNext) {
  std::optional<int> prepared;
  const Copy prepares_once = [&](auto x, auto n, auto y, auto stream) {
    int device = 0;
    cudaGetDevice(&device);
    if (!prepared) prepared = device;
    return device == *prepared ? right(x, n, y, stream) : status_of(cudaErrorInvalidConfiguration);
  };
  EXPECT_EQ(state_of(prepares_once), "");
  expect_failure(devices_of(prepares_once), "cuda-error", "on the second device");
}

TEST(Batteries, HoldEveryLawOnASecondDevice) {
  const Laws<Copy> laws = {
      law<CopyCase, Copy>("Copies",
                          [](const Copy& f, const CopyCase& c) {
                            auto call = copy_call(c).run(f);
                            REQUIRE_BITWISE_EQUAL(call.take<std::uint32_t>("y"),
                                                  make_values<std::uint32_t>(c.values, c.n));
                          }),
      law<CopyCase, Copy>("IsASecondLaw", [](const Copy&, const CopyCase&) {})};
  const auto there =
      second_device_law("There", laws, {.cases = 3}, std::source_location::current());
  PropertyOptions options;
  options.cases = 3;
  const PropertyResult right_result = there.judge("There", right, options);
  EXPECT_TRUE(right_result.held) << right_result.failure.message;
  EXPECT_EQ(right_result.cases, 6u) << "three of each law";
  int device = 0;
  const Copy on_one = [&](auto x, auto n, auto y, auto stream) {
    cudaGetDevice(&device);
    return device == 0 || n < 2 ? right(x, n, y, stream) : status_of(cudaErrorInvalidConfiguration);
  };
  for (const auto& law : laws) EXPECT_TRUE(law.judge(law.name, on_one, options).held);
  const PropertyResult result = there.judge("There", on_one, options);
  EXPECT_EQ(result.failure.label(), "cuda-error");
  EXPECT_EQ(result.minimal_case, "Copies: n=2 values=uniform:0");
  options.replay = result.minimal_case;
  EXPECT_EQ(there.judge("There", on_one, options).failure.label(), "cuda-error");
  options.replay = "Unknown: n=2";
  EXPECT_EQ(there.judge("There", right, options).not_run, "--case: no law of that name");
  ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0) << "and the first device is the current one again";
}

TEST(Batteries, FindAPromiseThatIsNotKept) {
  const Copy one_too_few = [](auto x, auto n, auto y, auto stream) {
    return n == kMost ? refused("n") : right(x, n, y, stream);
  };
  expect_failure(promises_of(one_too_few), "law", "copy with n:2305843009213693951: must be taken");
  const Copy in_31_bits = [](auto x, auto n, auto y, auto stream) {
    return n > std::numeric_limits<std::int32_t>::max() ? refused("n") : right(x, n, y, stream);
  };
  expect_failure(promises_of(in_31_bits), "law", "must be taken");
  const Copy truncates = [](auto x, auto n, auto y, auto stream) {
    return right(x, static_cast<std::int64_t>(static_cast<std::uint32_t>(n)), y, stream);
  };
  expect_failure(promises_of(truncates), "law",
                 "copy with n:4294967296: answers success, but there is nothing");
  const Copy wants_a_gap = [](auto x, auto n, auto y, auto stream) {
    if (n != 0 && (x + n == y || y + n == x)) return refused("too near");
    return right(x, n, y, stream);
  };
  expect_failure(promises_of(wants_a_gap), "law", "copy with y:right_after_x: must be taken");
  const Copy wants_a_gap_before = [](auto x, auto n, auto y, auto stream) {
    if (n != 0 && y + n == x) return refused("too near");
    return right(x, n, y, stream);
  };
  expect_failure(promises_of(wants_a_gap_before), "law",
                 "copy with y:right_before_x: must be taken");
}

TEST(Batteries, FindARefusalThatIsCudas) {
  const Copy leaves_it_to_cuda = [](auto x, auto n, auto y, auto stream) {
    if (Status s = check(x, n, y); s.error == cudaSuccess)
      return n == 0 ? s : status_of(do_copy(x, n, y, stream));
    return status_of(cudaMemcpyAsync(nullptr, x, 4, cudaMemcpyDeviceToDevice, stream));
  };
  expect_failure(refusals_of(leaves_it_to_cuda), "law",
                 "cudaMemcpyAsync, which failed, came first");
  const Copy touches_first = [](auto x, auto n, auto y, auto stream) {
    static void* scratch = [] {
      void* memory = nullptr;
      cudaMalloc(&memory, 16);
      return memory;
    }();
    cudaMemsetAsync(scratch, 0, 16, stream);
    return right(x, n, y, stream);
  };
  expect_failure(refusals_of(touches_first), "law",
                 "before any operation on the device, but cudaMemsetAsync came first");
}

TEST(OtherContents, AreOfTheSameShapeAndFollowFromTheCase) {
  const Copy right_copy = right;
  int differ = 0;
  for (int n : {0, 1, 7, 40}) {
    CopyCase c;
    c.n = n;
    const auto other_contents = [&] {
      const auto other = with_other_contents(subject_of<copy_call>(right_copy), boxed(c));
      return static_cast<const detail::BoxedCase<CopyCase>&>(*other).value;
    };
    const CopyCase other = other_contents(), again = other_contents();
    EXPECT_EQ(other.n, n);
    EXPECT_EQ(other.values, again.values);
    differ += other.values != c.values;
  }
  EXPECT_EQ(differ, 4);
}

}  // namespace
}  // namespace lockstep::properties
