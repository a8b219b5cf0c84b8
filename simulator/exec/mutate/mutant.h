// A mutant, as the command handles it, and its verdict.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::exec {

enum class Verdict {
  kNotJudged,     // no round has run it to the end
  kNotCovered,    // no launch or call reached its place
  kInvalid,       // the changed code cannot be compiled
  kKilledByLaw,   // the program's own exit status changed, with or without checks
  kKilledByTime,  // it exceeded its time limit or deadlocked
  kKilledByCrash,
  kKilledByChecks,  // the program passed; the simulated GPU reported an error
  kSurvived,
};
bool is_killed(Verdict verdict);
// "killed by the program", "survived", ...
const char* name_of(Verdict verdict);

struct Mutant {
  int id = 0;
  bool of_call = false;
  std::string op, change;  // the operator's name; the change in words
  // For a mutant of a kernel.
  std::string code;
  std::array<std::uint32_t, 4> place{};
  std::string function, text;  // demangled; the PTX instruction
  // For a mutant of a call.
  std::string site, call_change, api, object;
  std::uint64_t offset = 0;
  // The source place. `line` is 0 if the program has no line information.
  std::string file;
  int line = 0, column = 0;

  Verdict verdict = Verdict::kNotJudged;
  std::string reason;      // what killed it, or why it could not be judged
  std::string equivalent;  // the reason from --equivalents why it is equivalent to the original
  bool excused = false;    // declared equivalent and trusted: only a few launches run
  bool trusted = false;    // survived these launches; the rest was not run
  double seconds = 0;
  // The parts of the whole program in which it may have an effect, with checks or without (a text
  // of runtime/mutation/parts.h). nullopt: all parts that reach it.
  std::optional<std::string> felt;
  // The same in every survey of the same program; plans identify mutants by it.
  std::string key() const;
};

// For each mutant, by key, the first launch or call of a run that reaches it; 0 if none does.
struct Survey {
  int status = 0;
  bool threads = false;
  std::uint64_t instructions = 0;
  double seconds = 0;
  bool checks = false;  // the simulated GPU's checks ran
  std::vector<Mutant> mutants;
  std::vector<std::uint64_t> at;   // of each mutant
  std::vector<std::size_t> parts;  // of each mutant: index into sets
  std::vector<std::string> sets;   // sets of parts of the program (runtime/mutation/parts.h)
  std::uint64_t part_count = 0;
  std::string counters;  // the parts that read the counters of launches
};

// Reads the file of a survey (runtime/mutation/survey.h). False if it does not exist: no kernel was
// launched, or the program crashed.
bool read_survey(const std::string& path, Survey* survey);

}  // namespace lockstep::exec
