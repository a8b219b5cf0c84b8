// Machine code of kernels (simulator/translate), and how it is held against the interpreter.
#pragma once

#include <memory>
#include <mutex>

#include "simulator/engine/state/launch_state.h"
#include "simulator/program/program.h"
#include "simulator/translate/translation.h"

namespace lockstep::engine {

// The translations of a module: those whose code runs alone, and those whose code also calls what
// compares each run of operations with the interpreter; of each one that loads from shared memory
// by itself.
class Translations {
 public:
  explicit Translations(const program::Program& program) : program_(program) {}
  // Of a kernel of the program, translated now if it has not been.
  const translate::Translation& of(const program::Function& kernel, bool compares, bool loads);
  // The program is another's from now on. No launch may be under way.
  void forget();

 private:
  const program::Program& program_;
  std::mutex mutex_;
  std::unique_ptr<translate::Translation> made_[2][2];  // index: compares, loads
};

class LoadedKernel;

// Sets Launch::translation as the configuration says.
void translate_kernel(Launch& l, const LoadedKernel& loaded);

}  // namespace lockstep::engine
