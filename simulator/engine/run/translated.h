// Machine code of kernels (simulator/translate), and how it is held against the interpreter.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "simulator/engine/state/launch_state.h"
#include "simulator/engine/state/worker.h"
#include "simulator/program/program.h"
#include "simulator/translate/translation.h"
#include "simulator/translate/worth.h"

namespace lockstep::engine {

// The translations of a module: those whose code runs alone, and those whose code also calls what
// compares each run of operations with the interpreter; of each one that loads from shared memory
// by itself.
class Translations {
 public:
  explicit Translations(const program::Program& program) : program_(program) {}
  // Of a kernel of the program, translated now if it has not been; nullptr: the system has no
  // memory for it or forbids executable pages.
  const translate::Translation* of(const program::Function& kernel, bool compares, bool loads);
  // What a translation of the kernel would cost and bring.
  translate::Worth worth_of(const program::Function& kernel);
  // The program is another's from now on. No launch may be under way.
  void forget();

 private:
  const program::Program& program_;
  std::mutex mutex_;
  bool refused_ = false;  // by the system
  std::unordered_map<const program::Function*, translate::Worth> worths_;
  std::unique_ptr<translate::Translation> made_[2][2];  // index: compares, loads
};

class LoadedKernel;

// Sets Launch::translation as the configuration says, or after how many instructions it will be.
void translate_kernel(Launch& l, const LoadedKernel& loaded);

// Sets it if it is due: the host thread has executed so many instructions of warps in the launch.
void translate_now(Launch& l, std::uint64_t instructions);
inline void translate_if_due(Launch& l, const Worker& worker) {
  const std::uint64_t after = l.translate_after.load(std::memory_order_relaxed);
  if (__builtin_expect(worker.counters.warp_instructions >= after, 0))
    translate_now(l, worker.counters.warp_instructions);
}

}  // namespace lockstep::engine
