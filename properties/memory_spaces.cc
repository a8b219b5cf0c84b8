#include "properties/memory_spaces.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "harness/property.h"
#include "harness/refusal.h"
#include "properties/no_launch.h"
#include "reference/memory_spaces.h"

namespace lockstep::properties {
namespace {

using kernels::kLocalWords;
using kernels::kManagedWords;
using kernels::kSymbolWords;
using kernels::LaunchStatus;
using kernels::SharedKind;
using kernels::SpaceShape;
using kernels::SymbolSpace;
using Words = std::vector<std::uint32_t>;

// Streams of make_values(): one an array.
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

}  // namespace

void SpaceCase::fields(SpaceCase& c, FieldVisitor& field) {
  using enum kernels::SharedKind;
  field("block", c.block, one_of<int>({32, 64, 128, 256, 512, 1024, 96, 1, 2, 31, 33, 1000}));
  field("blocks", c.blocks, one_of<int>({1, 2, 3, 7, 40}));
  field("shift", c.shift, range(0, 100));
  field("shared", c.shared, choice<kernels::SharedKind>({{"static", kStatic}, {"dynamic", kDynamic}}));
  field("x_offset", c.x_offset, range(0, 31));
  field("y_offset", c.y_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide, ValueKind::kSpecial}));
}

void SymbolCase::fields(SymbolCase& c, FieldVisitor& field) {
  using enum kernels::SymbolSpace;
  field("first", c.first, sizes(0, kernels::kSymbolWords));
  field("count", c.count, sizes(0, kernels::kSymbolWords));
  field("n", c.n, sizes(0, 5000));
  field("space", c.space, choice<kernels::SymbolSpace>({{"device", kDevice}, {"constant", kConstant}}));
  field("block", c.block, one_of<int>({32, 64, 128, 256, 1024, 1, 33}));
  field("one_address", c.one_address, booleans());
  field("y_offset", c.y_offset, range(0, 31));
  field("poison", c.poison, poisons());
  field("values", c.values, values_of({ValueKind::kIndex, ValueKind::kWide}));
}

void RefusedSpaceCase::fields(RefusedSpaceCase& c, FieldVisitor& field) {
  using enum Mistake;
  SpaceCase::fields(c, field);
  field("mistake", c.mistake,
        choice<Mistake>({{"no_threads", kNoThreads},
                         {"too_many_threads", kTooManyThreads},
                         {"no_blocks", kNoBlocks},
                         {"negative_shift", kNegativeShift},
                         {"null_output", kNullOutput},
                         {"misaligned_output", kMisalignedOutput},
                         {"past_the_end", kPastTheEnd},
                         {"before_the_start", kBeforeTheStart},
                         {"negative_count", kNegativeCount},
                         {"unknown_kind", kUnknownKind},
                         {"unknown_space", kUnknownSpace}}));
}

void SpaceCase::normalise() {
  if (block > 512) blocks = std::min(blocks, 3);
}

void SymbolCase::normalise() {
  first = std::min(first, kSymbolWords);
  count = std::min(count, kSymbolWords - first);
}

void local_arrays_belong_to_their_threads(const MemorySpaces& spaces, const SpaceCase& c) {
  const auto seed = static_cast<std::uint32_t>(mix(c.values.seed));
  const auto out = DeviceArray<std::uint32_t>::output("y", c.threads() * kLocalWords,
                                                      {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(spaces.local_rotation(out.data(), seed, c.shift, c.shape(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_BITWISE_EQUAL(
      out, list(reference::local_rotation(static_cast<std::int64_t>(c.threads()), kLocalWords, seed, c.shift)));
}

void shared_arrays_belong_to_their_blocks(const MemorySpaces& spaces, const SpaceCase& c) {
  const Words x = make_values<std::uint32_t>(c.values, c.threads());
  const auto in = DeviceArray<std::uint32_t>::input("x", x, {.misalignment = c.x_offset, .poison = c.poison});
  const auto out = DeviceArray<std::uint32_t>::output("y", x.size(), {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(spaces.shared_sum(c.shared, in.data(), out.data(), c.shape(), nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_BITWISE_EQUAL(out, list(reference::block_sums(x, c.block)),
                        one_thread_per_element(static_cast<std::uint32_t>(c.block)));
}

// A counter goes on over launches, and over what the host writes into it between them.
void device_variables_outlive_kernels(const MemorySpaces& spaces, const SpaceCase& c) {
  const std::uint64_t start = mix(c.values.seed), threads = c.threads();
  REQUIRE_CUDA(spaces.write_thread_count(start));
  for (std::uint64_t launch = 1; launch <= 3; ++launch) {
    REQUIRE_CUDA(spaces.count_threads(c.shape(), nullptr));
    std::uint64_t count = 0;
    REQUIRE_CUDA(spaces.read_thread_count(count));
    REQUIRE_LAW(count == start + launch * threads, "after {} launches of {} threads the counter went from {} to {}",
                launch, threads, start, count);
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
    // The last words of the array among them: its 64 KB to the edge.
    const auto r = mix(c.values.seed + static_cast<std::uint64_t>(c.one_address ? i / 32 : i));
    index[i] = static_cast<std::uint32_t>(r % 8 == 0 ? kSymbolWords - 1 - static_cast<std::int64_t>(r >> 60)
                                                     : static_cast<std::int64_t>((r >> 8) % kSymbolWords));
    expected[i] = all[index[i]];
  }
  const auto indices = DeviceArray<std::uint32_t>::input("index", index, {.poison = c.poison});
  const auto out =
      DeviceArray<std::uint32_t>::output("y", index.size(), {.misalignment = c.y_offset, .poison = c.poison});
  REQUIRE_CUDA(spaces.gather_words(c.space, indices.data(), out.data(), c.n, c.block, nullptr));
  REQUIRE_CUDA(cudaDeviceSynchronize());
  REQUIRE_BITWISE_EQUAL(out, expected, one_thread_per_element(static_cast<std::uint32_t>(c.block)));
}

void the_host_reads_what_kernels_wrote(const MemorySpaces& spaces, const SymbolCase& c) {
  Words all = make_values<std::uint32_t>(c.values, kSymbolWords, kEverywhere);
  write_all(spaces, SymbolSpace::kDevice, all);
  for (int launch = 0; launch < 2; ++launch) REQUIRE_CUDA(spaces.increment_words(c.first, c.count, c.block, nullptr));
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

void managed_memory_may_be_allocated(const MemorySpaces& spaces, const SymbolCase& c) {
  require_capability({Capability::kManagedMemory});
  const std::int64_t count = std::max<std::int64_t>(c.count, 1);
  void* memory = nullptr;
  REQUIRE_CUDA(cudaMallocManaged(&memory, count * sizeof(std::uint32_t)));
  const std::unique_ptr<void, cudaError_t (*)(void*)> owner(memory, cudaFree);
  auto* const words = static_cast<std::uint32_t*>(memory);
  Words expected = make_values<std::uint32_t>(c.values, count, kEverywhere);
  for (int turn = 0; turn < 2; ++turn) {  // host and device in turn
    if (turn == 0) std::ranges::copy(expected, words);
    words[count - 1] += static_cast<std::uint32_t>(turn), expected[count - 1] += static_cast<std::uint32_t>(turn);
    REQUIRE_CUDA(spaces.transform_managed(words, count, c.block, nullptr));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    for (std::uint32_t& word : expected) word = 3 * word + 1;
    REQUIRE_BITWISE_EQUAL(Words(words, words + count), expected);
  }
}

void memory_spaces_launch_nothing_for_no_work(const MemorySpaces& spaces, const SymbolCase& c) {
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

void memory_spaces_are_deterministic(const MemorySpaces& spaces, const SpaceCase& c) {
  constexpr int kSchedules = 50;
  SpaceCase small = c;
  small.block = std::min(c.block, 128);
  const Words x = make_values<std::uint32_t>(small.values, small.threads());
  REQUIRE_DETERMINISTIC(kSchedules, [&] {
    const auto in = DeviceArray<std::uint32_t>::input("x", x, {.misalignment = c.x_offset, .poison = c.poison});
    const auto out =
        DeviceArray<std::uint32_t>::output("y", x.size(), {.misalignment = c.y_offset, .poison = c.poison});
    REQUIRE_CUDA(spaces.shared_sum(small.shared, in.data(), out.data(), small.shape(), nullptr));
    return out.fetch();
  });
}

void memory_spaces_refuse_bad_arguments(const MemorySpaces& spaces, const RefusedSpaceCase& c) {
  using enum RefusedSpaceCase::Mistake;
  const auto out = DeviceArray<std::uint32_t>::output("y", c.threads() * kLocalWords,
                                                      {.misalignment = c.y_offset, .poison = c.poison});
  const auto in = DeviceArray<std::uint32_t>::input("x", Words(c.threads()), {});
  std::uint32_t word = 0;
  std::uint32_t* y = out.data();
  SpaceShape shape = c.shape();
  const auto judge_kernels = [&] {
    REQUIRE_REFUSED(spaces.local_rotation(y, 0, c.shift, shape, nullptr));
    REQUIRE_REFUSED(spaces.shared_sum(c.shared, in.data(), y, shape, nullptr));
  };
  const auto judge_copies = [&](SymbolSpace space, std::int64_t first, std::int64_t count) {
    REQUIRE_REFUSED(spaces.write_words(space, first, &word, count));
    REQUIRE_REFUSED(spaces.read_words(space, first, &word, count));
  };
  switch (c.mistake) {
    case kNoThreads:
      shape.block = 0;
      judge_kernels();
      REQUIRE_REFUSED(spaces.count_threads(shape, nullptr));
      REQUIRE_REFUSED(spaces.gather_words(SymbolSpace::kDevice, in.data(), y, 1, 0, nullptr));
      REQUIRE_REFUSED(spaces.increment_words(0, 1, 0, nullptr));
      break;
    case kTooManyThreads:
      shape.block = 1025;
      judge_kernels();
      break;
    case kNoBlocks:
      shape.blocks = 0;
      judge_kernels();
      break;
    case kNegativeShift:
      REQUIRE_REFUSED(spaces.local_rotation(y, 0, -1, shape, nullptr));
      break;
    case kNullOutput:
      y = nullptr;
      judge_kernels();
      break;
    case kMisalignedOutput:
      y = shifted_by_bytes(y, 2);
      judge_kernels();
      break;
    case kPastTheEnd:
      judge_copies(SymbolSpace::kConstant, kSymbolWords, 1);
      break;
    case kBeforeTheStart:
      judge_copies(SymbolSpace::kDevice, -1, 1);
      break;
    case kNegativeCount:
      judge_copies(SymbolSpace::kConstant, 1, -1);
      break;
    case kUnknownKind:
      REQUIRE_REFUSED(spaces.shared_sum(static_cast<SharedKind>(2), in.data(), y, shape, nullptr));
      break;
    case kUnknownSpace:
      judge_copies(static_cast<SymbolSpace>(2), 0, 1);
      break;
  }
  REQUIRE_UNTOUCHED(out);
}

const std::vector<Law<MemorySpaces>>& memory_space_laws() {
  static const std::vector<Law<MemorySpaces>> laws = {
      law("LaunchNothingForNoWork", memory_spaces_launch_nothing_for_no_work, 4),
      law("RefuseBadArguments", memory_spaces_refuse_bad_arguments, 4),
      law("LocalArraysBelongToTheirThreads", local_arrays_belong_to_their_threads),
      law("SharedArraysBelongToTheirBlocks", shared_arrays_belong_to_their_blocks),
      law("DeviceVariablesOutliveKernels", device_variables_outlive_kernels),
      law("SymbolsComeBackAsTheyWereWritten", symbols_come_back_as_they_were_written),
      law("CopiesLeaveTheRestOfASymbolAlone", copies_leave_the_rest_of_a_symbol_alone),
      law("KernelsReadWhatTheHostWrote", kernels_read_what_the_host_wrote),
      law("TheHostReadsWhatKernelsWrote", the_host_reads_what_kernels_wrote),
      law("ManagedMemoryIsOneForHostAndDevice", managed_memory_is_one_for_host_and_device),
      law("ManagedMemoryMayBeAllocated", managed_memory_may_be_allocated),
      law("AreDeterministic", memory_spaces_are_deterministic, 50),
  };
  return laws;
}

}  // namespace lockstep::properties
