#include "simulator/runtime/inspect/stripped_runtime.h"

#include <string.h>  // memmem

#include <algorithm>
#include <iterator>
#include <utility>

namespace lockstep::runtime {
namespace {

// A section as the program sees it: its bytes and the address of the first.
struct Part {
  Bytes bytes;
  std::uint64_t address = 0;

  bool holds(std::uint64_t at) const { return at - address < bytes.size(); }
  std::uint64_t end() const { return address + bytes.size(); }
};

Part part_named(const Sections& sections, std::string_view name) {
  const Elf64_Shdr header = sections.header(name);
  return {sections.part(header), header.sh_addr};
}

std::int32_t read_i32(Bytes bytes, std::uint64_t at) {
  std::int32_t value;
  read(bytes, at, &value);
  return value;
}

// The functions of a file by .eh_frame_hdr (Linux Standard Base, 10.6.2): a sorted table of pairs
// of 32 bits, offsets from the section's own address; the first of a pair is a function's.
class Functions {
 public:
  explicit Functions(const Part& header) : header_(header) {
    constexpr std::uint8_t kVersion = 1, kUnsigned4 = 0x03, kSigned4FromSection = 0x3b;
    constexpr std::uint64_t kPairs = 12;
    const Bytes bytes = header.bytes;
    if (bytes.size() < kPairs || bytes[0] != kVersion || bytes[2] != kUnsigned4 ||
        bytes[3] != kSigned4FromSection)
      return;
    const auto count = static_cast<std::uint32_t>(read_i32(bytes, 8));
    if (count <= (bytes.size() - kPairs) / 8) count_ = count;
  }
  std::size_t count() const { return count_; }
  std::uint64_t begin_of(std::size_t i) const {
    const std::int64_t offset = read_i32(header_.bytes, 12 + 8 * i);
    return header_.address + static_cast<std::uint64_t>(offset);
  }
  // The last function that begins at or before an address; count() where there is none.
  std::size_t around(std::uint64_t address) const {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      (begin_of(middle) <= address ? low : high) = middle + (begin_of(middle) <= address);
    }
    return low == 0 ? count_ : low - 1;
  }
  // Up to the next function, or to `end`.
  std::uint64_t size_of(std::size_t i, std::uint64_t end) const {
    return (i + 1 < count_ ? begin_of(i + 1) : end) - begin_of(i);
  }

 private:
  Part header_;
  std::size_t count_ = 0;
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The name of an entry point at an address, or "".
const char* entry_name_at(const Part& texts, std::uint64_t address) {
  const char* const text = text_at(texts.bytes, address - texts.address);
  const char* const stem = std::strncmp(text, "__", 2) == 0 ? text + 2 : text;
  if (std::strncmp(stem, "cuda", 4) != 0 || stem[4] < 'A' || stem[4] > 'Z') return "";
  const char* end = stem;
  while (is_word(*end)) ++end;
  return *end == '\0' ? text : "";
}

// Calls visit(address of the byte after the instruction, target) for each `lea reg64, [rip + d]`.
template <class Visit>
void for_each_address_taken(const Part& code, Visit&& visit) {
  if (code.bytes.empty()) return;
  const std::uint8_t* const begin = code.bytes.data();
  const std::uint8_t* const end = begin + code.bytes.size();
  for (const std::uint8_t* at = begin;
       (at = static_cast<const std::uint8_t*>(
            std::memchr(at, 0x8d, static_cast<std::size_t>(end - at)))) != nullptr;
       ++at) {
    if (at == begin || end - at < 6 || (at[-1] & 0xfb) != 0x48 || (at[1] & 0xc7) != 0x05) continue;
    const auto offset = static_cast<std::uint64_t>(at - begin);
    const std::uint64_t next = code.address + offset + 6;
    const std::int64_t distance = read_i32(code.bytes, offset + 2);
    visit(next, next + static_cast<std::uint64_t>(distance));
  }
}

// Whether a function loads a number of a callback into edi for two calls, as an entry point does.
bool reports_to_callbacks(Bytes function) {
  constexpr std::uint8_t kMoveEdi = 0xbf;
  constexpr std::int32_t kMostNumber = 4096;
  constexpr std::size_t kMostLoads = 32;
  std::int32_t loads[kMostLoads];
  std::size_t count = 0;
  for (std::size_t i = 0; i + 5 <= function.size() && count < kMostLoads; ++i) {
    if (function[i] != kMoveEdi) continue;
    const std::int32_t number = read_i32(function, i + 1);
    if (number <= 0 || number >= kMostNumber) continue;
    if (std::find(loads, loads + count, number) != loads + count) return true;
    loads[count++] = number;
  }
  return false;
}

// The functions beside __cudaInitModule, in their order.
constexpr const char* kBefore[] = {"cudaGetExportTable",         "__cudaRegisterFatBinary",
                                   "__cudaRegisterFatBinaryEnd", "__cudaUnregisterFatBinary",
                                   "__cudaRegisterVar",          "__cudaRegisterManagedVar",
                                   "__cudaRegisterHostVar",      "__cudaRegisterFunction"};
constexpr const char* kAfter[] = {
    "__cudaPushCallConfiguration", "__cudaPopCallConfiguration", "__cudaGetKernel",
    "__cudaLaunchKernel",          "__cudaLaunchKernel_ptsz",    "__cudaRegisterUnifiedTable",
    "__cudaGetProcAddress"};

class Search {
 public:
  Search(const Sections& sections, StaticRuntime* result)
      : code_(part_named(sections, ".text")),
        texts_(part_named(sections, ".rodata")),
        binaries_(part_named(sections, ".nvFatBinSegment")),
        functions_(part_named(sections, ".eh_frame_hdr")),
        result_(result) {}

  bool run() {
    constexpr std::string_view kMiddle = "__cudaInitModule";
    const Bytes texts = texts_.bytes;
    if (memmem(texts.data(), texts.size(), kMiddle.data(), kMiddle.size()) == nullptr) return false;
    for_each_address_taken(code_, [&](std::uint64_t next, std::uint64_t target) {
      if (texts_.holds(target)) add_if_entry(next, target);
    });
    const EntryPoint* const middle = find(kMiddle);
    if (middle == nullptr || !keep_those_around(middle->value)) return false;
    const std::size_t at = functions_.around(find(kMiddle)->value);
    if (at < std::size(kBefore) || at + std::size(kAfter) >= functions_.count()) return false;
    for (std::size_t i = 0; i < std::size(kBefore); ++i)
      add(kBefore[i], at - std::size(kBefore) + i);
    for (std::size_t i = 0; i < std::size(kAfter); ++i) add(kAfter[i], at + 1 + i);
    std::sort(result_->entries, result_->entries + result_->count,
              [](const EntryPoint& a, const EntryPoint& b) { return a.value < b.value; });
    return jumps("__cudaLaunchKernel", "cudaLaunchKernel") &&
           jumps("__cudaLaunchKernel_ptsz", "cudaLaunchKernel_ptsz") &&
           (binaries_.bytes.empty() || somebody_registers(find("__cudaRegisterFatBinary")->value));
  }

 private:
  // The code of the runtime has half a mebibyte, and an entry point less than 2 KiB.
  static constexpr std::uint64_t kReach = 2u << 20, kMostSize = 4096;

  const EntryPoint* find(std::string_view name) const {
    for (std::size_t i = 0; i < result_->count; ++i) {
      if (result_->entries[i].name == name) return &result_->entries[i];
    }
    return nullptr;
  }

  void add(const char* name, std::size_t function) {
    if (result_->count == StaticRuntime::kMost) return;
    const std::uint64_t room =
        std::min(functions_.size_of(function, code_.end()), StaticRuntime::kMostRoom);
    result_->entries[result_->count++] = {name, functions_.begin_of(function), room};
  }

  void add_if_entry(std::uint64_t next, std::uint64_t target) {
    const char* const name = entry_name_at(texts_, target);
    const std::size_t function = name[0] == '\0' ? functions_.count() : functions_.around(next - 1);
    if (function == functions_.count()) return;
    const std::uint64_t begin = functions_.begin_of(function);
    if (!code_.holds(begin)) return;
    const Bytes rest = code_.bytes.subspan(begin - code_.address);
    const std::uint64_t size = functions_.size_of(function, code_.end());
    if (size > kMostSize || size > rest.size() || !reports_to_callbacks(rest.first(size))) return;
    add(name, function);
  }

  // Removes what a library around the runtime has, such as a compiler's functions that refer to the
  // same names. False where a name is left for two functions.
  bool keep_those_around(std::uint64_t middle) {
    EntryPoint* end =
        std::remove_if(result_->entries, result_->entries + result_->count,
                       [&](const EntryPoint& e) { return e.value + kReach - middle > 2 * kReach; });
    const auto name_of = [](const EntryPoint& e) { return std::string_view(e.name); };
    std::sort(result_->entries, end, [&](const EntryPoint& a, const EntryPoint& b) {
      return std::pair(name_of(a), a.value) < std::pair(name_of(b), b.value);
    });
    end = std::unique(result_->entries, end, [&](const EntryPoint& a, const EntryPoint& b) {
      return name_of(a) == name_of(b) && a.value == b.value;
    });
    result_->count = static_cast<std::size_t>(end - result_->entries);
    return std::adjacent_find(result_->entries, end, [&](const EntryPoint& a, const EntryPoint& b) {
             return name_of(a) == name_of(b);
           }) == end;
  }

  // Whether the entry point `from` only jumps to `to`.
  bool jumps(std::string_view from, std::string_view to) const {
    constexpr std::uint8_t kFrame[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xe9};
    const EntryPoint *const a = find(from), *const b = find(to);
    if (a == nullptr || b == nullptr || !code_.holds(a->value)) return false;
    const Bytes code = code_.bytes.subspan(a->value - code_.address);
    if (code.size() < sizeof kFrame + 4 || std::memcmp(code.data(), kFrame, sizeof kFrame) != 0)
      return false;
    const std::int64_t distance = read_i32(code, sizeof kFrame);
    return a->value + sizeof kFrame + 4 + static_cast<std::uint64_t>(distance) == b->value;
  }

  // Whether a call of the function at `target` follows an instruction that loads the address of a
  // fat binary's wrapper into rdi: from rip, or as 32 bits in a program at a fixed place.
  bool somebody_registers(std::uint64_t target) const {
    constexpr std::uint64_t kBytesBefore = 24;
    const std::uint8_t* const begin = code_.bytes.data();
    const std::uint8_t* const end = begin + code_.bytes.size();
    for (const std::uint8_t* at = begin;
         (at = static_cast<const std::uint8_t*>(
              std::memchr(at, 0xe8, static_cast<std::size_t>(end - at)))) != nullptr;
         ++at) {
      const auto offset = static_cast<std::uint64_t>(at - begin);
      const std::int64_t distance = read_i32(code_.bytes, offset + 1);
      if (code_.address + offset + 5 + static_cast<std::uint64_t>(distance) != target) continue;
      for (std::uint64_t i = offset < kBytesBefore ? 0 : offset - kBytesBefore; i < offset; ++i) {
        const std::int32_t field = read_i32(code_.bytes, i);
        const std::uint64_t next = code_.address + i + 4;
        if (binaries_.holds(static_cast<std::uint32_t>(field)) ||
            binaries_.holds(next + static_cast<std::uint64_t>(std::int64_t{field})))
          return true;
      }
    }
    return false;
  }

  Part code_, texts_, binaries_;
  Functions functions_;
  StaticRuntime* result_;
};

}  // namespace

bool find_stripped_runtime(const Sections& sections, StaticRuntime* result) {
  result->count = 0;
  if (Search(sections, result).run()) return true;
  result->count = 0;
  return false;
}

}  // namespace lockstep::runtime
