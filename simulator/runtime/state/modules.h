// Device code of the program: fat binaries as nvcc's constructors register them, their kernels and
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
    int max_dynamic_shared = -1;  // -1: what is left of 48 KiB
    int carveout = -1;
    bool non_portable_cluster = false;
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
  void** managed_slot = nullptr;  // host pointer to fill in, for __managed__ variables
};

struct FatBinary {
  std::vector<const void*> containers;  // one; several after relocatable device code was linked
  std::vector<std::string>
      texts;          // in their place: PTX that the program loaded by itself; several are linked
  CodeLimits limits;  // of what is loaded of it
  bool registered =
      false;  // by nvcc's constructors: loading it is no call of the program's that could fail
  std::list<KernelEntry> kernels;
  std::list<VariableEntry> variables;
  struct Loaded {
    cudaError_t error = cudaSuccess;
    std::uint64_t refusal = 0;  // its finding's number (FindingLog)
    std::map<std::string, std::uint64_t>
        refused_kernels;  // their findings' numbers, by name, of those that somebody wanted
    std::vector<std::string> texts;   // the PTX; modules may refer to it
    std::size_t own_texts = 0;        // so many of them are the program's; libraries follow
    std::uint64_t number = 0;         // no other load has the same; 0: not loaded
    memory::Address placed_from = 0;  // where the search for places of its variables began
    std::unique_ptr<engine::Module> module;
    bool seen_by_mutant = false;  // it is the mutant's already, or not the module that is changed
    bool seen_by_candidates = false;  // what they know of the device's module is of this one
    std::unique_ptr<engine::Coverage> coverage;  // where what its threads execute is counted
  };
  std::map<int, Loaded> loaded;  // by device
  // Made when it is first loaded. They outlive what is loaded: cudaDeviceReset leaves them as they
  // are (found on H200s).
  engine::ManagedVariables managed;
  bool covered = false;  // its coverage is in the record, at least of one device and one time
};

// Why a fat binary cannot be loaded, and where that is in the source, if it is one place there.
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
  // Of code whose first bytes say what it is: a wrapper or container as nvcc makes them, which must
  // live as long, what was linked (linked_code.h), or PTX that ends with a zero; its options.
  // nullptr when it is none of them; `error` and a sentence say why.
  FatBinary* add_code(const void* code, const CodeLimits& limits, cudaError_t* error,
                      std::string* why);
  void remove(Runtime& runtime, FatBinary* binary);
  bool known(const FatBinary* binary) const;
  // `host_function` may be nullptr: then the entry is the only handle.
  KernelEntry* add_kernel(FatBinary* binary, const void* host_function, const char* name);
  void add_variable(FatBinary* binary, VariableEntry variable);

  // By host function or by the handle that __cudaGetKernel and cudaGetFuncBySymbol gave; nullptr
  // when it is neither.
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

  // Loads the binary on a device unless that was tried before. An error has been reported, once: as
  // a finding where nvcc's constructors registered the binary, else as explain() does.
  cudaError_t load(Runtime& runtime, FatBinary& binary, int device,
                   FatBinary::Loaded** loaded = nullptr);
  // The loaded kernel or variable on a device; on an error `*result` is nullptr. `coverage`: where
  // what the kernel's threads execute is to be counted, or nullptr: nowhere.
  cudaError_t get(Runtime& runtime, const KernelEntry& kernel, int device,
                  const engine::Kernel** result, engine::Coverage** coverage = nullptr);
  cudaError_t get(Runtime& runtime, const VariableEntry& variable, int device,
                  const memory::Allocation** result);
  bool is_managed_variable(const memory::Allocation& allocation) const;
  // A module's, of any kind.
  bool is_variable(const memory::Allocation& allocation) const {
    return allocation.kind == memory::Kind::kVariable ||
           allocation.kind == memory::Kind::kConstant || is_managed_variable(allocation);
  }
  // Where those variables begin.
  std::vector<memory::Address> managed_variables() const;
  // Records what has been executed of all modules, and of those that were never loaded that nothing
  // has.
  void record_coverage(Runtime& runtime);
  // Forgets what is loaded on a device (cudaDeviceReset).
  void unload(Runtime& runtime, int device);

 private:
  // Reports that a kernel of a launch cannot run. Returns the error for the call.
  cudaError_t refuse(Runtime& runtime, const KernelEntry& kernel, FatBinary::Loaded& loaded,
                     const engine::LoadError& why);
  // On an error `why` says what is wrong.
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
