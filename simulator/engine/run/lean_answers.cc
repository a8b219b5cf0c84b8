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
  if (window.alignment > 4) {
    std::uint32_t bits = 0;
    for (const std::uint32_t with_offset : address)
      bits |= with_offset - static_cast<std::uint32_t>(window.first);
    if ((bits & (window.alignment - 1)) != 0) return false;
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
    const bool near = !window.wide && _mm256_testz_si256(distance, _mm256_set1_epi32(~28)) != 0;
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
bool answer_variable(Warp& w, const Window& window, const std::byte*& place) {
  Worker& k = *w.block->worker;
  if (k.counting) return false;
  const CachedRange& c = cached(k, *window.op);
  const std::uint64_t base = source<std::uint64_t>(w, window.address)[0],
                      at = base + static_cast<std::uint64_t>(std::int64_t{window.first});
  const auto span = static_cast<std::uint32_t>(window.last - window.first) + 4;
  if (!holds(c, at, span) || (base & (window.alignment - 1)) != 0 || c.raced) return false;
  if (c.shadowed && !all_written(k.memory->written_shadow(at & ~7ull), at & 7, span)) return false;
  place = reinterpret_cast<const std::byte*>(base + static_cast<std::uint64_t>(c.delta));
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
  return {shared ? &answer_window : nullptr, &answer_variable, &answer_threads};
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
    const std::uint32_t size = std::uint32_t{op.width} * op.elements;
    if (at % size != 0) return "misaligned";
    const std::byte* from = nullptr;
    bool written = true;
    if (shared) {
      if (shared_range(*b.launch, at, at + size) == nullptr) return "out of bounds";
      from = b.shared.bytes.get() + at;
      written =
          all_written(reinterpret_cast<const std::uint8_t*>(b.shared.written.get()), at, size);
    } else {
      const memory::Allocation* const a = b.launch->memory->find(at);
      if (a == nullptr || !a->usable() || at < a->begin || a->end - at < size)
        return "out of bounds";
      from = b.launch->memory->host(*a, at);
      written = !a->has_shadow || b.launch->memory->is_written(at, size);
    }
    if (b.launch->check_initialisation && !written) return "of bytes that nobody has written";
    for (int e = 0; e < op.elements; ++e) {
      const Slot slot = translate::element_slot(*b.program, op, e);
      if (slot != kNoSlot)
        std::memcpy(destination<std::byte>(w, slot) + i * op.width, from + e * op.width, op.width);
    }
  }
  return nullptr;
}

}  // namespace lockstep::engine
