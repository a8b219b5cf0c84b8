// Device code of the program: fat binaries that nvcc's constructors register, their kernels and
// variables, and the modules loaded from them.
//
// A fat binary is loaded on a device when one of its kernels or variables is first used there, as
// CUDA does by default.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/engine/launch/coverage.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/memory/device_memory.h"
#include "simulator/runtime/state/jit_options.h"
#include "simulator/runtime/state/refusals.h"

namespace lockstep::runtime {

class Runtime;
struct FatBinary;

struct KernelEntry {
  FatBinary* binary = nullptr;
  const void* host_function = nullptr;
  std::string name;  // mangled, as in the PTX
  // Set by cudaFuncSetAttribute, by device.
  struct Attributes {
    int max_dynamic_shared = -1;  // -1: the rest of 48 KiB
    int carveout = -1;
    int non_portable_cluster = 0;
    int required_cluster[3] = {0, 0, 0};
    int cluster_policy = 0;
  };
  std::map<int, Attributes> attributes, set_aside;  // set_aside: lockstepSetLimitsAside
};

struct VariableEntry {
  FatBinary* binary = nullptr;
  const void* host_shadow = nullptr;
  std::string name;
  std::size_t size = 0;
  bool constant = false;
  void** managed_slot = nullptr;  // for __managed__ variables: the host pointer to set
};

struct FatBinary {
  std::vector<const void*> containers;  // one, or several after relocatable device code was linked
  std::vector<std::string>
      texts;  // instead of containers: PTX that the program loaded itself; several are linked
  CodeLimits limits;  // the limits when it is loaded
  bool registered =
      false;  // registered by nvcc's constructors: no call of the program loads it and could fail
  std::list<KernelEntry> kernels;
  std::list<VariableEntry> variables;
  struct Loaded {
    cudaError_t error = cudaSuccess;
    std::uint64_t refusal = 0;  // the number of its finding (FindingLog)
    std::map<std::string, std::uint64_t>
        refused_kernels;  // by name: the numbers of findings of refused kernels that were requested
    std::vector<std::string> texts;  // the PTX; modules may refer to it
    std::size_t own_texts = 0;       // the number of texts that are the program's; libraries follow
    std::uint64_t number = 0;        // unique for each load; 0: not loaded
    memory::Address placed_from = 0;  // where the search for places for its variables started
    std::unique_ptr<engine::Module> module;
    bool seen_by_mutant =
        false;  // the mutant has been applied, or another module is the one to change
    bool seen_by_candidates = false;  // the candidates' state for the device refers to this module
    std::unique_ptr<engine::Coverage> coverage;  // counts what its threads execute
  };
  std::map<int, Loaded> loaded;  // by device
  // Created at the first load. They outlive the loaded modules: cudaDeviceReset leaves them
  // unchanged (as found on H200s).
  engine::ManagedVariables managed;
  bool covered = false;  // its coverage has been recorded at least once, on some device
};

// Why a fat binary cannot be loaded, and its place in the source, if there is a single one.
struct LoadFailure {
  std::string message;
  SourcePlace source;
  int ptx_line = 0;
};

class Modules {
 public:
  FatBinary* add(const void* wrapper, bool registered = false);
  FatBinary* add_container(const void* container);
  FatBinary* add_texts(std::vector<std::string> ptx);
  // Adds code that identifies itself by its first bytes: a wrapper or container made by nvcc, which
  // must outlive the result, linked code (linked_code.h), or zero-terminated PTX. Returns nullptr
  // if it is none of these; `error` and `why` are then set.
  FatBinary* add_code(const void* code, const CodeLimits& limits, cudaError_t* error,
                      std::string* why);
  void remove(Runtime& runtime, FatBinary* binary);
  bool known(const FatBinary* binary) const;
  // `host_function` may be nullptr: then the entry is the only handle.
  KernelEntry* add_kernel(FatBinary* binary, const void* host_function, const char* name);
  void add_variable(FatBinary* binary, VariableEntry variable);

  // Finds a kernel by its host function, or by the handle that __cudaGetKernel and
  // cudaGetFuncBySymbol returned; nullptr if it is neither.
  KernelEntry* find_kernel(const void* function);
  template <class Visit>
  void each_kernel(Visit&& visit) {
    for (FatBinary& binary : binaries_) std::ranges::for_each(binary.kernels, visit);
  }
  template <class Visit>  // visit(loaded, device)
  void each_loaded(Visit&& visit) {
    for (FatBinary& binary : binaries_)
      for (auto& [device, loaded] : binary.loaded) visit(loaded, device);
  }
  VariableEntry* find_variable(const void* symbol);

  // Loads the binary on a device unless that was tried before. An error has then been reported,
  // once: as a finding if nvcc's constructors registered the binary, otherwise as explain() does.
  cudaError_t load(Runtime& runtime, FatBinary& binary, int device,
                   FatBinary::Loaded** loaded = nullptr);
  // The loaded kernel or variable on a device. On an error `*result` is nullptr. `coverage`: gets
  // the table that counts what the kernel's threads execute, or nullptr.
  cudaError_t get(Runtime& runtime, const KernelEntry& kernel, int device,
                  const engine::Kernel** result, engine::Coverage** coverage = nullptr);
  cudaError_t get(Runtime& runtime, const VariableEntry& variable, int device,
                  const memory::Allocation** result);
  bool is_managed_variable(const memory::Allocation& allocation) const;
  // Whether it is a variable of a module, of any kind.
  bool is_variable(const memory::Allocation& allocation) const {
    return allocation.kind == memory::Kind::kVariable ||
           allocation.kind == memory::Kind::kConstant || is_managed_variable(allocation);
  }
  // The addresses of managed variables.
  std::vector<memory::Address> managed_variables() const;
  // Records the coverage of all modules. Modules that were never loaded count as not executed.
  void record_coverage(Runtime& runtime);
  // Forgets the modules loaded on a device (cudaDeviceReset).
  void unload(Runtime& runtime, int device);

 private:
  // Reports that a kernel of a launch cannot run. Returns the error of the call.
  cudaError_t refuse(Runtime& runtime, const KernelEntry& kernel, FatBinary::Loaded& loaded,
                     const engine::LoadError& why);
  // On an error, `why` says what is wrong.
  void record_coverage(Runtime& runtime, FatBinary& binary);
  void record_coverage(Runtime& runtime, FatBinary& binary, FatBinary::Loaded& loaded);
  cudaError_t load_now(Runtime& runtime, FatBinary& binary, int device, FatBinary::Loaded& loaded,
                       LoadFailure* why);

  std::list<FatBinary> binaries_;
  std::uint64_t loads_ = 0;
  std::unordered_map<const void*, KernelEntry*> kernels_;      // by host function and by handle
  std::unordered_map<const void*, VariableEntry*> variables_;  // by host shadow
};

}  // namespace lockstep::runtime
