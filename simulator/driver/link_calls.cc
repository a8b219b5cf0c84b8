// The linker: combines pieces of PTX into one piece of code (linked_code.h). The code is linked
// when it is loaded.
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include "simulator/driver/code.h"
#include "simulator/fatbin/fatbin.h"
#include "simulator/runtime/state/linked_code.h"
#include "simulator/runtime/work/executor.h"

using namespace lockstep::driver;
using lockstep::runtime::JitOptions;
namespace fatbin = lockstep::fatbin;

namespace {

// A module without any code.
constexpr char kNothing[] = ".version 9.0\n.target sm_75\n.address_size 64\n";

struct Linker {
  JitOptions jit;
  std::vector<std::string> texts;
  std::string linked;  // the result of cuLinkComplete; afterwards the linker accepts no input
  CUresult refused = CUDA_SUCCESS;  // the result for an input that was none; then it is the link's
};

// Guarded by the device lock.
std::map<CUlinkState, std::unique_ptr<Linker>>& linkers() {
  static auto* const all = new std::map<CUlinkState, std::unique_ptr<Linker>>;
  return *all;
}

CUresult about_link(const char* function, CUlinkState state, const auto& body) {
  const JitOptions* jit = nullptr;
  lockstep::runtime::CallResult ended;
  const CUresult result = locked(
      function, Needs::kContext,
      [&](Runtime& r, Device& d) {
        const auto it = linkers().find(state);
        if (it == linkers().end()) return CUDA_ERROR_INVALID_HANDLE;
        jit = &it->second->jit;
        return body(r, d, *it->second);
      },
      Loads::kCode, &ended);
  if (jit != nullptr && result != CUDA_SUCCESS)
    jit->finish(static_cast<cudaError_t>(result), ended.reason);
  return result;
}

CUresult add_fat_binary(Runtime& r, const char* function, const std::string& bytes,
                        Linker& linker) {
  const auto read =
      fatbin::read_container({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  if (const auto* error = std::get_if<fatbin::Error>(&read)) {
    r.explain(function, "the device code cannot be read: " + error->message);
    return CUDA_ERROR_INVALID_IMAGE;
  }
  const auto& images = std::get<std::vector<fatbin::Image>>(read);
  const int capability = r.settings.profile->compute_capability();
  const fatbin::Image* const image = fatbin::choose_ptx(images, capability);
  if (image == nullptr) {
    r.explain(function, fatbin::explain_no_ptx(images, capability));
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  linker.texts.emplace_back(reinterpret_cast<const char*>(image->data.data()), image->data.size());
  return CUDA_SUCCESS;
}

// Adds one input. An input whose `name` is the device runtime's library is accepted and ignored;
// code that calls into that library is refused by name.
CUresult add(Runtime& r, const char* function, Linker& linker, CUjitInputType type,
             const std::string& bytes, std::string_view name) {
  constexpr std::uint32_t kContainerMagic = 0xba55ed50;
  std::uint32_t magic = 0;
  if (bytes.size() >= sizeof magic) std::memcpy(&magic, bytes.data(), sizeof magic);
  if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
  // Text is accepted as a fat binary too.
  if (type == CU_JIT_INPUT_PTX ||
      (type == CU_JIT_INPUT_FATBINARY && bytes.find(".version") < bytes.find('\0'))) {
    linker.texts.push_back(bytes.substr(0, bytes.find('\0')));
    return CUDA_SUCCESS;
  }
  if (type == CU_JIT_INPUT_CUBIN && bytes.compare(0, 4, "\177ELF") != 0 &&
      !(bytes.size() >= 32 && lockstep::runtime::is_linked(bytes.data())) &&
      magic != kContainerMagic) {
    r.explain(function, "this is no machine code");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (magic == kContainerMagic) return add_fat_binary(r, function, bytes, linker);
  // Linked code counts as machine code: on a GPU, too, the result of cuLinkComplete cannot be
  // linked.
  if (bytes.size() >= 32 && lockstep::runtime::is_linked(bytes.data())) {
    r.explain(function, "what cuLinkComplete has given cannot be linked again");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  if (type == CU_JIT_INPUT_LIBRARY && name.find("cudadevrt") != name.npos) return CUDA_SUCCESS;
  r.explain(function, "the simulated GPU's linker takes PTX and fat binaries with PTX");
  return type == CU_JIT_INPUT_CUBIN || type == CU_JIT_INPUT_OBJECT ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                                   : CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return locked("cuLinkCreate", Needs::kContext, [&](Runtime& r, Device&) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto linker = std::make_unique<Linker>(
        Linker{.jit = JitOptions(count, options, values), .texts = {}, .linked = {}});
    if (const cudaError_t error = linker->jit.check(r.settings.profile->compute_capability());
        error != cudaSuccess)
      return result_of(error);
    *state = reinterpret_cast<CUlinkState>(linker.get());
    linkers().emplace(*state, std::move(linker));
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t size,
                       const char* name, unsigned, CUjit_option*, void**) {
  return about_link("cuLinkAddData", state, [&](Runtime& r, Device&, Linker& linker) {
    if (data == nullptr || size == 0 || !linker.linked.empty()) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result =
        add(r, "cuLinkAddData", linker, type, std::string(static_cast<const char*>(data), size),
            name == nullptr ? "" : name);
    if (result == CUDA_ERROR_INVALID_IMAGE) linker.refused = result;
    return result;
  });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned,
                       CUjit_option*, void**) {
  return about_link("cuLinkAddFile", state, [&](Runtime& r, Device&, Linker& linker) {
    std::string bytes;
    if (path == nullptr || !linker.linked.empty()) return CUDA_ERROR_INVALID_VALUE;
    if (!read_file(path, &bytes)) return CUDA_ERROR_FILE_NOT_FOUND;
    return add(r, "cuLinkAddFile", linker, type, bytes, path);
  });
}

// Loads the linked code once, so that this call returns a link error. A link without any input
// succeeds.
CUresult cuLinkComplete(CUlinkState state, void** code, std::size_t* size) {
  return about_link("cuLinkComplete", state, [&](Runtime& r, Device& d, Linker& linker) {
    if (code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!linker.linked.empty()) return CUDA_ERROR_INVALID_HANDLE;
    if (linker.refused != CUDA_SUCCESS) return linker.refused;
    if (!linker.texts.empty()) {
      auto* const binary = r.modules.add_texts(linker.texts);
      const cudaError_t error = r.modules.load(r, *binary, d.ordinal);
      lockstep::runtime::remove_code(r, binary);
      if (error != cudaSuccess) return result_of(error);
    }
    if (linker.texts.empty()) linker.texts.emplace_back(kNothing);
    linker.linked = lockstep::runtime::pack_linked(linker.texts, linker.jit.limits());
    *code = linker.linked.data();
    if (size != nullptr) *size = linker.linked.size();
    linker.jit.finish(cudaSuccess, {}, /*linked=*/true);
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return locked("cuLinkDestroy", Needs::kContext, [&](Runtime&, Device&) {
    return linkers().erase(state) != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

}  // extern "C"
