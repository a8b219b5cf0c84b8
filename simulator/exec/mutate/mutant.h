// A mutant in the command's process, and its verdict.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::exec {

enum class Verdict {
  kNotJudged,     // no round has completed it
  kNotCovered,    // nothing executed its place
  kInvalid,       // the changed code does not compile
  kKilledByLaw,   // the program's own exit status changed, with or without checks
  kKilledByTime,  // it exceeded its time, or made no progress
  kKilledByCrash,
  kKilledByChecks,  // the program passed, but the simulated GPU found an error
  kSurvived,
};
bool is_killed(Verdict verdict);
// "killed by the program", "survived", ...
const char* name_of(Verdict verdict);

struct Mutant {
  int id = 0;
  bool of_call = false;
  std::string op, change;  // operator by name; in words
  // For a mutant of a kernel.
  std::string code;
  std::array<std::uint32_t, 4> place{};
  std::string function, text;  // demangled; the PTX instruction
  // For a mutant of a call.
  std::string site, call_change, api, object;
  std::uint64_t offset = 0;
  // Its place; line 0 if the program has no line information.
  std::string file;
  int line = 0, column = 0;

  Verdict verdict = Verdict::kNotJudged;
  std::string reason;      // what killed it, in a few words, or why it could not be judged
  std::string equivalent;  // why it behaves as the original, if --equivalents lists it
  bool excused =
      false;  // it is listed as equivalent, and this is trusted: only a few launches are made
  bool trusted = false;  // it survived these launches, and the rest was not run
  double seconds = 0;
  // An identifier that is the same in every survey of the same program; plans use it.
  std::string key() const;
};

// By mutant: the first launch or call of a run that reaches it; 0: none.
struct Survey {
  int status = 0;
  bool threads = false;
  std::uint64_t instructions = 0;
  double seconds = 0;
  bool checks = false;  // the simulated GPU's checks ran
  std::vector<Mutant> mutants;
  std::vector<std::uint64_t> at;   // by mutant
  std::vector<std::size_t> parts;  // by mutant: index into sets
  std::vector<std::string> sets;   // of parts of the program (runtime/mutation/parts.h)
  std::uint64_t part_count = 0;
  std::string counters;  // the parts that read the counters of launches
};

// Reads the file of a survey (runtime/mutation/survey.h). Returns false if there is none: no kernel
// was launched, or the program crashed.
bool read_survey(const std::string& path, Survey* survey);

}  // namespace lockstep::exec
