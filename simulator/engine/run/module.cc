#include "simulator/engine/run/module.h"

#include <algorithm>
#include <stdexcept>

#include "simulator/compile/compile.h"
#include "simulator/compile/readable_name.h"
#include "simulator/engine/run/handlers.h"
#include "simulator/engine/state/race_history.h"
#include "simulator/program/memory_access.h"
#include "simulator/ptx/parser.h"

namespace lockstep::engine {

void LoadedModule::limit(int registers, std::uint32_t threads) {
  for (Function& f : program_->functions) {
    if (registers != 0) f.registers = std::min(f.registers, registers);
    // A kernel's own bound takes precedence over an option.
    if (threads != 0 && f.max_threads[0] == 0) f.max_threads[0] = threads;
  }
}

std::uint32_t LoadedKernel::max_threads_per_block() const {
  std::uint64_t threads = 1024;
  const auto product = [](const std::uint32_t* d) {
    return std::uint64_t{d[0]} * std::max(d[1], 1u) * std::max(d[2], 1u);
  };
  const Function& f = function();
  if (f.max_threads[0] != 0) threads = std::min(threads, product(f.max_threads));
  if (f.required_threads[0] != 0) threads = std::min(threads, product(f.required_threads));
  return static_cast<std::uint32_t>(threads);
}

bool LoadedKernel::may_poll() const {
  const auto begin = program_.ops.begin() + function().entry,
             end = program_.ops.begin() + function().end;
  return function().calls || std::any_of(begin, end, [](const Op& op) {
           const auto space = static_cast<isa::Space>(op.space);
           return (space == isa::Space::kGlobal || space == isa::Space::kGeneric) &&
                  program::MemoryFields::fits(op.action) &&
                  op.as<program::MemoryFields>().has(program::kStrong);
         });
}

LoadedModule::LoadedModule(std::unique_ptr<Program> program, memory::DeviceMemory& memory)
    : program_(std::move(program)), translations_(*program_), memory_(memory) {
  for (std::size_t f = 0; f < program_->functions.size(); ++f) {
    if (!program_->functions[f].is_kernel) continue;
    kernels_.push_back(std::make_unique<LoadedKernel>(*program_, f, translations_));
    by_name_[program_->functions[f].name] = kernels_.back().get();
  }
}

LoadedModule::~LoadedModule() {
  if (memory_.race_state() != nullptr) RaceHistory::of(memory_).forget(*program_);
  for (const memory::Allocation* allocation : program_->placed) {
    if (allocation->kind != memory::Kind::kManaged) memory_.release(allocation->base);
  }
}

void LoadedModule::check_idle() const {
  for (const auto& kernel : kernels_) {
    if (kernel->is_under_way())
      throw std::logic_error("a launch of " + kernel->name() + " is under way");
  }
}

const Kernel* LoadedModule::find_kernel(std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? nullptr : it->second;
}

const memory::Allocation* LoadedModule::find_variable(std::string_view name) const {
  const auto it = program_->variables.find(std::string(name));
  return it == program_->variables.end() ? nullptr : it->second;
}

std::vector<const Kernel*> LoadedModule::kernels() const {
  std::vector<const Kernel*> all;
  for (const auto& k : kernels_) all.push_back(k.get());
  return all;
}

std::vector<LoadError> LoadedModule::refusals() const {
  std::vector<LoadError> all;
  for (const Function& f : program_->functions) {
    // The refusal of a kernel that calls a refused function names that function.
    if (f.refusal && f.refusal->function == f.name) all.push_back(*f.refusal);
  }
  return all;
}

std::variant<std::unique_ptr<Module>, LoadError> load_module(
    std::span<const std::string_view> texts, memory::DeviceMemory& memory, int device,
    ManagedVariables* managed, RegisterPlaces places) {
  // Every processor with these has F16C and LZCNT.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("bmi2")) {
    return LoadError{
        "the simulated GPU needs a processor with AVX2, FMA and BMI2; this one has not", 0, 0, ""};
  }
  std::vector<ptx::Module> modules;
  for (const std::string_view text : texts) {
    auto parsed = ptx::parse(text);
    if (auto* error = std::get_if<ptx::ParseError>(&parsed)) {
      const int line = error->line;
      const std::string function = error->function;
      error->function = compile::demangled(function);
      return LoadError{error->to_string(), modules.size(), line, function};
    }
    modules.push_back(std::move(std::get<ptx::Module>(parsed)));
  }
  auto compiled =
      compile::compile(modules, memory, device, managed != nullptr ? *managed : ManagedVariables(),
                       places, handlers());
  if (auto* error = std::get_if<LoadError>(&compiled)) return std::move(*error);
  if (managed != nullptr) *managed = std::get<std::unique_ptr<Program>>(compiled)->managed;
  return std::make_unique<LoadedModule>(std::move(std::get<std::unique_ptr<Program>>(compiled)),
                                        memory);
}

std::optional<LoadError> first_refusal(
    const std::variant<std::unique_ptr<Module>, LoadError>& loaded) {
  if (const auto* error = std::get_if<LoadError>(&loaded)) return *error;
  std::vector<LoadError> of_functions = std::get<std::unique_ptr<Module>>(loaded)->refusals();
  if (of_functions.empty()) return std::nullopt;
  return std::move(of_functions.front());
}

}  // namespace lockstep::engine
