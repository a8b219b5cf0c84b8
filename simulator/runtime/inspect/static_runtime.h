// Finds the CUDA runtime that nvcc links into a program by default, and its entry points.
//
// The entry points are hidden, so the dynamic linker does not see them. The linker's symbol table
// (.symtab) lists them. In a stripped file, the code of each one contains its name
// (stripped_runtime.h).
//
// Does not allocate or throw: the audit library uses it before the program's own libraries are
// loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::runtime {

struct EntryPoint {
  const char* name = "";    // in the file's contents, or a constant
  std::uint64_t value = 0;  // address without the load offset
  std::uint64_t room = 0;   // bytes from there that belong to it, at most kMostRoom
};

struct StaticRuntime {
  enum class Kind {
    kNone,     // none found
    kSymbols,  // of CUDA 13, with its entry points in the symbol table
    kNames,    // of CUDA 13 without symbols; its code names its entry points
    kOlder,    // of an older CUDA, whose functions have other parameters
    // The file has device code and no library provides its runtime, but neither symbols nor known
    // code were found. A runtime is linked in, but its entry points cannot be found.
    kStripped,
  };
  static constexpr std::size_t kMost = 1024;
  static constexpr std::uint64_t kMostRoom = 64;

  Kind kind = Kind::kNone;
  std::size_t count = 0;
  EntryPoint entries[kMost];  // by address

  bool found() const { return kind == Kind::kSymbols || kind == Kind::kNames; }
};

// `file`: the contents of a 64-bit ELF file. Unreadable parts count as absent.
void find_static_runtime(std::span<const std::uint8_t> file, StaticRuntime* result);

// For a kind that cannot be served: what it is, and what to change. nullptr for other kinds.
const char* explain(StaticRuntime::Kind kind);

// The value of a function that a library exports; 0 if it does not.
std::uint64_t find_export(std::span<const std::uint8_t> file, std::string_view name);

// Calls visit(name, value) for each function that a library exports under a name that starts with
// `prefix`.
void for_each_export(std::span<const std::uint8_t> file, std::string_view prefix,
                     void (*visit)(void* context, const char* name, std::uint64_t value),
                     void* context);

}  // namespace lockstep::runtime
