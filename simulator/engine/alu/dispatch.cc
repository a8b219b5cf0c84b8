// Picks the instruction set at start-up. Compiled for the plain architecture: it must run anywhere.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "simulator/engine/isa.h"

namespace lockstep::engine {
namespace {

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");  // every processor with these has f16c and lzcnt
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "lockstep: %s\n", what);
  std::abort();
}

AluResolver choose() {
  const char* wanted = std::getenv("LOCKSTEP_ISA");
  if (wanted == nullptr || *wanted == 0) {
    if (has_avx512()) return avx512::resolve_alu;
    if (has_avx2()) return avx2::resolve_alu;
    give_up("the simulated GPU needs a processor with AVX2, FMA and BMI2; this one has not");
  }
  if (std::strcmp(wanted, "avx512") == 0) {
    if (has_avx512()) return avx512::resolve_alu;
    give_up("LOCKSTEP_ISA=avx512, but this processor has not AVX-512 F, BW, VL and DQ; try avx2");
  }
  if (std::strcmp(wanted, "avx2") == 0) {
    if (has_avx2()) return avx2::resolve_alu;
    give_up("LOCKSTEP_ISA=avx2, but this processor has not AVX2, FMA and BMI2");
  }
  give_up("LOCKSTEP_ISA must be avx2 or avx512");
}

}  // namespace

AluResolver alu_resolver() {
  static const AluResolver resolver = choose();
  return resolver;
}

}  // namespace lockstep::engine
