// Names and what they stand for, over all modules of a program: functions, placed variables, shared
// memory.
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
  std::uint32_t begin = 0;  // offset in the shared space; of a dynamic one, see dynamic_shared()
  std::uint64_t size = 0;
  std::uint32_t alignment = 1;
  bool dynamic = false;  // extern: what the launch adds
};

struct Symbol {
  enum class Kind { kFunction, kVariable, kShared };
  Kind kind = Kind::kVariable;
  std::uint32_t index = 0;  // function or shared variable
  const memory::Allocation* variable = nullptr;
};

class Linker {
 public:
  // `managed`: the managed variables of an earlier load of the same texts, on whatever device.
  // `placed`: all variables of an earlier load on this one. These are taken as they are, with what
  // they hold.
  Linker(std::span<const ptx::Module> modules, memory::DeviceMemory& memory, int device,
         const program::ManagedVariables& managed, const program::PlacedVariables& placed = {});

  // Collects the symbols, places and initialises the variables, lays out shared memory. An error
  // message when a name has no definition.
  std::optional<std::string> link(program::Program& program);

  // What `name` stands for in a function of module `module`; nullptr when nothing does.
  const Symbol* find(std::uint32_t module, const ptx::Function* function,
                     const std::string& name) const;
  // Where dynamic shared memory begins, by its offset in the shared space, as this function sees
  // it.
  std::uint32_t dynamic_shared(std::uint32_t function) const { return dynamic_begin_[function]; }
  // Generic, but for a shared variable.
  std::uint64_t address(const Symbol& s) const;
  // In the symbol's own state space: of a constant, its distance from constant_base(), which fits
  // in 32 bits; the generic address of any other variable.
  std::uint64_t space_address(const Symbol& s) const;
  // The generic address of where constant memory begins.
  std::uint64_t constant_base() const { return constant_base_; }

  const std::vector<FunctionRef>& functions() const { return functions_; }
  const std::vector<SharedVariable>& shared() const { return shared_; }
  // Shared variables that a function and everything it may call touch; by function.
  const std::vector<std::vector<std::uint32_t>>& shared_of() const { return reaches_; }
  // Functions that a function may call, itself included.
  const std::vector<std::vector<std::uint32_t>>& callees_of() const { return callees_; }
  // Whether the two blocks of a pair work together (.cta_group::2). Then a program clears a bit in
  // the address of its own mbarrier to name that of the pair's first block, and addresses of shared
  // memory say which block's they are.
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
  const program::ManagedVariables& managed_;  // of an earlier load
  const program::PlacedVariables placed_before_;
  std::vector<FunctionRef> functions_;
  std::vector<SharedVariable> shared_;
  std::unordered_map<std::string, Symbol> global_;              // visible everywhere
  std::vector<std::unordered_map<std::string, Symbol>> local_;  // by module
  std::map<const ptx::Function*, std::unordered_map<std::string, Symbol>> scoped_;
  std::vector<std::vector<std::uint32_t>> callees_, reaches_;
  std::vector<bool> names_dynamic_;  // by function: whether it names dynamic shared memory itself
  std::vector<std::uint32_t> dynamic_begin_;
  std::vector<bool> recursive_, indirect_;
  struct Pending {
    std::uint32_t module;
    const ptx::Variable* variable;
    const memory::Allocation* allocation;
    bool known;  // from an earlier load: it holds what it holds
  };
  std::vector<Pending> placed_;
  std::uint64_t constant_base_ = ~0ull;
};

}  // namespace lockstep::compile
