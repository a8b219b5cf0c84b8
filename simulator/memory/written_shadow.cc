// The written-shadow of DeviceMemory: one bit a byte.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "simulator/memory/device_memory.h"

namespace lockstep::memory {
namespace {

// A range of bits: whole bytes between two partial ones. `head` bits of the first byte, `whole`
// bytes, `tail` bits of the last byte.
struct BitRange {
  std::uint8_t* first;
  std::uint8_t
      head_mask;  // 0: the range starts on a byte boundary, `first` is its first whole byte
  std::size_t whole;
  std::uint8_t tail_mask;  // 0: the range ends on a byte boundary
};

BitRange split(std::uint8_t* byte, unsigned bit, std::uint64_t bits) {
  BitRange r{byte, 0, 0, 0};
  if (bit != 0) {
    const std::uint64_t head = std::min<std::uint64_t>(bits, 8 - bit);
    r.head_mask = static_cast<std::uint8_t>(((1u << head) - 1) << bit);
    bits -= head;
  }
  r.whole = bits / 8;
  r.tail_mask = static_cast<std::uint8_t>((1u << (bits % 8)) - 1);
  return r;
}

// Two blocks may write neighbouring bytes at once, so bits of a shared byte are changed atomically,
// and only if necessary.
void set_bits(std::uint8_t* byte, std::uint8_t mask) {
  std::atomic_ref<std::uint8_t> a(*byte);
  if ((a.load(std::memory_order_relaxed) & mask) != mask)
    a.fetch_or(mask, std::memory_order_relaxed);
}
// Kernels may mark at the same time.
template <class T>
T load(const T* shadow) {
  return __atomic_load_n(shadow, __ATOMIC_RELAXED);
}
void clear_bits(std::uint8_t* byte, std::uint8_t mask) {
  std::atomic_ref<std::uint8_t>(*byte).fetch_and(static_cast<std::uint8_t>(~mask),
                                                 std::memory_order_relaxed);
}

}  // namespace

void DeviceMemory::mark_written(Address address, std::uint64_t size) {
  if (!in_window(address) || size == 0) return;
  const BitRange r = split(written_shadow(address), (address - begin_) & 7, size);
  std::uint8_t* byte = r.first;
  if (r.head_mask != 0) set_bits(byte++, r.head_mask);
  std::memset(byte, 0xff, r.whole);
  if (r.tail_mask != 0) set_bits(byte + r.whole, r.tail_mask);
}

void DeviceMemory::mark_unwritten(Address address, std::uint64_t size) {
  if (!in_window(address) || size == 0) return;
  partly_written_.forget(address, size);
  clear_shadow(address, size);
  became_unwritten(address, size);
}

void DeviceMemory::clear_shadow(Address address, std::uint64_t size) {
  const BitRange r = split(written_shadow(address), (address - begin_) & 7, size);
  std::uint8_t* byte = r.first;
  if (r.head_mask != 0) clear_bits(byte++, r.head_mask);
  std::memset(byte, 0, r.whole);
  if (r.tail_mask != 0) clear_bits(byte + r.whole, r.tail_mask);
}

bool DeviceMemory::is_written(Address address, std::uint64_t size) const {
  return first_unwritten(address, size) == address + size;
}

bool DeviceMemory::is_all_written(const Allocation& a) const {
  const KnownWritten::Whole whole{a.base, a.size, a.id};
  const KnownWritten::Look look = known_written_.begin(whole);
  const Address end = a.base + a.size;
  return known_written_.end(whole, look, first_unwritten(look.from, end - look.from));
}

Address DeviceMemory::first_unwritten(Address address, std::uint64_t size) const {
  return in_window(address) ? first_with(false, address, size) : address + size;
}

Address DeviceMemory::first_written(Address address, std::uint64_t size) const {
  return in_window(address) ? first_with(true, address, size) : address;
}

// The first byte of the range that is `written`, or the end of the range.
Address DeviceMemory::first_with(bool written, Address address, std::uint64_t size) const {
  const Address end = address + size;
  if (size == 0) return end;
  const std::uint64_t other = written ? 0 : ~std::uint64_t{0};  // the value of bytes to skip
  Address at = address;
  const std::uint8_t* byte = written_shadow(at);
  const auto found_in = [&](std::uint8_t b) { return static_cast<std::uint8_t>(b ^ other); };
  // Ignores the bits of the first byte before the range.
  std::uint8_t found =
      static_cast<std::uint8_t>(found_in(load(byte)) & (0xffu << ((at - begin_) & 7)));
  at -= (at - begin_) & 7;
  while (found == 0) {
    at += 8;
    ++byte;
    if (at >= end) return end;
    while (end - at >= 64 && reinterpret_cast<std::uintptr_t>(byte) % 8 == 0 &&
           load(reinterpret_cast<const std::uint64_t*>(byte)) == other) {
      at += 64;
      byte += 8;
    }
    if (at >= end) return end;
    found = found_in(load(byte));
  }
  return std::min(end, at + static_cast<unsigned>(std::countr_zero(found)));
}

void DeviceMemory::copy_written(Address to, Address from, std::uint64_t size) {
  if (!in_window(to) || size == 0) return;
  if (!in_window(from)) return mark_written(to, size);
  const bool is_whole = is_written(from, size);
  copy_shadow(to, from, size);
  if (!is_whole) became_unwritten(to, size);
}

void DeviceMemory::copy_shadow(Address to, Address from, std::uint64_t size) {
  partly_written_.copy(to, from, size);
  if ((to - begin_) % 8 == (from - begin_) % 8) {
    // Same bit position: whole bytes are copied; only partly covered bytes need care.
    const BitRange t = split(written_shadow(to), (to - begin_) & 7, size);
    const std::uint8_t* source = written_shadow(from);
    const std::size_t head_bytes = t.head_mask != 0 ? 1 : 0;
    // Reads both ends first, because the ranges may overlap.
    const std::uint8_t head = source[0];
    const std::uint8_t tail = t.tail_mask != 0 ? source[head_bytes + t.whole] : 0;
    const auto merge = [](std::uint8_t* byte, std::uint8_t mask, std::uint8_t value) {
      clear_bits(byte, static_cast<std::uint8_t>(mask & ~value));
      set_bits(byte, mask & value);
    };
    std::memmove(t.first + head_bytes, source + head_bytes, t.whole);
    if (t.head_mask != 0) merge(t.first, t.head_mask, head);
    if (t.tail_mask != 0) merge(t.first + head_bytes + t.whole, t.tail_mask, tail);
    return;
  }
  // Different bit positions: copies run by run. Reads everything before it writes, because the
  // ranges may overlap.
  std::vector<bool> bits(size);
  for (Address at = from; at < from + size; ++at)
    bits[at - from] = *written_shadow(at) >> ((at - begin_) & 7) & 1;
  for (std::uint64_t i = 0; i < size;) {
    std::uint64_t run = i;
    while (run < size && bits[run] == bits[i]) ++run;
    if (bits[i]) {
      mark_written(to + i, run - i);
    } else {
      clear_shadow(to + i, run - i);
    }
    i = run;
  }
}

}  // namespace lockstep::memory
