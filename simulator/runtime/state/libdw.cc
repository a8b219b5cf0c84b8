#include "simulator/runtime/state/libdw.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <type_traits>

namespace lockstep::runtime {
namespace {

// What is used of elfutils' libdw.h and libdwfl.h.
struct Dwfl;
struct Module;
struct Line;
struct Files;
struct Callbacks {
  int (*find_elf)(Module*, void**, const char*, std::uint64_t, char**, void**);
  int (*find_debug_information)(Module*, void**, const char*, std::uint64_t, const char*,
                                const char*, std::uint32_t, char**);
  int (*section_address)(Module*, void**, const char*, std::uint64_t, const char*, std::uint32_t,
                         const void*, std::uint64_t*);
  char** path;
};
struct Die {
  void *address, *unit, *abbreviation;
  long padding;
};
struct Attribute {
  unsigned code, form;
  unsigned char* value;
  void* unit;
};
// DWARF 5, tables 7.3 and 7.5.
enum Tag : int { kInlinedSubroutine = 0x1d, kSubprogram = 0x2e };
enum AttributeName : unsigned { kCallFile = 0x58, kCallLine = 0x59, kLinkageName = 0x6e };

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
  Line* (*line_at)(Module*, std::uint64_t) = nullptr;
  const char* (*describe_line)(Line*, std::uint64_t*, int*, int*, std::uint64_t*,
                               std::uint64_t*) = nullptr;
  Module* (*module_at)(Dwfl*, std::uint64_t) = nullptr;
  const char* (*symbol_at)(Module*, std::uint64_t) = nullptr;
  Die* (*unit_at)(Module*, std::uint64_t, std::uint64_t*) = nullptr;
  int (*scopes_at)(Die*, std::uint64_t, Die**) = nullptr;
  int (*scopes_of)(Die*, Die**) = nullptr;
  int (*tag)(Die*) = nullptr;
  const char* (*name)(Die*) = nullptr;
  Attribute* (*attribute)(Die*, unsigned, Attribute*) = nullptr;
  const char* (*text)(Attribute*) = nullptr;
  int (*number)(Attribute*, std::uint64_t*) = nullptr;
  int (*files)(Die*, Files**, std::size_t*) = nullptr;
  const char* (*file)(Files*, std::size_t, std::uint64_t*, std::uint64_t*) = nullptr;
  Callbacks callbacks{};

  bool load() {
    void* const library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto find = [&](auto& function, const char* symbol) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
      return function != nullptr;
    };
    callbacks.find_debug_information = find_no_file;
    return find(begin, "dwfl_begin") && find(end, "dwfl_end") &&
           find(report, "dwfl_linux_proc_report") && find(report_end, "dwfl_report_end") &&
           find(line_at, "dwfl_module_getsrc") && find(module_at, "dwfl_addrmodule") &&
           find(symbol_at, "dwfl_module_addrname") && find(describe_line, "dwfl_lineinfo") &&
           find(unit_at, "dwfl_module_addrdie") && find(scopes_at, "dwarf_getscopes") &&
           find(scopes_of, "dwarf_getscopes_die") && find(tag, "dwarf_tag") &&
           find(name, "dwarf_diename") && find(attribute, "dwarf_attr_integrate") &&
           find(text, "dwarf_formstring") && find(number, "dwarf_formudata") &&
           find(files, "dwarf_getsrcfiles") && find(file, "dwarf_filesrc") &&
           find(callbacks.find_elf, "dwfl_linux_proc_find_elf");
  }

  std::string name_of(Die* die) const {
    Attribute linkage;
    const char* found =
        attribute(die, kLinkageName, &linkage) == nullptr ? nullptr : text(&linkage);
    if (found == nullptr) found = name(die);
    return found == nullptr ? "" : found;
  }
  std::uint64_t number_of(Die* die, AttributeName which) const {
    Attribute found;
    std::uint64_t value = 0;
    return attribute(die, which, &found) != nullptr && number(&found, &value) == 0 ? value : 0;
  }
};

const Library* library() {
  static Library library;
  static const bool loaded = library.load();
  return loaded ? &library : nullptr;
}

// The objects of this process, for as long as it loads and unloads none.
class Objects {
 public:
  // nullptr: they cannot be read.
  Dwfl* now(const Library& l) {
    const std::uint64_t changes = count_object_changes();
    if (dwfl_ != nullptr && changes == changes_ && process_ == getpid()) return dwfl_;
    if (dwfl_ != nullptr) l.end(dwfl_);
    changes_ = changes;
    process_ = getpid();
    dwfl_ = l.begin(&l.callbacks);
    if (dwfl_ == nullptr) return nullptr;
    if (l.report(dwfl_, process_) == 0 && l.report_end(dwfl_, nullptr, nullptr) == 0) return dwfl_;
    l.end(dwfl_);
    return dwfl_ = nullptr;
  }

 private:
  Dwfl* dwfl_ = nullptr;
  std::uint64_t changes_ = 0;
  pid_t process_ = 0;
};

// Those that were inlined at the address; their lines are where each stands. The last one's name
// is that of the function which has them.
std::vector<DebugPlace> inlined(const Library& l, Module* module, std::uint64_t address,
                                DebugPlace innermost) {
  std::vector<DebugPlace> result;
  std::uint64_t bias = 0;
  Die* const unit = l.unit_at(module, address, &bias);
  Die* scopes = nullptr;
  if (unit == nullptr || l.scopes_at(unit, address - bias, &scopes) <= 0) return {innermost};
  Die scope = scopes[0];
  std::free(scopes);
  scopes = nullptr;
  const int count = l.scopes_of(&scope, &scopes);
  Files* files = nullptr;
  if (l.files(unit, &files, nullptr) != 0) files = nullptr;
  DebugPlace place = std::move(innermost);
  for (int i = 0; i < count; ++i) {
    const int tag = l.tag(&scopes[i]);
    if (tag != kInlinedSubroutine && tag != kSubprogram) continue;
    const std::string outer = place.function;
    if (tag == kInlinedSubroutine || outer.empty()) place.function = l.name_of(&scopes[i]);
    result.push_back(place);
    if (tag == kSubprogram) break;
    const std::uint64_t file = l.number_of(&scopes[i], kCallFile);
    const char* const name =
        files == nullptr || file == 0 ? nullptr : l.file(files, file, nullptr, nullptr);
    place = {outer, name == nullptr ? "" : name,
             static_cast<int>(l.number_of(&scopes[i], kCallLine))};
  }
  std::free(scopes);
  return result.empty() ? std::vector{place} : result;
}

}  // namespace

std::uint64_t count_object_changes() {
  std::uint64_t changes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* sum) {
        *static_cast<std::uint64_t*>(sum) = info->dlpi_adds + info->dlpi_subs;
        return 1;
      },
      &changes);
  return changes;
}

std::vector<DebugPlace> debug_places(std::uint64_t address) {
  static Objects objects;
  const Library* const l = library();
  Dwfl* const dwfl = l == nullptr ? nullptr : objects.now(*l);
  Module* const module = dwfl == nullptr ? nullptr : l->module_at(dwfl, address);
  if (module == nullptr) return {};
  DebugPlace place;
  if (const char* const symbol = l->symbol_at(module, address)) place.function = symbol;
  Line* const line = l->line_at(module, address);
  if (line == nullptr) return {place};
  const char* const file = l->describe_line(line, nullptr, &place.line, nullptr, nullptr, nullptr);
  if (file == nullptr || place.line <= 0) return {place};
  place.file = file;
  return inlined(*l, module, address, place);
}

}  // namespace lockstep::runtime
