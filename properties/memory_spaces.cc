#include "properties/memory_spaces.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "harness/device/device.h"
#include "harness/property/values.h"
#include "properties/batteries.h"
#include "properties/contract_laws.h"
#include "properties/no_launch.h"
#include "reference/memory_spaces.h"

namespace lockstep::properties {
namespace {

using kernels::kLocalWords;
using kernels::kManagedWords;
using kernels::kSymbolWords;
using kernels::SharedKind;
using kernels::SpaceShape;
using kernels::SymbolSpace;
using Words = std::vector<std::uint32_t>;

// Streams of make_values(): one per array.
enum Stream : std::uint64_t { kInside, kEverywhere };

Words list(const reference::SpaceWords& w) { return {w.begin(), w.end()}; }

Words read_all(const MemorySpaces& spaces, SymbolSpace space) {
  Words all(kSymbolWords);
  REQUIRE_CUDA(spaces.read_words(space, 0, all.data(), kSymbolWords));
  return all;
}

void write_all(const MemorySpaces& spaces, SymbolSpace space, const Words& all) {
  REQUIRE_CUDA(spaces.write_words(space, 0, all.data(), kSymbolWords));
}

// A grid whose threads use local and shared memory.
struct SpaceCase {
  static constexpr int kGreatest = std::numeric_limits<int>::max();

  int block = 32;
  int blocks = 1;
  int shift = 0;
  SharedKind shared = SharedKind::kStatic;
  int x_offset = 0, y_offset = 0;  // words past a 256-byte boundary
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(SpaceCase& c, FieldVisitor& field) {
    using enum SharedKind;
    field("block", c.block,
          one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 2, 3, 4, 31, 33, 1000}));
    field("blocks", c.blocks, one_of<int>({1, 2, 3, 7, 40}));
    field("shift", c.shift, one_of<int>({0, 1, 2, 31, 32, 33, 63, 100, kGreatest - 1, kGreatest}));
    field("shared", c.shared, choice<SharedKind>({{"static", kStatic}, {"dynamic", kDynamic}}));
    field("x_offset", c.x_offset, range(0, 31));
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values,
          values_of({ValueKind::kIndex, ValueKind::kWide, ValueKind::kSpecial}));
  }
  void normalise() {
    if (block > 512) blocks = std::min(blocks, 3);
  }
  std::int64_t work() const {
    constexpr std::int64_t kStepsOfAThread = 32;
    return static_cast<std::int64_t>(threads()) * kStepsOfAThread;
  }
  // For launchers on an array with application lifetime.
  SymbolSpace space() const {
    return shared == SharedKind::kStatic ? SymbolSpace::kDevice : SymbolSpace::kConstant;
  }
  // Of a range of an array; none where a grid has seven blocks.
  std::int64_t words() const { return blocks == 7 ? 0 : blocks; }
  SpaceShape shape() const { return {.block = block, .blocks = static_cast<unsigned>(blocks)}; }
  std::size_t threads() const {
    return static_cast<std::size_t>(block) * static_cast<std::size_t>(blocks);
  }
};

// A range of one of the arrays of 64 KB, and an access by n threads.
struct SymbolCase {
  std::int64_t first = 0, count = 0;
  std::int64_t n = 0;
  SymbolSpace space = SymbolSpace::kDevice;
  int block = 32;
  bool one_address = false;  // all lanes of a warp read the same word
  int y_offset = 0;
  Poison poison = Poison::kNaN;
  Values values;

  static void fields(SymbolCase& c, FieldVisitor& field) {
    using enum SymbolSpace;
    field("first", c.first, sizes(0, kSymbolWords));
    field("count", c.count, sizes(0, kSymbolWords));
    field("n", c.n, sizes(0, 5000));
    field("space", c.space, choice<SymbolSpace>({{"device", kDevice}, {"constant", kConstant}}));
    field("block", c.block, one_of<int>({32, 64, 128, 256, 1024, 1, 33}));
    field("one_address", c.one_address, booleans());
    field("y_offset", c.y_offset, range(0, 31));
    field("poison", c.poison, poisons());
    field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide}));
  }
  // The range is inside the array, and often at its very end.
  void normalise() {
    first = std::min(first, kSymbolWords);
    count = std::min(count, kSymbolWords - first);
  }
};

// The launchers' calls for a case, with their contracts. The case's block and grid determine the
// number of threads.

// The launcher reads or writes the array of that space, which holds the case's values before the
// call.
void describe_symbol(Call<MemorySpaces>& call, SymbolSpace space, const SpaceCase& c) {
  call.variable(
      space == SymbolSpace::kDevice ? "the __device__ words" : "the __constant__ words",
      [&c] { return make_values<std::uint32_t>(c.values, kSymbolWords, kEverywhere); },
      [space](const MemorySpaces& spaces) { return read_all(spaces, space); },
      [space](const MemorySpaces& spaces, const Words& all) { write_all(spaces, space, all); });
}

constexpr std::int64_t kUnlimitedBlocks = std::numeric_limits<int>::max();

void describe_shape(Call<MemorySpaces>& call, SpaceShape& shape) {
  call.integer("block", {1, 1024}, shape.block);
  call.integer("blocks", {1, std::numeric_limits<int>::max()}, shape.blocks);
  call.grid({.threads = shape.block, .least_blocks = shape.blocks, .most_blocks = shape.blocks});
}

Call<MemorySpaces> local_rotation_call(const SpaceCase& c) {
  Call<MemorySpaces> call("local_rotation");
  auto& [y, seed, shift, shape] =
      call.arguments(&MemorySpaces::local_rotation, nullptr, 0u, c.shift, c.shape());
  describe_shape(call, shape);
  call.integer("shift", {0, std::numeric_limits<int>::max()}, shift);
  const std::int64_t words = std::int64_t{c.block} * kLocalWords;  // per block
  call.output<std::uint32_t>("y", y,
                             {.count = static_cast<std::int64_t>(c.threads()) * kLocalWords},
                             {c.y_offset, c.poison});
  // Words are numbered modulo 2^32.
  constexpr std::int64_t kNumbers = std::int64_t{1} << 32;
  call.lengthens("blocks", 1, kUnlimitedBlocks, {{"y", words}}, {},
                 kNumbers / std::gcd(words, kNumbers));
  return call;
}

Call<MemorySpaces> shared_sum_call(const SpaceCase& c) {
  Call<MemorySpaces> call("shared_sum");
  auto& [kind, x, y, shape] =
      call.arguments(&MemorySpaces::shared_sum, c.shared, nullptr, nullptr, c.shape());
  const auto threads = static_cast<std::int64_t>(c.threads());
  call.choice("kind", SharedKind::kDynamic, kind);
  call.own_kernels("kind");
  describe_shape(call, shape);
  call.input("x", x, {.count = threads}, {c.x_offset, c.poison},
             [&c] { return make_values<std::uint32_t>(c.values, c.threads()); });
  call.output<std::uint32_t>("y", y, {.count = threads}, {c.y_offset, c.poison});
  call.lengthens("blocks", 1, kUnlimitedBlocks, {{"x", c.block}, {"y", c.block}});
  return call;
}

Call<MemorySpaces> count_threads_call(const SpaceCase& c) {
  Call<MemorySpaces> call("count_threads");
  auto& [shape] = call.arguments(&MemorySpaces::count_threads, c.shape());
  describe_shape(call, shape);
  call.variable(
      "the counter", [&c] { return std::vector<std::uint64_t>{mix(c.values.seed)}; },
      [](const MemorySpaces& spaces) {
        std::vector<std::uint64_t> count(1);
        REQUIRE_CUDA(spaces.read_thread_count(count[0]));
        return count;
      },
      [](const MemorySpaces& spaces, const std::vector<std::uint64_t>& count) {
        REQUIRE_CUDA(spaces.write_thread_count(count[0]));
      });
  return call;
}

// `words` words, from word `first` on, of the array that `launcher` copies to or from the host.
template <class Launcher>
Call<MemorySpaces> copy_call(const char* name, Launcher launcher, const SpaceCase& c) {
  Call<MemorySpaces> call(name);
  const std::int64_t from = c.shift % 101, words = c.blocks;
  auto& [space, first, memory, count] = call.arguments(launcher, c.space(), from, nullptr, words);
  call.choice("space", SymbolSpace::kDevice, space);
  call.integer("first", {0, kSymbolWords - words}, first);
  call.integer("count", {0, kSymbolWords - from}, count);
  // Room for the most words that can be copied.
  call.host("memory", memory, {.count = words, .room = kSymbolWords - from},
            [&c, words] { return make_values<std::uint32_t>(c.values, words, kInside); });
  describe_symbol(call, c.space(), c);
  return call;
}

Call<MemorySpaces> gather_words_call(const SpaceCase& c) {
  Call<MemorySpaces> call("gather_words");
  const auto threads = static_cast<std::int64_t>(c.threads());
  auto& [space, index, y, n, block] =
      call.arguments(&MemorySpaces::gather_words, c.space(), nullptr, nullptr, threads, c.block);
  call.choice("space", SymbolSpace::kDevice, space);
  call.own_kernels("space");
  call.integer("n", {0, std::int64_t{std::numeric_limits<int>::max()} * c.block}, n);
  call.integer("block", {1, 1024}, block);
  call.grid({.threads = c.block});
  call.input("index", index, {.count = threads}, {c.x_offset, c.poison}, [&c] {
    Words index = make_values<std::uint32_t>(c.values, c.threads(), kInside);
    for (std::uint32_t& i : index) i %= kSymbolWords;
    return index;
  });
  describe_symbol(call, c.space(), c);
  call.output<std::uint32_t>("y", y, {.count = threads}, {c.y_offset, c.poison});
  call.immaterial("block");
  call.lengthens("n", c.block, Whole{kUnlimitedBlocks} * c.block, {{"index"}, {"y"}});
  return call;
}

Call<MemorySpaces> increment_words_call(const SpaceCase& c) {
  Call<MemorySpaces> call("increment_words");
  const std::int64_t from = c.shift % 101, words = c.words();
  auto& [first, count, block] =
      call.arguments(&MemorySpaces::increment_words, from, words, c.block);
  call.integer("first", {0, kSymbolWords - words}, first);
  call.integer("count", {0, kSymbolWords - from}, count);
  call.integer("block", {1, 1024}, block);
  call.grid({.threads = c.block});
  call.immaterial("block");
  describe_symbol(call, SymbolSpace::kDevice, c);
  return call;
}

Call<MemorySpaces> transform_managed_call(const SpaceCase& c) {
  Call<MemorySpaces> call("transform_managed");
  const std::int64_t elements = c.words() == 0 ? 0 : static_cast<std::int64_t>(c.threads());
  auto& [words, count, block] =
      call.arguments(&MemorySpaces::transform_managed, nullptr, elements, c.block);
  call.integer("count", {0, std::int64_t{std::numeric_limits<int>::max()} * c.block}, count);
  call.integer("block", {1, 1024}, block);
  call.grid({.threads = c.block});
  call.in_out("words", words, {.count = elements}, {c.y_offset, c.poison},
              [&c, elements] { return make_values<std::uint32_t>(c.values, elements); });
  call.immaterial("block");
  call.lengthens("count", c.block, Whole{kUnlimitedBlocks} * c.block, {{"words"}});
  return call;
}

Calls<MemorySpaces> calls_of(const SpaceCase& c) {
  Calls<MemorySpaces> calls;
  for (const auto& call : {local_rotation_call, shared_sum_call, count_threads_call,
                           gather_words_call, increment_words_call, transform_managed_call}) {
    calls.push_back(call(c));
  }
  calls.push_back(copy_call("write_words", &MemorySpaces::write_words, c));
  calls.push_back(copy_call("read_words", &MemorySpaces::read_words, c));
  return calls;
}

void local_arrays_belong_to_their_threads(const MemorySpaces& spaces, const SpaceCase& c) {
  const auto seed = static_cast<std::uint32_t>(mix(c.values.seed));
  const auto out = DeviceArray<std::uint32_t>::output(
      "y", c.threads() * kLocalWords, {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(spaces.local_rotation(out.data(), seed, c.shift, c.shape(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_BITWISE_EQUAL(out, list(reference::local_rotation(static_cast<std::int64_t>(c.threads()),
                                                            kLocalWords, seed, c.shift)));
}

void shared_arrays_belong_to_their_blocks(const MemorySpaces& spaces, const SpaceCase& c) {
  const Words x = make_values<std::uint32_t>(c.values, c.threads());
  REQUIRE_BITWISE_EQUAL(shared_sum_call(c).run(spaces).take<std::uint32_t>("y"),
                        list(reference::block_sums(x, c.block)),
                        one_thread_per_element(static_cast<std::uint32_t>(c.block)));
}

// More blocks than 16 bits count, of one thread each.
void number_blocks_beyond_16_bits(const MemorySpaces& spaces, const SpaceCase& c) {
  SpaceCase many = c;
  many.block = 1, many.blocks = (1 << 16) + 3;
  shared_arrays_belong_to_their_blocks(spaces, many);
}

// A counter keeps its value over launches, and after writes of the host in between.
void device_variables_outlive_kernels(const MemorySpaces& spaces, const SpaceCase& c) {
  const std::uint64_t threads = c.threads(), random = mix(c.values.seed);
  // Half of the counters are about to exceed 31, 32, 63 or 64 bits.
  constexpr int kWidths[] = {31, 32, 63, 64};
  const std::uint64_t end = random % 4 == 3 ? 0 : std::uint64_t{1} << kWidths[random % 4];
  const std::uint64_t start =
      c.values.seed % 2 == 0 ? end - 1 - (random >> 8) % (2 * threads) : random;
  REQUIRE_CUDA(spaces.write_thread_count(start));
  for (std::uint64_t launch = 1; launch <= 3; ++launch) {
    REQUIRE_CUDA(spaces.count_threads(c.shape(), nullptr));
    std::uint64_t count = 0;
    REQUIRE_CUDA(spaces.read_thread_count(count));
    REQUIRE_LAW(count == start + launch * threads,
                "after {} launches of {} threads the counter went from {} to {}", launch, threads,
                start, count);
  }
}

void symbols_come_back_as_they_were_written(const MemorySpaces& spaces, const SymbolCase& c) {
  const Words words = make_values<std::uint32_t>(c.values, c.count, kInside);
  REQUIRE_CUDA(spaces.write_words(c.space, c.first, words.data(), c.count));
  Words back(words.size());
  REQUIRE_CUDA(spaces.read_words(c.space, c.first, back.data(), c.count));
  REQUIRE_BITWISE_EQUAL(back, words);
}

void copies_leave_the_rest_of_a_symbol_alone(const MemorySpaces& spaces, const SymbolCase& c) {
  Words all = make_values<std::uint32_t>(c.values, kSymbolWords, kEverywhere);
  write_all(spaces, c.space, all);
  const Words words = make_values<std::uint32_t>(c.values, c.count, kInside);
  REQUIRE_CUDA(spaces.write_words(c.space, c.first, words.data(), c.count));
  std::ranges::copy(words, all.begin() + c.first);
  REQUIRE_BITWISE_EQUAL(read_all(spaces, c.space), all);
}

void kernels_read_what_the_host_wrote(const MemorySpaces& spaces, const SymbolCase& c) {
  const Words all = make_values<std::uint32_t>(c.values, kSymbolWords, kEverywhere);
  write_all(spaces, c.space, all);
  Words index(c.n), expected(c.n);
  for (std::int64_t i = 0; i < c.n; ++i) {
    // Includes the last words of the array, at the end of its 64 KB.
    const auto r = mix(c.values.seed + static_cast<std::uint64_t>(c.one_address ? i / 32 : i));
    index[i] = static_cast<std::uint32_t>(
        r % 8 == 0 ? kSymbolWords - 1 - static_cast<std::int64_t>(r >> 60)
                   : static_cast<std::int64_t>((r >> 8) % kSymbolWords));
    expected[i] = all[index[i]];
  }
  const auto indices = DeviceArray<std::uint32_t>::input("index", index, {.poison = c.poison});
  const auto out = DeviceArray<std::uint32_t>::output(
      "y", index.size(), {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(spaces.gather_words(c.space, indices.data(), out.data(), c.n, c.block, nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_BITWISE_EQUAL(out, expected, one_thread_per_element(static_cast<std::uint32_t>(c.block)));
}

void the_host_reads_what_kernels_wrote(const MemorySpaces& spaces, const SymbolCase& c) {
  Words all = make_values<std::uint32_t>(c.values, kSymbolWords, kEverywhere);
  write_all(spaces, SymbolSpace::kDevice, all);
  for (int launch = 0; launch < 2; ++launch)
    REQUIRE_CUDA(spaces.increment_words(c.first, c.count, c.block, nullptr));
  for (std::int64_t i = c.first; i < c.first + c.count; ++i) all[i] += 2;
  REQUIRE_BITWISE_EQUAL(read_all(spaces, SymbolSpace::kDevice), all);
}

void managed_memory_is_one_for_host_and_device(const MemorySpaces& spaces, const SymbolCase& c) {
  require_capability({Capability::kManagedMemory});
  std::uint32_t* words = nullptr;
  REQUIRE_CUDA(spaces.managed_words(words));
  const std::int64_t count = std::min(c.count, kManagedWords);
  Words expected = make_values<std::uint32_t>(c.values, kManagedWords, kEverywhere);
  std::ranges::copy(expected, words);  // the host writes it without a copy
  REQUIRE_CUDA(spaces.transform_managed(words, count, c.block, nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  for (std::int64_t i = 0; i < count; ++i) expected[i] = 3 * expected[i] + 1;
  REQUIRE_BITWISE_EQUAL(Words(words, words + kManagedWords), expected);
}

// The same for memory of cudaMallocManaged.
void managed_memory_may_be_allocated(const MemorySpaces& spaces, const SymbolCase& c) {
  require_capability({Capability::kManagedMemory});
  const std::int64_t count = std::max<std::int64_t>(c.count, 1);
  void* memory = nullptr;
  REQUIRE_CUDA(cudaMallocManaged(&memory, count * sizeof(std::uint32_t)));
  const std::unique_ptr<void, cudaError_t (*)(void*)> owner(memory, cudaFree);
  auto* const words = static_cast<std::uint32_t*>(memory);
  Words expected = make_values<std::uint32_t>(c.values, count, kEverywhere);
  for (int turn = 0; turn < 2; ++turn) {  // host and device alternately
    if (turn == 0) std::ranges::copy(expected, words);
    words[count - 1] += static_cast<std::uint32_t>(turn),
        expected[count - 1] += static_cast<std::uint32_t>(turn);
    REQUIRE_CUDA(spaces.transform_managed(words, count, c.block, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    for (std::uint32_t& word : expected) word = 3 * word + 1;
    REQUIRE_BITWISE_EQUAL(Words(words, words + count), expected);
  }
}

void launch_nothing_for_no_work(const MemorySpaces& spaces, const SymbolCase& c) {
  const Words before = read_all(spaces, c.space);
  require_no_launch([&](cudaStream_t stream) {
    REQUIRE_CUDA(spaces.gather_words(c.space, nullptr, nullptr, 0, c.block, stream));
    REQUIRE_CUDA(spaces.increment_words(c.first, 0, c.block, stream));
    REQUIRE_CUDA(spaces.transform_managed(nullptr, 0, c.block, stream));
    REQUIRE_CUDA(spaces.write_words(c.space, c.first, nullptr, 0));
    REQUIRE_CUDA(spaces.read_words(c.space, c.first, nullptr, 0));
  });
  REQUIRE_BITWISE_EQUAL(read_all(spaces, c.space), before);
}

void are_deterministic(const MemorySpaces& spaces, const SpaceCase& c) {
  constexpr int kSchedules = 50;
  SpaceCase small = c;
  small.block = std::min(c.block, 128);
  REQUIRE_DETERMINISTIC(kSchedules, [&] {
    return shared_sum_call(small).run(spaces).take<std::uint32_t>("y").fetch();
  });
}

// For the launchers without arrays, which have no contract as data.
void return_errors_of_the_counter(const MemorySpaces& spaces, const NoFields&) {
  const auto answer_of = [](const kernels::LaunchStatus& s) {
    return Answer{s.error, s.message, s.of_cuda};
  };
  std::uint64_t count = 0;
  const auto nothing = [] {};
  REQUIRE_CUDA(spaces.write_thread_count(count));  // objects that the first call loads may stay
  require_errors_returned_by("read_thread_count", nothing,
                             [&] { return answer_of(spaces.read_thread_count(count)); });
  require_errors_returned_by("write_thread_count", nothing,
                             [&] { return answer_of(spaces.write_thread_count(count)); });
}

// No real device lacks managed memory, so the simulated GPU reports that it does.
void managed_words_need_managed_memory(const MemorySpaces& spaces, const NoFields&) {
  require_capability({Capability::kSimulator});
  std::uint32_t* words = nullptr;
  const auto junk = [&words] { words = reinterpret_cast<std::uint32_t*>(&words); };
  const auto answer_of = [&] {
    const kernels::LaunchStatus s = spaces.managed_words(words);
    REQUIRE_LAW(s.ok() == (words != nullptr), "answers {}, and the words are {}",
                cudaGetErrorName(s.error), static_cast<const void*>(words));
    return Answer{s.error, s.message, s.of_cuda};
  };
  junk();
  REQUIRE_CUDA(answer_of());
  require_errors_returned_by("managed_words", junk, answer_of);
  junk();
  const OtherProperty none(cudaDevAttrManagedMemory, 0);
  const Answer refused = answer_of();
  REQUIRE_LAW(refused.error == cudaErrorNotSupported && !refused.message.empty(),
              "without managed memory answers {} ({})", cudaGetErrorName(refused.error),
              refused.message);
}

}  // namespace

Laws<MemorySpaces> memory_space_laws() {
  return with_batteries<calls_of, SpaceCase, Arrays::kContiguous, kSaysImmaterial | kSaysLengths>({
      law("ReturnErrorsOfTheCounter", return_errors_of_the_counter, {.cases = 1}),
      law("ManagedWordsNeedManagedMemory", managed_words_need_managed_memory, {.cases = 1}),
      law("LaunchNothingForNoWork", launch_nothing_for_no_work, {.cases = 50, .cost = 4}),
      refusal_law<calls_of, SpaceCase>("RefuseBadArguments", {.cases = 200, .cost = 4}),
      law("LocalArraysBelongToTheirThreads", local_arrays_belong_to_their_threads, {.cases = 400}),
      law("SharedArraysBelongToTheirBlocks", shared_arrays_belong_to_their_blocks, {.cases = 400}),
      law("DeviceVariablesOutliveKernels", device_variables_outlive_kernels, {.cases = 200}),
      law("SymbolsComeBackAsTheyWereWritten", symbols_come_back_as_they_were_written,
          {.cases = 400}),
      law("CopiesLeaveTheRestOfASymbolAlone", copies_leave_the_rest_of_a_symbol_alone,
          {.cases = 400}),
      law("KernelsReadWhatTheHostWrote", kernels_read_what_the_host_wrote, {.cases = 500}),
      law("TheHostReadsWhatKernelsWrote", the_host_reads_what_kernels_wrote, {.cases = 300}),
      law("ManagedMemoryIsOneForHostAndDevice", managed_memory_is_one_for_host_and_device,
          {.cases = 300}),
      law("ManagedMemoryMayBeAllocated", managed_memory_may_be_allocated, {.cases = 200}),
      law("NumberBlocksBeyond16Bits", number_blocks_beyond_16_bits, {.cases = 1, .cost = 1000}),
      law("AreDeterministic", are_deterministic, {.cases = 10, .cost = 50}),
  });
}

}  // namespace lockstep::properties
