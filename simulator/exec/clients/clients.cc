#include "simulator/exec/clients/clients.h"

#include <unistd.h>

#include <filesystem>

namespace lockstep::exec {
namespace {

namespace fs = std::filesystem;

// A folder for the compilers' caches, separate from their caches for a GPU.
std::string cache_folder(const std::function<const char*(const char*)>& lookup) {
  const auto value = [&](const char* name) -> std::string {
    const char* const v = lookup(name);
    return v == nullptr ? "" : v;
  };
  if (const std::string own = value("XDG_CACHE_HOME"); own.starts_with('/'))
    return own + "/lockstep";
  if (const std::string home = value("HOME"); home.starts_with('/'))
    return home + "/.cache/lockstep";
  return "/tmp/lockstep-cache-" + std::to_string(getuid());
}

}  // namespace

ClientFiles find_client_files(const std::string& folder) {
  std::error_code error;
  const fs::path here = fs::path(folder) / "clients";
  ClientFiles result;
  if (fs::exists(here / "ptxas", error)) result.ptxas = (here / "ptxas").string();
  if (fs::exists(here / "modules" / "sitecustomize.py", error))
    result.modules = (here / "modules").string();
  return result;
}

void set_up_clients(const ClientFiles& files, int compute_capability,
                    const std::function<const char*(const char* name)>& lookup, Environment* set) {
  const auto default_to = [&](const char* name, const std::string& value) {
    if (lookup(name) == nullptr) set->try_emplace(name, value);
  };
  const std::string cache = cache_folder(lookup);

  // Triton and the code that torch.compile generates with it. Each hardware generation has its own
  // assembler variable.
  if (!files.ptxas.empty()) {
    (*set)["TRITON_PTXAS_PATH"] = files.ptxas;
    (*set)["TRITON_PTXAS_BLACKWELL_PATH"] = files.ptxas;
    default_to("TRITON_CACHE_DIR", cache + "/triton");
    default_to("TORCHINDUCTOR_CACHE_DIR", cache + "/inductor");
  }

  // CuPy: NVRTC compiles to PTX, and the driver compiles the PTX.
  (*set)["CUPY_COMPILE_WITH_PTX"] = "1";
  default_to("CUPY_CACHE_DIR", cache + "/cupy");
  default_to("CUPY_ACCELERATORS",
             "");  // uses CuPy's own reductions: CUB's exist only as machine code

  default_to("WARP_CACHE_PATH", cache + "/warp");

  // PyTorch: every tensor is its own allocation, so an access past a tensor's end is also past the
  // allocation's end.
  default_to("PYTORCH_NO_CUDA_MEMORY_CACHING", "1");
  // PyTorch extensions are otherwise compiled to machine code only.
  default_to("TORCH_CUDA_ARCH_LIST", std::to_string(compute_capability / 10) + "." +
                                         std::to_string(compute_capability % 10) + "+PTX");
  default_to("NVCC_APPEND_FLAGS", "-lineinfo");  // findings in what nvcc compiles name lines
  // Python finds sitecustomize, lockstep_imports and lockstep_torch in this folder.
  if (!files.modules.empty()) {
    const char* const before = lookup("PYTHONPATH");
    (*set)["PYTHONPATH"] =
        before == nullptr || *before == '\0' ? files.modules : files.modules + ":" + before;
  }
}

}  // namespace lockstep::exec
