// The CUDA runtime that nvcc links into a program by default: whether a program or library has one
// inside, and where its entry points are.
//
// They are hidden: no dynamic linker knows of them. The symbol table of the linker (.symtab) does.
// Where the file was stripped, the code of each one holds its name (stripped_runtime.h).
//
// Allocates nothing and throws nothing: the audit library uses it before the program's own
// libraries are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::runtime {

struct EntryPoint {
  const char* name = "";    // in the file's bytes, or a constant
  std::uint64_t value = 0;  // address, less what the loader adds
  std::uint64_t room = 0;   // bytes from there that are its alone, kMostRoom at most
};

struct StaticRuntime {
  enum class Kind {
    kNone,     // none was found inside
    kSymbols,  // one of CUDA 13, and the symbol table names its entry points
    kNames,    // one of CUDA 13 without symbols, and its code names its entry points
    kOlder,    // one of an older CUDA, whose functions take other arguments
    // Device code, a runtime that is not asked of any library, and neither symbols nor code that is
    // known: one is inside, and its entry points cannot be found.
    kStripped,
  };
  static constexpr std::size_t kMost = 1024;
  static constexpr std::uint64_t kMostRoom = 64;

  Kind kind = Kind::kNone;
  std::size_t count = 0;
  EntryPoint entries[kMost];  // by address

  bool found() const { return kind == Kind::kSymbols || kind == Kind::kNames; }
};

// `file` is a 64-bit ELF file; whatever cannot be read counts as absent.
void find_static_runtime(std::span<const std::uint8_t> file, StaticRuntime* result);

// Of a kind that cannot be served: what it is, and what to change; nullptr for the others.
const char* explain(StaticRuntime::Kind kind);

// The value of a function that a library exports; 0 where it does not.
std::uint64_t find_export(std::span<const std::uint8_t> file, std::string_view name);

// Calls visit(name, value) for each function that a library exports under a name that begins with
// `prefix`.
void for_each_export(std::span<const std::uint8_t> file, std::string_view prefix,
                     void (*visit)(void* context, const char* name, std::uint64_t value),
                     void* context);

}  // namespace lockstep::runtime
