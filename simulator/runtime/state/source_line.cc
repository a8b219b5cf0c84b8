#include "simulator/runtime/state/source_line.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/libdw.h"

namespace lockstep::runtime {
namespace {

// What was found at addresses, as long as the process loads and unloads no object: another object
// may lie there later.
template <class Found>
class KnownPlaces {
 public:
  template <class Find>
  const Found& at(const void* address, Find&& find) {
    const auto [it, fresh] = known_.try_emplace(address);
    if (fresh) it->second = find(address);
    return it->second;
  }
  void forget_unless_unchanged() {
    const std::uint64_t changes = count_object_changes();
    if (std::exchange(changes_, changes) != changes) known_.clear();
  }

 private:
  std::map<const void*, Found> known_;
  std::uint64_t changes_ = 0;
};

std::vector<DebugPlace> places_at(const void* address) {
  static std::mutex mutex;
  static auto* const known = new KnownPlaces<std::vector<DebugPlace>>;
  const std::lock_guard lock(mutex);
  known->forget_unless_unchanged();
  return known->at(
      address, [](const void* at) { return debug_places(reinterpret_cast<std::uintptr_t>(at)); });
}

// CUDA's header has templates that call the C function of the same name.
bool is_wrapper(const std::string& file) { return file.ends_with("/cuda_runtime.h"); }

std::string plain_or_empty(const char* name) { return name == nullptr ? "" : demangled(name); }

}  // namespace

std::string source_line(const void* address) {
  const auto places = places_at(address);
  return places.empty() || places[0].file.empty()
             ? ""
             : places[0].file + ":" + std::to_string(places[0].line);
}

std::string source_function(const void* address) {
  const auto places = places_at(address);
  return places.empty() ? "" : places.back().function;
}

std::uint64_t offset_in_object(const void* address, const void* base) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  // Programs that lie at a fixed address are asked about by it, others from their start.
  return static_cast<const Elf64_Ehdr*>(base)->e_type == ET_EXEC
             ? at
             : at - reinterpret_cast<std::uintptr_t>(base);
}

bool is_interpreter(std::string_view object) {
  object.remove_prefix(object.rfind('/') + 1);
  // What calls C functions for Python: its frames are the same for every call.
  if (object.starts_with("_ctypes.") || object.starts_with("libffi")) return true;
  if (object.starts_with("lib")) object.remove_prefix(3);
  if (!object.starts_with("python")) return false;
  object.remove_prefix(6);
  const std::string_view rest =
      object.substr(std::min(object.find_first_not_of("0123456789."), object.size()));
  return rest.empty() || rest.starts_with("so") || rest.starts_with("d");
}

namespace {

// The functions and lines of one return address: those that are inlined there, innermost first.
std::vector<check::HostFrame> frames_at(const void* at) {
  Dl_info info;
  check::HostFrame frame;
  if (dladdr(at, &info) != 0 && info.dli_fname != nullptr) {
    frame.object = info.dli_fname;
    frame.offset = offset_in_object(at, info.dli_fbase);
    frame.function = plain_or_empty(info.dli_sname);
  }
  const auto places = places_at(at);
  if (places.empty()) return {frame};
  std::vector<check::HostFrame> frames;
  for (const DebugPlace& place : places) {
    if (!place.function.empty()) frame.function = demangled(place.function);
    frame.file = place.file;
    frame.line = place.line;
    frames.push_back(frame);
  }
  return frames;
}

}  // namespace

std::vector<check::HostFrame> host_frames(const CallStack& stack) {
  static std::mutex mutex;
  // A program copies unwritten bytes at the same places again and again.
  static auto* const known = new KnownPlaces<std::vector<check::HostFrame>>;
  const std::lock_guard lock(mutex);
  known->forget_unless_unchanged();
  std::vector<check::HostFrame> frames;
  for (std::size_t i = 0; i < stack.count; ++i) {
    // The call itself is before where it returns to.
    const auto& here = known->at(static_cast<const char*>(stack.frames[i]) - 1, frames_at);
    if (is_interpreter(here.front().object)) break;
    frames.insert(frames.end(), here.begin(), here.end());
    if (frames.back().function == "main") break;  // what calls it is the C library
  }
  const auto program = std::find_if(frames.begin(), frames.end(),
                                    [](const check::HostFrame& f) { return !is_wrapper(f.file); });
  if (program != frames.end()) frames.erase(frames.begin(), program);
  return frames;
}

}  // namespace lockstep::runtime
