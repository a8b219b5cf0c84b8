#include "simulator/runtime/state/modules.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "simulator/fatbin/fatbin.h"
#include "simulator/runtime/state/call_errors.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/device_library.h"
#include "simulator/runtime/state/linked_code.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {
namespace {

// What nvcc puts in .nvFatBinSegment.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const void* data;
  const void* const*
      linked;  // version 2: NULL-terminated list of the translation units' containers
};
constexpr std::uint32_t kWrapperMagic = 0x466243b1;

// The bytes of a container, by the sizes in its own header: {u32 magic, u16 version, u16 header
// size, u64 body size}.
std::span<const std::uint8_t> container_bytes(const void* container) {
  std::uint16_t header = 0;
  std::uint64_t body = 0;
  std::memcpy(&header, static_cast<const char*>(container) + 6, sizeof header);
  std::memcpy(&body, static_cast<const char*>(container) + 8, sizeof body);
  return {static_cast<const std::uint8_t*>(container), header + body};
}

// Host code reaches a __managed__ variable through a pointer that is ours to set.
void fill_managed_slots(const FatBinary& binary, const engine::Module& module) {
  for (const VariableEntry& variable : binary.variables) {
    if (variable.managed_slot == nullptr) continue;
    const memory::Allocation* a = module.find_variable(variable.name);
    void* const place = a == nullptr ? nullptr : reinterpret_cast<void*>(a->base);
    // Once for all devices: the program's other threads may read the pointer while one loads the
    // module on a further device.
    if (place != nullptr && *variable.managed_slot != place) *variable.managed_slot = place;
  }
}

}  // namespace

FatBinary* Modules::add(const void* wrapper, bool registered) {
  FatBinary& binary = binaries_.emplace_back();
  binary.registered = registered;
  Wrapper w;
  std::memcpy(&w, wrapper, sizeof w);
  if (w.magic != kWrapperMagic) return &binary;  // no containers: loading it says so
  if (w.version == 2 && w.linked != nullptr) {
    for (const void* const* p = w.linked; *p != nullptr; ++p) binary.containers.push_back(*p);
  } else {
    binary.containers.push_back(w.data);
  }
  return &binary;
}

FatBinary* Modules::add_container(const void* container) {
  FatBinary& binary = binaries_.emplace_back();
  binary.containers.push_back(container);
  return &binary;
}

FatBinary* Modules::add_texts(std::vector<std::string> ptx) {
  FatBinary& binary = binaries_.emplace_back();
  binary.texts = std::move(ptx);
  return &binary;
}

FatBinary* Modules::add_code(const void* code, const CodeLimits& limits, cudaError_t* error,
                             std::string* why) {
  constexpr std::uint32_t kContainerMagic = 0xba55ed50;
  const auto limited = [&](FatBinary* made, const CodeLimits& to) {
    made->limits = to;
    return made;
  };
  std::uint32_t magic = 0;
  std::memcpy(&magic, code, sizeof magic);
  if (magic == kWrapperMagic) return limited(add(code), limits);
  if (magic == kContainerMagic) return limited(add_container(code), limits);
  if (std::memcmp(code, "\177ELF", 4) == 0) {
    *why = "this is machine code alone; the simulated GPU needs PTX";
    *error = cudaErrorNoKernelImageForDevice;
    return nullptr;
  }
  if (!is_linked(code)) {
    const char* const text = static_cast<const char*>(code);
    if (std::strstr(text, ".version") == nullptr) {
      *why = "this is neither PTX, which begins with .version, nor a fat binary";
      *error = cudaErrorInvalidKernelImage;
      return nullptr;
    }
    return limited(add_texts({text}), limits);
  }
  std::vector<std::string> texts;
  CodeLimits own;
  if (!unpack_linked(code, &texts, &own)) {
    *why = "the linked code is cut off";
    *error = cudaErrorInvalidKernelImage;
    return nullptr;
  }
  return limited(add_texts(std::move(texts)),
                 own);  // what is linked is compiled: options come too late
}

bool Modules::known(const FatBinary* binary) const {
  return std::any_of(binaries_.begin(), binaries_.end(),
                     [&](const FatBinary& b) { return &b == binary; });
}

void Modules::remove(Runtime& runtime, FatBinary* binary) {
  record_coverage(runtime, *binary);
  runtime.repeats.forget();
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(variables_, [&](const auto& entry) { return entry.second->binary == binary; });
  binaries_.remove_if([&](const FatBinary& b) { return &b == binary; });
}

KernelEntry* Modules::add_kernel(FatBinary* binary, const void* host_function, const char* name) {
  KernelEntry& entry = binary->kernels.emplace_back();
  entry.binary = binary;
  entry.host_function = host_function;
  entry.name = name;
  if (host_function != nullptr) kernels_[host_function] = &entry;
  kernels_[&entry] = &entry;
  return &entry;
}

void Modules::add_variable(FatBinary* binary, VariableEntry variable) {
  VariableEntry& entry = binary->variables.emplace_back(std::move(variable));
  entry.binary = binary;
  variables_[entry.host_shadow] = &entry;
}

KernelEntry* Modules::find_kernel(const void* function) {
  const auto it = kernels_.find(function);
  return it == kernels_.end() ? nullptr : it->second;
}

VariableEntry* Modules::find_variable(const void* symbol) {
  const auto it = variables_.find(symbol);
  return it == variables_.end() ? nullptr : it->second;
}

cudaError_t Modules::load(Runtime& runtime, FatBinary& binary, int device,
                          FatBinary::Loaded** result) {
  const auto [it, first] = binary.loaded.try_emplace(device);
  FatBinary::Loaded& loaded = it->second;
  if (result != nullptr) *result = &loaded;
  LoadFailure why;
  if (first) {
    loaded.error = load_now(runtime, binary, device, loaded, &why);
    if (loaded.error == cudaSuccess) fill_managed_slots(binary, *loaded.module);
    runtime.host_sees_memory |= !binary.managed.empty();
  }
  if (loaded.error == cudaSuccess) return cudaSuccess;
  if (!binary.registered) {
    if (first) runtime.explain("load", why.message);
    return loaded.error;
  }
  if (first) {
    std::vector<std::string> kernels;
    if (loaded.texts.empty()) {
      for (const KernelEntry& kernel : binary.kernels) kernels.push_back(demangled(kernel.name));
    }
    for (const std::string& text : loaded.texts) {
      for (std::string& kernel : kernels_in(text)) kernels.push_back(std::move(kernel));
    }
    loaded.refusal = report_refused_module(runtime, why, kernels);
  } else {
    runtime.findings.again(loaded.refusal);
  }
  note_reported();
  return loaded.error;
}

namespace {

// The first number in the line of PTX that begins with `word`, or -1. Comments do not count.
int number_behind(const std::string& text, const char* word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t before = at == 0 ? text.npos : text.find_last_not_of(" \t", at - 1);
    if (before != text.npos && text[before] != '\n') continue;
    const std::size_t first = text.find_first_of("0123456789", at);
    return first == text.npos ? -1 : std::atoi(text.c_str() + first);
  }
  return -1;
}

// Refuses PTX that the driver's compiler does not know, and PTX for later devices. The results are
// an H200's driver's (580). PTX that cannot be read is left to the parser.
cudaError_t check_header(const std::string& text, int capability, std::string* why) {
  constexpr int kNewestMajor = 9;
  if (const int major = number_behind(text, ".version"); major > kNewestMajor) {
    *why = "the PTX is of version " + std::to_string(major) + "; the newest known is 9";
    return cudaErrorUnsupportedPtxVersion;
  }
  if (const int target = number_behind(text, ".target"); target > capability) {
    *why = "the PTX is for sm_" + std::to_string(target) + ", and the device is an sm_" +
           std::to_string(capability);
    return cudaErrorInvalidPtx;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t Modules::load_now(Runtime& runtime, FatBinary& binary, int device,
                              FatBinary::Loaded& loaded, LoadFailure* why) {
  if (!binary.texts.empty()) {
    loaded.texts = binary.texts;
  } else if (binary.containers.empty()) {
    why->message = "the program's device code is in a wrapper of an unknown kind";
    return cudaErrorInvalidKernelImage;
  }
  const int capability = runtime.settings.profile->compute_capability();
  for (const std::string& text : binary.texts) {
    if (const cudaError_t error = check_header(text, capability, &why->message);
        error != cudaSuccess)
      return error;
  }
  for (const void* container : binary.containers) {
    auto read = fatbin::read_container(container_bytes(container));
    if (const auto* error = std::get_if<fatbin::Error>(&read)) {
      why->message = "the program's device code cannot be read: " + error->message;
      return cudaErrorInvalidKernelImage;
    }
    const auto& images = std::get<std::vector<fatbin::Image>>(read);
    const fatbin::Image* image = fatbin::choose_ptx(images, capability);
    // Whatever calls into the device runtime is refused by name.
    if (image == nullptr && binary.containers.size() > 1 && fatbin::is_device_runtime(images))
      continue;
    if (image == nullptr) {
      why->message = fatbin::explain_no_ptx(images, capability);
      return cudaErrorNoKernelImageForDevice;
    }
    loaded.texts.emplace_back(reinterpret_cast<const char*>(image->data.data()),
                              image->data.size());
  }
  loaded.own_texts = loaded.texts.size();
  loaded.number = ++loads_;
  loaded.placed_from = runtime.memory->next();
  for (std::string& library : device_libraries_for(loaded.texts))
    loaded.texts.push_back(std::move(library));
  const std::vector<std::string_view> texts(loaded.texts.begin(), loaded.texts.end());
  auto module = engine::load_module(texts, *runtime.memory, device, &binary.managed,
                                    runtime.settings.registers);
  if (const auto* error = std::get_if<engine::LoadError>(&module)) {
    why->message = error->message;
    why->ptx_line = error->ptx_line;
    if (error->text < texts.size()) why->source = source_of(texts[error->text], error->ptx_line);
    return cudaErrorInvalidPtx;
  }
  loaded.module = std::get<std::unique_ptr<engine::Module>>(std::move(module));
  loaded.module->limit(binary.limits.registers, binary.limits.threads);
  if (runtime.settings.coverage) loaded.coverage = std::make_unique<engine::Coverage>();
  return cudaSuccess;
}

cudaError_t Modules::get(Runtime& runtime, const KernelEntry& kernel, int device,
                         const engine::Kernel** result, engine::Coverage** coverage) {
  *result = nullptr;
  FatBinary::Loaded* loaded = nullptr;
  if (const cudaError_t error = load(runtime, *kernel.binary, device, &loaded);
      error != cudaSuccess)
    return error;
  const engine::Kernel* const found = loaded->module->find_kernel(kernel.name);
  if (found == nullptr) return cudaErrorInvalidDeviceFunction;
  if (const engine::LoadError* why = found->refusal())
    return refuse(runtime, kernel, *loaded, *why);
  *result = found;
  if (coverage != nullptr) *coverage = loaded->coverage.get();
  return cudaSuccess;
}

cudaError_t Modules::refuse(Runtime& runtime, const KernelEntry& kernel, FatBinary::Loaded& loaded,
                            const engine::LoadError& why) {
  if (!kernel.binary->registered) {
    runtime.explain("load", why.message);
    return cudaErrorInvalidPtx;
  }
  const auto [it, first] = loaded.refused_kernels.try_emplace(kernel.name);
  if (first) {
    LoadFailure failure{why.message, {}, why.ptx_line};
    if (why.text < loaded.texts.size())
      failure.source = source_of(loaded.texts[why.text], why.ptx_line);
    it->second = report_refused_module(runtime, failure, {demangled(kernel.name)});
  } else {
    runtime.findings.again(it->second);
  }
  note_reported();
  return cudaErrorInvalidPtx;
}

cudaError_t Modules::get(Runtime& runtime, const VariableEntry& variable, int device,
                         const memory::Allocation** result) {
  *result = nullptr;
  if (const cudaError_t error = load(runtime, *variable.binary, device); error != cudaSuccess)
    return error;
  *result = variable.binary->loaded.at(device).module->find_variable(variable.name);
  return *result == nullptr ? cudaErrorInvalidSymbol : cudaSuccess;
}

bool Modules::is_managed_variable(const memory::Allocation& allocation) const {
  const auto is = [&](const auto& managed) { return managed.get() == &allocation; };
  return allocation.kind == memory::Kind::kManaged &&
         std::any_of(binaries_.begin(), binaries_.end(), [&](const FatBinary& b) {
           return std::any_of(b.managed.begin(), b.managed.end(), is);
         });
}

std::vector<memory::Address> Modules::managed_variables() const {
  std::vector<memory::Address> all;
  for (const FatBinary& b : binaries_)
    for (const auto& managed : b.managed)
      if (managed.get() != nullptr) all.push_back(managed.get()->base);
  return all;
}

void Modules::record_coverage(Runtime& runtime, FatBinary& binary, FatBinary::Loaded& loaded) {
  if (loaded.module == nullptr || loaded.coverage == nullptr) return;
  runtime.record.covered(loaded.texts, coverage_of(*loaded.module, *loaded.coverage));
  loaded.coverage->clear();
  binary.covered = true;
}

void Modules::record_coverage(Runtime& runtime, FatBinary& binary) {
  // A forked child has no device. Its parent records what the parent executed.
  if (!runtime.settings.coverage || runtime.start_error != cudaSuccess) return;
  for (auto& [device, loaded] : binary.loaded) record_coverage(runtime, binary, loaded);
  if (binary.covered || !binary.loaded.empty()) return;
  FatBinary::Loaded unused;
  LoadFailure why;  // nobody has asked for it
  if (load_now(runtime, binary, 0, unused, &why) == cudaSuccess)
    record_coverage(runtime, binary, unused);
}

void Modules::record_coverage(Runtime& runtime) {
  for (FatBinary& binary : binaries_) record_coverage(runtime, binary);
}

void Modules::unload(Runtime& runtime, int device) {
  runtime.repeats.forget();
  for (FatBinary& binary : binaries_) {
    const auto it = binary.loaded.find(device);
    if (it == binary.loaded.end()) continue;
    record_coverage(runtime, binary, it->second);
    binary.loaded.erase(it);
  }
}

}  // namespace lockstep::runtime
