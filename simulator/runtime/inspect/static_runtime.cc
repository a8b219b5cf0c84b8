#include "simulator/runtime/inspect/static_runtime.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "simulator/runtime/inspect/sections.h"
#include "simulator/runtime/inspect/stripped_runtime.h"

namespace lockstep::runtime {
namespace {

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
  } else {
    // A library may pass the runtime's functions on and have no device code, as cuda.bindings does.
    const bool has_code =
        holds_code(sections.named(".nv_fatbin")) || holds_code(sections.named("__nv_relfatbin"));
    const Kind unknown = has_code ? Kind::kStripped : Kind::kNone;
    result->kind = find_stripped_runtime(sections, result) ? Kind::kNames : unknown;
    for (std::size_t i = 0; i < result->count; ++i) {
      const std::string_view name = result->entries[i].name;
      if (std::find(std::begin(kOfOlder), std::end(kOfOlder), name) != std::end(kOfOlder))
        result->kind = Kind::kOlder;
    }
  }
  if (result->kind == Kind::kNames) return;
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
      return "has the CUDA runtime linked statically and its symbols stripped, and its code is "
             "none that the simulated GPU recognises: do not strip it, or link it "
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
