// liblockstep_audit.so. The dynamic linker calls it (LD_AUDIT, rtld-audit(7)) for every object of a
// process before the object's code runs, also for objects that the program opens later. If an
// object has a CUDA runtime linked into it, the library redirects that runtime's entry points to
// the simulated runtime (redirect.h). A request for a shared runtime or driver gets the simulated
// one, whatever the path: Python packages open their own copies by absolute paths.
//
// The library lives in its own linker namespace, apart from the program's libraries, and uses only
// the C library.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "simulator/exec/audit/redirect.h"
#include "simulator/exec/vendor_libraries.h"
#include "simulator/runtime/inspect/static_runtime.h"

namespace lockstep::exec {
namespace {

using runtime::StaticRuntime;

constexpr int kRefused = 126;  // like `lockstep exec` itself
constexpr std::string_view kRuntime = "libcudart.so.13";

// The contents of a file, readable while this object exists.
class File {
 public:
  explicit File(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0) return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      void* const at = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      at_ = at == MAP_FAILED ? nullptr : static_cast<const std::uint8_t*>(at);
    }
    close(file);
  }
  ~File() {
    if (at_ != nullptr) munmap(const_cast<std::uint8_t*>(at_), size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::span<const std::uint8_t> bytes() const { return {at_, at_ == nullptr ? 0 : size_}; }

 private:
  const std::uint8_t* at_ = nullptr;
  std::size_t size_ = 0;
};

// A loaded object that is not inspected yet: the simulated runtime may be loaded after it.
struct Object {
  const char* name;
  std::uint64_t bias;
};
constexpr std::size_t kMostWaiting = 4096;
Object waiting[kMostWaiting];
std::size_t waiting_count = 0;
bool program_has_begun = false;

char simulated_path[4096];
std::uint64_t simulated_bias = 0;

[[noreturn]] void refuse(const char* name, const char* why) {
  std::fprintf(stderr, "lockstep: %s: %s\n", name, why);
  std::fflush(stderr);
  _exit(kRefused);
}

// System libraries contain no CUDA runtime.
bool is_system_library(std::string_view path) {
  return path.starts_with("/lib/") || path.starts_with("/lib64/") ||
         path.starts_with("/usr/lib/") || path.starts_with("/usr/lib64/");
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // the whole, if there is no '/'
}

// Whether a request for `name` means `library`: "libcublas.so" means "libcublas.so.13".
bool names(std::string_view name, std::string_view library) {
  return name == library ||
         (name.ends_with(".so") && library.starts_with(name) && library[name.size()] == '.');
}

// The path to open for a requested `name`: `name` itself, or the path of its stand-in.
const char* find_instead(const char* name) {
  static char paths[std::size(kStandIns)][4096];
  static const char here = 0;
  for (std::size_t i = 0; i < std::size(kStandIns); ++i) {
    if (!names(base_name(name), kStandIns[i])) continue;
    char* const path = paths[i];
    Dl_info own{};
    if (path[0] == '\0' && dladdr(&here, &own) != 0 && own.dli_fname != nullptr) {
      const std::string_view self = own.dli_fname;
      const std::size_t folder = self.size() - base_name(self).size();
      if (folder + kStandIns[i].size() < sizeof paths[i]) {
        std::memcpy(path, self.data(), folder);
        std::memcpy(path + folder, kStandIns[i].data(), kStandIns[i].size());
      }
    }
    return path[0] != '\0' && access(path, R_OK) == 0 ? path : name;
  }
  return name;
}

void look_at(const Object& object) {
  const bool is_program = object.name[0] == '\0';
  const char* const path = is_program ? "/proc/self/exe" : object.name;
  char program[4096] = "";
  if (is_program && readlink(path, program, sizeof program - 1) < 0) std::strcpy(program, path);
  const char* const name = is_program ? program : path;
  if (is_system_library(path)) return;
  const File file(path);
  if (base_name(path).starts_with("libnvrtc.so")) {
    if (const char* const error = give_ptx_for_cubins(file.bytes(), object.bias))
      refuse(name, error);
    return;
  }
  static StaticRuntime found;
  runtime::find_static_runtime(file.bytes(), &found);
  switch (found.kind) {
    case StaticRuntime::Kind::kNone: return;
    case StaticRuntime::Kind::kStripped:
    case StaticRuntime::Kind::kOlder: {
      const char* const why = runtime::explain(found.kind);
      if (is_program) refuse(name, why);
      // Libraries linked with the program were inspected before the start. NVIDIA's libraries are
      // reported only when a call fails: many programs load them without calling them.
      if (program_has_begun && !is_vendor_library(base_name(path)))
        std::fprintf(stderr, "lockstep: %s: %s. What it does on a GPU is not simulated.\n", name,
                     why);
      return;
    }
    case StaticRuntime::Kind::kNames:
    case StaticRuntime::Kind::kSymbols: break;
  }
  if (simulated_path[0] == '\0')
    refuse(name,
           "has the CUDA runtime linked statically, and the simulated one is not in this process "
           "(LD_PRELOAD)");
  const File simulated(simulated_path);
  const Redirected done = redirect(found, object.bias, {simulated.bytes(), simulated_bias});
  if (done.error != nullptr) refuse(name, done.error);
}

void came(const link_map& map) {
  const std::string_view name = map.l_name;
  if (base_name(name) == kRuntime && name.size() < sizeof simulated_path) {
    std::memcpy(simulated_path, name.data(), name.size() + 1);
    simulated_bias = map.l_addr;
    return;
  }
  if (waiting_count == kMostWaiting) refuse(map.l_name, "too many libraries at once");
  waiting[waiting_count++] = {map.l_name, map.l_addr};
}

// Called when all objects of a load are mapped and none has started.
void all_came() {
  const std::size_t count = waiting_count;
  waiting_count = 0;
  for (std::size_t i = 0; i < count; ++i) look_at(waiting[i]);
}

}  // namespace
}  // namespace lockstep::exec

extern "C" {

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

char* la_objsearch(const char* name, uintptr_t* /*cookie*/, unsigned flag) {
  return const_cast<char*>(flag == LA_SER_ORIG ? lockstep::exec::find_instead(name) : name);
}

unsigned la_objopen(link_map* map, Lmid_t /*namespace_id*/, uintptr_t* /*cookie*/) {
  lockstep::exec::came(*map);
  return 0;
}

void la_activity(uintptr_t* /*cookie*/, unsigned flag) {
  if (flag == LA_ACT_CONSISTENT) lockstep::exec::all_came();
}

void la_preinit(uintptr_t* /*cookie*/) { lockstep::exec::program_has_begun = true; }

}  // extern "C"
