// The settings of the environment, read once and checked: a mistyped setting is an error, never
// silently ignored.
//
//   LOCKSTEP_DEVICE=sm_90         the simulated device (profile.h); default sm_90
//   LOCKSTEP_DEVICES=1            the number of devices, 0 ... 64
//   LOCKSTEP_MEMORY=8             device memory in GiB; default: the part's, but at most a quarter
//                                 of the host's memory, so that memory and its shadow (up to
//                                 3.2 bytes a byte) fit
//   LOCKSTEP_CHECKS=all           all, none, or a comma-separated list of bounds, initialisation,
//                                 races, synchronisation, leaks, strict-barriers, strict-libraries,
//                                 strict-proxies, strict-writes; all is the first four; a leading
//                                 '-' takes one away from all: "-races"
//   LOCKSTEP_SCHEDULE=0           seed of the schedule; 0 is the deterministic order
//   LOCKSTEP_HOST_THREADS=0       host threads that run blocks; 0: as many as the machine has
//   LOCKSTEP_INSTRUCTION_LIMIT=N  warp instructions a block may run before a time-limit finding;
//                                 0: no limit; default kInstructionLimit
//   LOCKSTEP_QUIET=0              1: findings and explanations are not printed as they happen
//   LOCKSTEP_COLOR=0              1: findings are printed with a terminal's colours
//   LOCKSTEP_SUPPRESSIONS=FILE    known findings that are not reported (check/suppressions.h)
//   LOCKSTEP_GO_ON=0              1: a kernel continues after a finding where it can (a race, an
//                                 unwritten value, ...), and each place is reported once
//   LOCKSTEP_API_ERRORS=0         1: failed calls of the API are findings, also refused launches
//   LOCKSTEP_RECORD=FILE          the record for `lockstep exec` (record.h)
//   LOCKSTEP_MUTATION=FILE        the request of `lockstep mutate` (runtime/mutation/plan.h)
//   LOCKSTEP_REGISTERS=shared     separate: every virtual register has a place of its own, to test
//                                 whether shared places change a result
//   LOCKSTEP_COUNT=0              1: memory transactions are counted from the first launch on
//   LOCKSTEP_COVERAGE=0           1: executed instructions are counted, and left in LOCKSTEP_RECORD
//                                 for `lockstep coverage`
//   LOCKSTEP_STREAMS=late         operations of streams are executed as late as the program allows,
//                                 or as LOCKSTEP_SCHEDULE chooses; at-once: when they are put
//   LOCKSTEP_HOST_ACCESSES=watch  accesses of the host to pinned, managed and registered memory are
//                                 compared with operations (state/host_watch.h); ignore: they are
//                                 not, and no page is protected
//   LOCKSTEP_PROOF=on             what is proved before a launch is not checked again; off: it is;
//                                 compare: it is, and the process stops where the proof was wrong
//                                 (simulator/proof)
//   LOCKSTEP_TRANSLATE=on         warps run machine code made of the kernel once it has executed
//                                 enough; off: they do not; always: from its first launch on;
//                                 compare: that, held against the interpreter, and the process
//                                 stops at the first difference (simulator/translate)
//   LOCKSTEP_REPEATS=on           a launch that repeats an earlier one on the same memory is not
//                                 executed, where looking for such launches pays; off: it is;
//                                 always: they are looked for at any cost; compare: that, and they
//                                 are executed, and the process stops where one leaves other memory
//                                 (repeats/repeats.h)
//   LOCKSTEP_PROFILE=0            1: where the time of kernels goes is recorded (exec --profile)
//   LOCKSTEP_CERTIFICATE=0        1: what is proved of each launch is recorded (exec --certificate)
//   CUDA_LAUNCH_BLOCKING=0        1: a launch itself returns the kernel's error, as NVIDIA's
//                                 runtime does
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "simulator/check/finding.h"
#include "simulator/check/suppressions.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/runtime/repeats/repeats.h"
#include "simulator/runtime/state/profile.h"

namespace lockstep::runtime {

// 2^36: about ten seconds of a GPU's multiprocessor that does nothing else, and a quarter of an
// hour or more here.
inline constexpr std::uint64_t kInstructionLimit = std::uint64_t{1} << 36;

struct Settings {
  const Profile* profile = find_profile("sm_90");
  int devices = 1;
  std::uint64_t memory_bytes = 0;  // of each device; 0: choose (device_memory_bytes)
  std::uint32_t checks = check::kAllChecks;
  std::uint64_t schedule = 0;
  int host_threads = 0;
  std::uint64_t instruction_limit = kInstructionLimit;
  bool colours = false;  // print findings with terminal colours
  bool quiet = false;
  bool count = false;
  bool coverage = false;
  bool go_on = false;
  bool api_errors = false;
  engine::RegisterPlaces registers = engine::RegisterPlaces::kShared;
  std::string record;
  std::string mutation;
  check::Suppressions suppressions;
  bool launch_blocking = false;
  bool streams_at_once = false;
  bool host_accesses = true;
  engine::LaunchConfig::Proof proof = engine::LaunchConfig::Proof::kOn;
  engine::LaunchConfig::Translate translate = engine::LaunchConfig::Translate::kOn;
  Repeats::Mode repeats = Repeats::Mode::kOn;
  bool certificate = false;
  bool time_profile = false;
};

using Lookup =
    std::function<const char*(const char* name)>;  // std::getenv, or a test's replacement

// The names of the environment's variables that begin with LOCKSTEP_.
std::vector<std::string> names_in_environment();

// Returns the settings, or a message that names the variable, its value and the allowed values.
// `set`: names that may be misspelt settings. One that is none, but resembles one, is an error;
// other programs may have variables of other names.
std::variant<Settings, std::string> read_settings(const Lookup& value_of,
                                                  const std::vector<std::string>& set = {});

// "all", "none", or the names of the enabled checks: "bounds, races".
std::string names_of_checks(std::uint32_t checks);

// Bytes of device memory under `settings`, given the bytes that the host may use.
std::uint64_t device_memory_bytes(const Settings& settings, std::uint64_t host_bytes);
// Physical memory, or the control group's limit where that is lower.
std::uint64_t host_memory_bytes();

}  // namespace lockstep::runtime
