#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/launch/proof_variable.h"
#include "simulator/engine/launch/translate_variable.h"
#include "simulator/fuzz/machine.h"
#include "simulator/fuzz/random_program.h"
#include "simulator/fuzz/targets.h"

namespace lockstep::fuzz {

void program(Bytes input) {
  const RandomProgram p = random_program(input);
  if (std::getenv("LOCKSTEP_FUZZ_PRINT") != nullptr) std::fputs(p.ptx.c_str(), stderr);
  Machine machine;
  const std::string_view texts[] = {p.ptx};
  const auto loaded = engine::load_module(texts, Machine::memory(), 0);
  if (const auto error = engine::first_refusal(loaded)) {
    std::fprintf(stderr, "a legal program was refused: %s\n%s", error->message.c_str(),
                 p.ptx.c_str());
    std::abort();
  }
  const auto& module = std::get<std::unique_ptr<engine::Module>>(loaded);
  engine::LaunchConfig config;
  config.grid = p.grid;
  config.block = p.block;
  config.cluster = p.cluster;
  config.dynamic_shared = p.dynamic_shared;
  config.cooperative = p.cooperative;
  config.checks = p.checks;
  config.proof = engine::proof_by_variable();
  config.translate = engine::translate_by_variable();
  config.schedule_seed = p.schedule_seed;
  machine.launch(*module->find_kernel("main"), config);
}

}  // namespace lockstep::fuzz
