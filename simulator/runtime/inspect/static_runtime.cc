#include "simulator/runtime/inspect/static_runtime.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace lockstep::runtime {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Copies a T from the file; zeros where it does not reach so far.
template <class T>
bool read(Bytes file, std::uint64_t offset, T* value) {
  std::memset(value, 0, sizeof *value);
  if (offset > file.size() || sizeof(T) > file.size() - offset) return false;
  std::memcpy(value, file.data() + offset, sizeof(T));
  return true;
}

// The text at an offset of a table of strings, which ends within the table; else "".
const char* text_at(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) return "";
  const auto* text = reinterpret_cast<const char*>(table.data() + offset);
  return strnlen(text, table.size() - offset) < table.size() - offset ? text : "";
}

class Sections {
 public:
  explicit Sections(Bytes file) : file_(file) {
    if (!read(file, 0, &header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64)
      header_ = {};
    Elf64_Shdr names;
    if (at(header_.e_shstrndx, &names)) names_ = part(names);
  }
  bool at(std::uint64_t i, Elf64_Shdr* section) const {
    return i < header_.e_shnum && read(file_, header_.e_shoff + i * header_.e_shentsize, section);
  }
  Bytes part(const Elf64_Shdr& s) const {
    if (s.sh_type == SHT_NOBITS || s.sh_offset > file_.size()) return {};
    return file_.subspan(s.sh_offset,
                         std::min<std::uint64_t>(s.sh_size, file_.size() - s.sh_offset));
  }
  Bytes named(std::string_view name) const {
    Elf64_Shdr section;
    for (std::uint64_t i = 0; at(i, &section); ++i) {
      if (text_at(names_, section.sh_name) == name) return part(section);
    }
    return {};
  }
  // Runs visit(symbol, name) for each symbol of the tables of a type (SHT_SYMTAB, SHT_DYNSYM).
  // False when there is none.
  template <class Visit>
  bool for_each_symbol(std::uint32_t type, Visit&& visit) const {
    bool found = false;
    Elf64_Shdr section, strings;
    for (std::uint64_t i = 0; at(i, &section); ++i) {
      if (section.sh_type != type || !at(section.sh_link, &strings)) continue;
      const Bytes names = part(strings), symbols = part(section);
      for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= symbols.size();
           offset += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        read(symbols, offset, &symbol);
        found = true;
        visit(symbol, text_at(names, symbol.st_name));
      }
    }
    return found;
  }

 private:
  Bytes file_, names_;
  Elf64_Ehdr header_{};
};

// Whether a section of fat binaries holds any: nvcc links an empty one into programs that have
// none.
bool holds_code(Bytes section) {
  constexpr std::uint32_t kMagic = 0xba55ed50;
  struct Header {
    std::uint32_t magic;
    std::uint16_t version, bytes;
    std::uint64_t body;
  } header;
  for (std::uint64_t at = 0; read(section, at, &header); at += 8) {
    if (header.magic == kMagic && header.body != 0) return true;
  }
  return false;
}

bool is_defined_function(const Elf64_Sym& s) {
  const int type = ELF64_ST_TYPE(s.st_info);
  return s.st_shndx != SHN_UNDEF && s.st_value != 0 && (type == STT_FUNC || type == STT_GNU_IFUNC);
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// cudaMalloc and __cudaRegisterFatBinary are the runtime's to name; cuda_check and cudaq are not.
bool is_runtime_name(std::string_view name) {
  if (name.starts_with("__")) name.remove_prefix(2);
  return name.size() > 4 && name.starts_with("cuda") && is_upper(name[4]);
}

// What all that is NVIDIA's own in libcudart_static.a is called, whatever its version.
constexpr std::string_view kInside = "libcudart_static_";
constexpr std::string_view kRegister = "__cudaRegisterFatBinary";
// CUDA 13 has neither: they were its own functions under other arguments (12), or of texture
// references (11).
constexpr std::string_view kOfOlder[] = {"cudaGetDeviceProperties_v2", "cudaUnbindTexture"};

// Adds to each entry point the room up to the next function of any name.
void measure_room(const Sections& sections, StaticRuntime* result) {
  EntryPoint* const end = result->entries + result->count;
  for (EntryPoint* e = result->entries; e != end; ++e) e->room = StaticRuntime::kMostRoom;
  sections.for_each_symbol(SHT_SYMTAB, [&](const Elf64_Sym& s, const char*) {
    if (!is_defined_function(s)) return;
    const EntryPoint* after =
        std::lower_bound(result->entries, end, s.st_value,
                         [](const EntryPoint& e, std::uint64_t v) { return e.value < v; });
    // Those that begin before it; several where functions share an address.
    for (EntryPoint* e = const_cast<EntryPoint*>(after);
         e != result->entries && s.st_value - (e - 1)->value < StaticRuntime::kMostRoom;) {
      --e;
      e->room = std::min(e->room, s.st_value - e->value);
    }
  });
}

}  // namespace

void find_static_runtime(Bytes file, StaticRuntime* result) {
  using Kind = StaticRuntime::Kind;
  result->kind = Kind::kNone;
  result->count = 0;
  const Sections sections(file);
  bool shares = false, asks = false;  // the runtime with others; another for the runtime
  sections.for_each_symbol(SHT_DYNSYM, [&](const Elf64_Sym& s, const char* name) {
    // A program without device code registers none, and calls the runtime all the same.
    if (s.st_shndx == SHN_UNDEF && is_runtime_name(name)) asks = true;
    if (name != kRegister) return;
    (is_defined_function(s) ? shares : asks) = true;
  });
  if (shares || asks) return;  // it is a runtime for others, or leaves it to one
  bool inside = false, registers = false, older = false;
  sections.for_each_symbol(SHT_SYMTAB, [&](const Elf64_Sym& s, std::string_view name) {
    if (s.st_shndx == SHN_UNDEF) return;
    inside = inside || name.starts_with(kInside);
    if (!is_defined_function(s)) return;
    registers = registers || name == kRegister;
    older =
        older || std::find(std::begin(kOfOlder), std::end(kOfOlder), name) != std::end(kOfOlder);
    if (is_runtime_name(name) && result->count < StaticRuntime::kMost)
      result->entries[result->count++] = {name.data(), s.st_value, 0};
  });
  if (inside && registers) {
    result->kind = older ? Kind::kOlder : Kind::kSymbols;
  } else if (holds_code(sections.named(".nv_fatbin")) ||
             holds_code(sections.named("__nv_relfatbin"))) {
    result->kind = Kind::kStripped;
  }
  if (result->kind != Kind::kSymbols) {
    result->count = 0;
    return;
  }
  std::sort(result->entries, result->entries + result->count,
            [](const EntryPoint& a, const EntryPoint& b) { return a.value < b.value; });
  measure_room(sections, result);
}

const char* explain(StaticRuntime::Kind kind) {
  switch (kind) {
    case StaticRuntime::Kind::kStripped:
      return "has the CUDA runtime linked statically and its symbols stripped, so that nobody can "
             "lead it to the simulated GPU: do not strip it, or link it "
             "with nvcc -cudart shared (CMake: CUDA_RUNTIME_LIBRARY Shared)";
    case StaticRuntime::Kind::kOlder:
      return "has the runtime of an older CUDA linked statically; the simulated GPU is one for "
             "CUDA 13: build it with that";
    default: return nullptr;
  }
}

void for_each_export(Bytes file, std::string_view prefix,
                     void (*visit)(void* context, const char* name, std::uint64_t value),
                     void* context) {
  Sections(file).for_each_symbol(SHT_DYNSYM, [&](const Elf64_Sym& s, const char* name) {
    if (is_defined_function(s) && std::string_view(name).starts_with(prefix))
      visit(context, name, s.st_value);
  });
}

std::uint64_t find_export(Bytes file, std::string_view name) {
  struct Search {
    std::string_view name;
    std::uint64_t value = 0;
  } search{name};
  for_each_export(
      file, name,
      [](void* context, const char* found, std::uint64_t value) {
        auto* s = static_cast<Search*>(context);
        if (s->name == found) s->value = value;
      },
      &search);
  return search.value;
}

}  // namespace lockstep::runtime
