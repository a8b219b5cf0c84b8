#include "simulator/engine/run/lean_answers.h"

#include <immintrin.h>

#include <bit>
#include <cstring>

#include "simulator/engine/access/global_memory.h"
#include "simulator/engine/state/block.h"
#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/shared_place.h"
#include "simulator/engine/state/worker.h"
#include "simulator/engine/state/written_bits.h"
#include "simulator/program/memory_access.h"

namespace lockstep::engine {
namespace {

using isa::SpecialRegister;
using program::Action;
using translate::Window;
using translate::WindowPlace;

// The lowest and the highest of 32 words, and all of them or-ed together.
struct Words {
  std::uint32_t low, high, bits;
};
Words words_of(const __m256i* v) {
  const auto half = [](__m256i x, bool upper) {
    return upper ? _mm256_extracti128_si256(x, 1) : _mm256_castsi256_si128(x);
  };
  const __m256i low8 = _mm256_min_epu32(_mm256_min_epu32(v[0], v[1]), _mm256_min_epu32(v[2], v[3])),
                high8 =
                    _mm256_max_epu32(_mm256_max_epu32(v[0], v[1]), _mm256_max_epu32(v[2], v[3])),
                bits8 = _mm256_or_si256(_mm256_or_si256(v[0], v[1]), _mm256_or_si256(v[2], v[3]));
  __m128i low = _mm_min_epu32(half(low8, false), half(low8, true)),
          high = _mm_max_epu32(half(high8, false), half(high8, true)),
          bits = _mm_or_si128(half(bits8, false), half(bits8, true));
  low = _mm_min_epu32(low, _mm_shuffle_epi32(low, 0x4e));
  high = _mm_max_epu32(high, _mm_shuffle_epi32(high, 0x4e));
  bits = _mm_or_si128(bits, _mm_shuffle_epi32(bits, 0x4e));
  low = _mm_min_epu32(low, _mm_shuffle_epi32(low, 0xb1));
  high = _mm_max_epu32(high, _mm_shuffle_epi32(high, 0xb1));
  bits = _mm_or_si128(bits, _mm_shuffle_epi32(bits, 0xb1));
  return {static_cast<std::uint32_t>(_mm_cvtsi128_si32(low)),
          static_cast<std::uint32_t>(_mm_cvtsi128_si32(high)),
          static_cast<std::uint32_t>(_mm_cvtsi128_si32(bits))};
}

// A larger stretch takes longer to look through than its words take one by one.
constexpr std::uint32_t kLongestLook = 8192;

bool answer_window(Warp& w, const Window& window, WindowPlace& place) {
  const Block& b = *w.block;
  const auto* const a = reinterpret_cast<const __m256i*>(source<std::uint32_t>(w, window.address));
  const __m256i first = _mm256_set1_epi32(window.first);
  alignas(32) std::uint32_t address[kWarpSize];
  auto* const at = reinterpret_cast<__m256i*>(address);
  for (int i = 0; i < 4; ++i) at[i] = _mm256_add_epi32(_mm256_load_si256(a + i), first);
  if (w.active != kAllLanes) {
    // Lanes that are left out go where the first of the others goes.
    const std::uint32_t there = address[std::countr_zero(w.active)];
    for (int i = 0; i < kWarpSize; ++i) address[i] = w.active >> i & 1 ? address[i] : there;
  }
  const Words all = words_of(at);
  const auto more = static_cast<std::uint32_t>(window.last - window.first) + 4;
  const std::uint32_t span = all.high - all.low + more;
  if ((all.bits & 3) != 0 || span > kLongestLook ||
      shared_range(*b.launch, all.low, std::uint64_t{all.high} + more) == nullptr)
    return false;
  if (b.launch->check_initialisation &&
      !all_written(reinterpret_cast<const std::uint8_t*>(b.shared.written.get()), all.low, span))
    return false;
  // From here on an address counts from the window's first byte of all lanes.
  const std::byte* const bytes = b.shared.bytes.get() - window.first;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t one = address[8 * i], other = address[8 * i + 7],
                        low = one < other ? one : other;
    const __m256i distance = _mm256_sub_epi32(at[i], _mm256_set1_epi32(static_cast<int>(low)));
    const bool near = _mm256_testz_si256(distance, _mm256_set1_epi32(~28)) != 0;
    place.scattered[i] = near ? 0 : 1;
    const std::uint32_t from = near ? low : all.low;
    place.from[i] = bytes + from;
    const __m256i word =
        near ? _mm256_srli_epi32(distance, 2)
             : _mm256_sub_epi32(at[i], _mm256_set1_epi32(static_cast<int>(all.low)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(place.word + 8 * i), word);
  }
  return true;
}

// As the handler of a load from a constant address does it.
bool load_value(Warp& w, const Op& op, std::uint64_t& value) {
  Worker& k = *w.block->worker;
  if (k.counting) return false;
  const CachedRange& c = cached(k, op);
  const std::uint64_t at =
      source<std::uint64_t>(w, op.src[0])[0] + static_cast<std::uint64_t>(op.immediate);
  if (!holds(c, at, op.width) || (at & (op.width - 1u)) != 0 || c.raced) return false;
  if (c.shadowed && !all_written(k.memory->written_shadow(at & ~7ull), at & 7, op.width))
    return false;
  const auto* const from =
      reinterpret_cast<const std::byte*>(at + static_cast<std::uint64_t>(c.delta));
  op.width == 4 ? load_element<4>(&value, from) : load_element<8>(&value, from);
  return true;
}

std::uint32_t size_or_number(const Warp& w, SpecialRegister special) {
  const Block& b = *w.block;
  const Dim3 &block = b.launch->config->block, &grid = b.launch->config->grid;
  switch (special) {
    case SpecialRegister::kNtidX: return block.x;
    case SpecialRegister::kNtidY: return block.y;
    case SpecialRegister::kNtidZ: return block.z;
    case SpecialRegister::kCtaidX: return b.ctaid.x;
    case SpecialRegister::kCtaidY: return b.ctaid.y;
    case SpecialRegister::kCtaidZ: return b.ctaid.z;
    case SpecialRegister::kNctaidX: return grid.x;
    case SpecialRegister::kNctaidY: return grid.y;
    default: return grid.z;  // kNctaidZ
  }
}

bool answer_value(Warp& w, const Op& op, std::uint64_t& value) {
  if (op.action == Action::kSpecialRegister) {
    value = size_or_number(w, op.as<program::SpecialRegisterFields>().which());
    return true;
  }
  if (op.action == Action::kLoad) return load_value(w, op, value);
  std::memcpy(&value, w.block->launch->parameters.data() + op.immediate, op.width);
  return true;
}

bool answer_threads(Warp& w, const Op& op, translate::ThreadNumbers& numbers) {
  const Dim3& block = w.block->launch->config->block;
  const SpecialRegister special = op.as<program::SpecialRegisterFields>().which();
  const bool row = special == SpecialRegister::kTidX && block.y == 1 && block.z == 1;
  const std::uint32_t first = special == SpecialRegister::kLaneid ? 0 : w.index * kWarpSize;
  if (row || special == SpecialRegister::kLaneid) {
    for (std::uint32_t i = 0; i < kWarpSize; ++i) numbers[i] = first + i;
    return true;
  }
  // Others than powers of two need divisions, lane by lane: the handler's.
  if (!std::has_single_bit(block.x) || !std::has_single_bit(block.y)) return false;
  const int x = std::countr_zero(block.x), y = std::countr_zero(block.y);
  const int shift = special == SpecialRegister::kTidX   ? 0
                    : special == SpecialRegister::kTidY ? x
                                                        : x + y;
  const std::uint32_t low = special == SpecialRegister::kTidX   ? block.x - 1
                            : special == SpecialRegister::kTidY ? block.y - 1
                                                                : ~0u;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) numbers[i] = (first + i) >> shift & low;
  return true;
}

}  // namespace

bool has_silent_shared_memory(const Launch& launch) {
  return !launch.search_shared && !launch.config->count && !launch.clustered;
}

translate::Answers lean_answers(bool shared) {
  return {shared ? &answer_window : nullptr, &answer_value, &answer_threads};
}

const char* execute_lean(Warp& w, const Op& op) {
  const Block& b = *w.block;
  if (op.action != Action::kLoad) {
    op.run(w, op, w.active);
    return nullptr;
  }
  const bool shared = static_cast<isa::Space>(op.space) == isa::Space::kShared;
  for (std::uint32_t i = 0; i < kWarpSize; ++i) {
    if ((w.active >> i & 1) == 0) continue;
    const std::uint64_t at =
        shared ? static_cast<std::uint32_t>(source<std::uint32_t>(w, op.src[0])[i] + op.immediate)
               : source<std::uint64_t>(w, op.src[0])[i] + static_cast<std::uint64_t>(op.immediate);
    if (at % op.width != 0) return "misaligned";
    const std::byte* from = nullptr;
    bool written = true;
    if (shared) {
      if (shared_range(*b.launch, at, at + op.width) == nullptr) return "out of bounds";
      from = b.shared.bytes.get() + at;
      written =
          all_written(reinterpret_cast<const std::uint8_t*>(b.shared.written.get()), at, op.width);
    } else {
      const memory::Allocation* const a = b.launch->memory->find(at);
      if (a == nullptr || !a->usable() || at < a->begin || a->end - at < op.width)
        return "out of bounds";
      from = b.launch->memory->host(*a, at);
      written = !a->has_shadow || b.launch->memory->is_written(at, op.width);
    }
    if (b.launch->check_initialisation && !written) return "of bytes that nobody has written";
    std::memcpy(destination<std::byte>(w, op.dst) + i * op.width, from, op.width);
  }
  return nullptr;
}

}  // namespace lockstep::engine
