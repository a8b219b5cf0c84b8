// Symbols of all modules of a program: functions, placed variables and shared memory.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/memory/device_memory.h"
#include "simulator/program/program.h"
#include "simulator/ptx/ir.h"

namespace lockstep::compile {

// A function of a module, by its index in Program::functions.
struct FunctionRef {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::uint32_t module_index = 0;
};

struct SharedVariable {
  std::string name;
  std::uint32_t begin =
      0;  // offset in the shared space; for a dynamic variable see dynamic_shared()
  std::uint64_t size = 0;
  std::uint32_t alignment = 1;
  bool dynamic = false;  // extern: its size is set by the launch
};

struct Symbol {
  enum class Kind { kFunction, kVariable, kShared };
  Kind kind = Kind::kVariable;
  std::uint32_t index = 0;  // of a function or shared variable
  const memory::Allocation* variable = nullptr;
};

class Linker {
 public:
  // `managed`: the managed variables of an earlier load of the same texts, on any device. `placed`:
  // all variables of an earlier load on this device. Both are reused with their contents.
  Linker(std::span<const ptx::Module> modules, memory::DeviceMemory& memory, int device,
         const program::ManagedVariables& managed, const program::PlacedVariables& placed = {});

  // Collects the symbols, places and initialises the variables, and lays out shared memory. Returns
  // an error message if a name has no definition.
  std::optional<std::string> link(program::Program& program);

  // The symbol that `name` refers to in a function of module `module`; nullptr if there is none.
  const Symbol* find(std::uint32_t module, const ptx::Function* function,
                     const std::string& name) const;
  // The start of dynamic shared memory for this function, as an offset in the shared space.
  std::uint32_t dynamic_shared(std::uint32_t function) const { return dynamic_begin_[function]; }
  // The generic address; for a shared variable, its address in the shared space.
  std::uint64_t address(const Symbol& s) const;
  // The address in the symbol's own state space. For a constant, its distance from constant_base(),
  // which fits 32 bits. For any other variable, the generic address.
  std::uint64_t space_address(const Symbol& s) const;
  // The generic address of the start of constant memory.
  std::uint64_t constant_base() const { return constant_base_; }

  const std::vector<FunctionRef>& functions() const { return functions_; }
  const std::vector<SharedVariable>& shared() const { return shared_; }
  // By function: the shared variables that it and everything it may call can access.
  const std::vector<std::vector<std::uint32_t>>& shared_of() const { return reaches_; }
  // By function: the functions that it may call, including itself.
  const std::vector<std::vector<std::uint32_t>>& callees_of() const { return callees_; }
  // Whether two blocks of a pair cooperate (.cta_group::2). Such a program clears a bit in its own
  // mbarrier's address to get the address in the pair's first block, so addresses of shared memory
  // must identify their block.
  bool has_pairs() const { return has_pairs_; }
  bool recursive(std::uint32_t function) const { return recursive_[function]; }
  bool calls_indirectly(std::uint32_t function) const { return indirect_[function]; }

 private:
  bool has_pairs_ = false;
  std::optional<std::string> collect();
  std::optional<std::string> place(program::Program& program);
  void call_graph();
  std::optional<std::string> lay_out_shared();
  void place_dynamic_shared(const std::vector<std::uint64_t>& end_of);
  void declare_shared(std::unordered_map<std::string, Symbol>& scope, const ptx::Variable& v);

  std::span<const ptx::Module> modules_;
  memory::DeviceMemory& memory_;
  int device_;
  const program::ManagedVariables& managed_;  // from an earlier load
  const program::PlacedVariables placed_before_;
  std::vector<FunctionRef> functions_;
  std::vector<SharedVariable> shared_;
  std::unordered_map<std::string, Symbol> global_;              // visible everywhere
  std::vector<std::unordered_map<std::string, Symbol>> local_;  // by module
  std::map<const ptx::Function*, std::unordered_map<std::string, Symbol>> scoped_;
  std::vector<std::vector<std::uint32_t>> callees_, reaches_;
  std::vector<bool> names_dynamic_;  // by function: it names dynamic shared memory itself
  std::vector<std::uint32_t> dynamic_begin_;
  std::vector<bool> recursive_, indirect_;
  struct Pending {
    std::uint32_t module;
    const ptx::Variable* variable;
    const memory::Allocation* allocation;
    bool known;  // from an earlier load: keeps its contents
  };
  std::vector<Pending> placed_;
  std::uint64_t constant_base_ = ~0ull;
};

}  // namespace lockstep::compile
