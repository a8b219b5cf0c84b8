// A mutant as the command knows it, and what became of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::exec {

enum class Verdict {
  kNotJudged,     // no round has run it to an end
  kNotCovered,    // nothing executed its place
  kInvalid,       // the changed code cannot be compiled
  kKilledByLaw,   // the program's own exit status is another, without or with checks
  kKilledByTime,  // it ran longer than it may, or stood still
  kKilledByCrash,
  kKilledByChecks,  // the program was content; the simulated GPU found something
  kSurvived,
};
bool is_killed(Verdict verdict);
// "killed by the program", "survived", ...
const char* name_of(Verdict verdict);

struct Mutant {
  int id = 0;
  bool of_call = false;
  std::string op, change;  // operator by name; in words
  // Of a kernel.
  std::string code;
  std::array<std::uint32_t, 4> place{};
  std::string function, text;  // demangled; the PTX instruction
  // Of a call.
  std::string site, call_change, api, object;
  std::uint64_t offset = 0;
  // Its place; line 0 when the program has no line information.
  std::string file;
  int line = 0, column = 0;

  Verdict verdict = Verdict::kNotJudged;
  std::string reason;      // what killed it, in a few words; why it could not be judged
  std::string equivalent;  // why it behaves as the original does, if --equivalents says so
  bool excused = false;    // it is said to be equivalent, and that is trusted: a few launches do
  bool trusted = false;    // survived these, and the rest was not run
  double seconds = 0;
  // The same in every survey of the same program: what a plan goes by.
  std::string key() const;
};

// Which launch or call of a run comes to a mutant first, by key; 0 for none.
struct Survey {
  int status = 0;
  bool threads = false;
  std::uint64_t instructions = 0;
  double seconds = 0;
  bool checks = false;  // the simulated GPU's checks ran
  std::vector<Mutant> mutants;
  std::vector<std::uint64_t> at;   // of each
  std::vector<std::size_t> parts;  // of each: index into sets
  std::vector<std::string> sets;   // of parts of the program (runtime/mutation/parts.h)
  std::uint64_t part_count = 0;
  std::string counters;  // those that look at the counters of launches
};

// Reads the file that a survey left (runtime/mutation/survey.h). False when there is none: no
// kernel was launched, or the program crashed.
bool read_survey(const std::string& path, Survey* survey);

}  // namespace lockstep::exec
