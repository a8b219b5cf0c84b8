#include "simulator/runtime/state/source_line.h"

#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <type_traits>

namespace lockstep::runtime {
namespace {

// What is used of elfutils' libdwfl.h. The library is loaded if the system has it: programs under
// test need nothing but the simulated runtime.
struct Dwfl;
struct Module;
struct Line;
struct Callbacks {
  int (*find_elf)(Module*, void**, const char*, std::uint64_t, char**, void**);
  int (*find_debug_information)(Module*, void**, const char*, std::uint64_t, const char*,
                                const char*, std::uint32_t, char**);
  int (*section_address)(Module*, void**, const char*, std::uint64_t, const char*, std::uint32_t,
                         const void*, std::uint64_t*);
  char** path;
};

// Debug information in files of its own is not looked for: that may ask a server.
int find_no_file(Module*, void**, const char*, std::uint64_t, const char*, const char*,
                 std::uint32_t, char**) {
  return -1;
}

struct Library {
  Dwfl* (*begin)(const Callbacks*) = nullptr;
  void (*end)(Dwfl*) = nullptr;
  int (*report)(Dwfl*, pid_t) = nullptr;
  int (*report_end)(Dwfl*, int (*)(Module*, void*, const char*, std::uint64_t, void*),
                    void*) = nullptr;
  Line* (*line_at)(Dwfl*, std::uint64_t) = nullptr;
  const char* (*describe_line)(Line*, std::uint64_t*, int*, int*, std::uint64_t*,
                               std::uint64_t*) = nullptr;
  Module* (*module_at)(Dwfl*, std::uint64_t) = nullptr;
  const char* (*symbol_at)(Module*, std::uint64_t) = nullptr;
  Callbacks callbacks{};

  bool load() {
    void* const library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    callbacks.find_debug_information = find_no_file;
    return find(begin, "dwfl_begin") && find(end, "dwfl_end") &&
           find(report, "dwfl_linux_proc_report") && find(report_end, "dwfl_report_end") &&
           find(line_at, "dwfl_getsrc") && find(module_at, "dwfl_addrmodule") &&
           find(symbol_at, "dwfl_module_addrname") && find(describe_line, "dwfl_lineinfo") &&
           find(callbacks.find_elf, "dwfl_linux_proc_find_elf");
  }
};

struct Place {
  std::string line, function;
};

Place look_up(std::uint64_t address) {
  static Library library;
  static const bool loaded = library.load();
  if (!loaded) return {};
  Dwfl* const dwfl = library.begin(&library.callbacks);
  if (dwfl == nullptr) return {};
  Place result;
  if (library.report(dwfl, getpid()) == 0 && library.report_end(dwfl, nullptr, nullptr) == 0) {
    if (Line* const line = library.line_at(dwfl, address)) {
      int number = 0;
      const char* const file =
          library.describe_line(line, nullptr, &number, nullptr, nullptr, nullptr);
      if (file != nullptr && number > 0)
        result.line = std::string(file) + ":" + std::to_string(number);
    }
    if (Module* const module = library.module_at(dwfl, address)) {
      if (const char* const symbol = library.symbol_at(module, address)) result.function = symbol;
    }
  }
  library.end(dwfl);
  return result;
}

const Place& place_at(const void* address) {
  static std::mutex mutex;
  static auto* const known = new std::map<const void*, Place>;
  const std::lock_guard lock(mutex);
  const auto [it, fresh] = known->try_emplace(address);
  if (fresh) it->second = look_up(reinterpret_cast<std::uintptr_t>(address));
  return it->second;
}

}  // namespace

std::string source_line(const void* address) { return place_at(address).line; }

std::string source_function(const void* address) { return place_at(address).function; }

}  // namespace lockstep::runtime
