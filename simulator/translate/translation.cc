#include "simulator/translate/translation.h"

#include <iterator>
#include <new>

#include "simulator/translate/functions.h"
#include "simulator/translate/operations.h"
#include "simulator/translate/run_of_lanes.h"

namespace lockstep::translate {

bool is_translated(const program::Program& program, std::uint32_t pc) {
  const program::Op& op = program.ops[pc];
  const program::Meaning& meaning = program.meanings[pc];
  if (emitter_of(op, meaning, program) == nullptr) return false;
  Xbyak::CodeGenerator code(64, Xbyak::AutoGrow);
  ConstantPool pool;
  return RunOfLanes(code, pool, program, /*masked=*/false).admits(op, meaning);
}

Translation::Translation(const program::Program& program, const WarpLayout& layout,
                         const Watch& watch, const Answers& answers)
    : program_(program),
      layout_(layout),
      watch_(watch),
      answers_(answers),
      all_(Lanes::kAll, program.ops.size() + 1),
      some_(Lanes::kSome, program.ops.size() + 1),
      translated_(program.functions.size()),
      stops_(program.ops.size() + 1) {}

Translation::OfLanes::OfLanes(Lanes lanes, std::size_t operations)
    : enter_code(translate::enter_code(lanes)),
      enter(reinterpret_cast<Enter>(reinterpret_cast<std::uintptr_t>(enter_code.begin()))),
      entries(operations) {}

void Translation::add(const program::Function& kernel) {
  const std::lock_guard lock(mutex_);
  if (translated_[static_cast<std::size_t>(&kernel - program_.functions.data())]) return;
  for (const std::size_t index : functions_called(program_, kernel)) {
    if (translated_[index]) continue;
    translated_[index] = true;
    for (const Lanes lanes : {Lanes::kAll, Lanes::kSome}) add_function(index, lanes);
  }
}

void Translation::add_function(std::size_t index, Lanes lanes) {
  const program::Function& function = program_.functions[index];
  try {
    FunctionCode made = translate_function(program_, function, layout_, watch_, answers_, lanes);
    MachineCode code(made.code);
    name_for_perf(code, function.demangled.c_str());
    OfLanes& of = lanes == Lanes::kAll ? all_ : some_;
    for (const std::uint32_t pc : made.stops) stops_[pc].store(true, std::memory_order_relaxed);
    for (const auto& [pc, offset] : made.entries)
      of.entries[pc].store(code.begin() + offset, std::memory_order_relaxed);
    code_.push_back(std::move(code));
    runs_.insert(runs_.end(), std::make_move_iterator(made.runs.begin()),
                 std::make_move_iterator(made.runs.end()));
    windows_.insert(windows_.end(), std::make_move_iterator(made.windows.begin()),
                    std::make_move_iterator(made.windows.end()));
  } catch (const std::bad_alloc&) {
    // The interpreter needs no more memory than it has.
  }
}

std::size_t Translation::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = all_.enter_code.bytes() + some_.enter_code.bytes();
  for (const MachineCode& code : code_) sum += code.bytes();
  return sum;
}

}  // namespace lockstep::translate
