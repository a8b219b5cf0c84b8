#include "simulator/exec/mutate/mutate.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "command/save_file.h"
#include "simulator/exec/mutate/mutation_html.h"
#include "simulator/exec/mutate/mutation_json.h"
#include "simulator/exec/mutate/mutation_score.h"
#include "simulator/exec/mutate/rounds.h"
#include "simulator/mutation/operator.h"

namespace lockstep::exec {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kUsage = 2, kBelow = 1, kInterrupted = 130;

int fail(const std::string& sentence) {
  std::fprintf(stderr, "lockstep: %s\n", sentence.c_str());
  return kUsage;
}

// ---- Which mutants ------------------------------------------------------------------------------

constexpr const char* kCallOperators[] = {
    "grid-changed",  "block-exchanged",  "shared-memory-less", "stream-replaced",
    "size-changed",  "call-removed",     "error-swallowed",    "synchronisation-removed",
    "event-earlier", "stream-exchanged", "edge-removed"};

// Operators on calls that order operations. Only the surrounding function shows what such a call is
// for.
bool is_of_order(const std::string& name) {
  return name == "synchronisation-removed" || name == "event-earlier" ||
         name == "stream-exchanged" || name == "edge-removed";
}

bool is_call_operator(const std::string& name) {
  return std::find(std::begin(kCallOperators), std::end(kCallOperators), name) !=
         std::end(kCallOperators);
}

// An error message for an invalid operator name; empty if all are valid.
std::string wrong_operator(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "kernels" || name == "calls" || is_call_operator(name) ||
        mutation::operator_named(name))
      continue;
    std::string known = "kernels, calls";
    for (std::size_t i = 0; i < mutation::kOperators; ++i)
      known += ", " + std::string(mutation::name_of(static_cast<mutation::Operator>(i)));
    for (const char* call : kCallOperators) known += std::string(", ") + call;
    return "there is no operator '" + name + "'; there are " + known;
  }
  return {};
}

bool wanted(const Mutant& m, const std::vector<std::string>& names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& n) {
           return n == m.op || n == (m.of_call ? "calls" : "kernels");
         });
}

bool wants_calls(const std::vector<std::string>& names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [](const std::string& n) {
           return n == "calls" || is_call_operator(n);
         });
}

// Whether the program may mark its parts: it contains the name of the function for that.
bool names_parts(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return bytes.find("lockstepBeginPart") != bytes.npos;
}

// Finds the calling function and line of each runtime call with addr2line.
void name_callers(std::vector<Mutant>& mutants, const Environment& set) {
  std::map<std::string, std::set<std::uint64_t>> addresses;
  for (const Mutant& m : mutants)
    if (m.of_call) addresses[m.object].insert(m.offset);
  std::map<std::pair<std::string, std::uint64_t>, std::pair<std::string, std::string>> places;
  for (const auto& [object, offsets] : addresses) {
    std::vector<std::string> command = {"/usr/bin/addr2line", "-f", "-C", "-e", object};
    for (const std::uint64_t offset : offsets) {
      std::ostringstream text;
      text << std::hex << offset - 1;  // the call itself, not the return address
      command.push_back(text.str());
    }
    std::istringstream lines(output_of(command, set));
    std::string function, place;
    for (const std::uint64_t offset : offsets) {
      if (!std::getline(lines, function) || !std::getline(lines, place)) break;
      places[{object, offset}] = {function, place};
    }
  }
  for (Mutant& m : mutants) {
    const auto it = places.find({m.object, m.offset});
    if (!m.of_call || it == places.end()) continue;
    m.text = m.api + (m.function.empty() ? "" : " of " + m.function);
    m.function = it->second.first;
    if (is_of_order(m.op) && !m.function.starts_with("??")) m.text += " in " + m.function;
    const std::string& place = it->second.second;  // "file:line", with ?? and 0 if unknown
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos || place.starts_with("??")) continue;
    m.file = place.substr(0, colon);
    m.line = std::atoi(place.c_str() + colon + 1);
  }
}

void choose(std::vector<Mutant>& mutants, const MutateOptions& options) {
  const std::regex files(options.files), callers(options.callers);
  std::erase_if(mutants, [&](const Mutant& m) {
    if (!wanted(m, options.operators)) return true;
    return m.of_call ? !options.callers.empty() && !std::regex_search(m.function, callers)
                     : !options.files.empty() && !std::regex_search(m.file, files);
  });
  if (options.sample > 0 && static_cast<std::size_t>(options.sample) < mutants.size()) {
    std::vector<Mutant> some;
    std::sample(mutants.begin(), mutants.end(), std::back_inserter(some), options.sample,
                std::mt19937_64(options.seed));
    mutants = std::move(some);
  }
  for (std::size_t i = 0; i < mutants.size(); ++i) mutants[i].id = static_cast<int>(i) + 1;
}

// ---- Progress -----------------------------------------------------------------------------------

class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  ~Progress() {
    if (terminal_) std::fputs("\r\033[K", stderr);
  }
  void operator()(int done, int of) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (first_ < 0) first_ = done;
    const bool end = done == of;
    if (!terminal_ && !end && seconds < next_) return;
    next_ = seconds + 10;
    std::string left;
    if (!end && done > first_ && seconds > 3)
      left = ", some " +
             std::to_string(static_cast<int>(seconds / (done - first_) * (of - done)) + 1) +
             " s left";
    std::fprintf(stderr,
                 terminal_ ? "\r\033[Klockstep: %s: %d of %d mutants%s"
                           : "lockstep: %s: %d of %d mutants%s\n",
                 what_.c_str(), done, of, left.c_str());
  }

 private:
  std::string what_;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  double next_ = 0;
  int first_ = -1;
  Clock::time_point begin_ = Clock::now();
};

// ---- Processor time -----------------------------------------------------------------------------

// The processor time of child processes that have ended, by purpose.
class Costs {
 public:
  void add(const std::string& what) {
    const double now = so_far();
    if (what_.empty() || what_.back().first != what) what_.emplace_back(what, 0);
    what_.back().second += now - std::exchange(counted_, now);
  }
  std::string text() const {
    std::string text;
    for (const auto& [what, seconds] : what_) {
      char number[32];
      std::snprintf(number, sizeof number, "%.1f", seconds);
      text += (text.empty() ? "" : ", ") + what + " " + number;
    }
    return text;
  }

 private:
  static double so_far() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  std::vector<std::pair<std::string, double>> what_;
  double counted_ = so_far();
};

// ---- Files --------------------------------------------------------------------------------------

bool write_file(const std::string& path, const std::string& text) {
  const std::string error = command::save_file(path, text);
  if (!error.empty()) std::fprintf(stderr, "lockstep: %s\n", error.c_str());
  return error.empty();
}

// Identifies the set of mutants. A command may continue an earlier command's work only if their
// fingerprints agree.
std::string fingerprint(const std::vector<std::string>& command,
                        const std::vector<Mutant>& mutants) {
  std::string text;
  for (const std::string& word : command) text += word + "\n";
  for (const Mutant& m : mutants) text += m.key() + "\n";
  return text;
}

bool prepare(const MutateOptions& options, const std::vector<std::string>& command,
             const std::vector<Mutant>& mutants, const std::string& folder) {
  const std::string path = folder + "/mutants.txt", now = fingerprint(command, mutants);
  std::ifstream file(path, std::ios::binary);
  const std::string before{std::istreambuf_iterator<char>(file), {}};
  if (options.resume && before == now) return true;
  if (options.resume)
    std::fprintf(stderr, "lockstep: what is in %s is of other mutants: beginning anew\n",
                 folder.c_str());
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".jsonl") fs::remove(entry.path(), ignored);
  return write_file(path, now);
}

Sources sources_of(const MutateOptions& options) {
  std::vector<std::string> folders = options.sources;
  folders.emplace_back(".");
  return Sources(std::move(folders));
}

// An error message about the file of equivalents; empty if it is valid.
std::string name_equivalents(const MutateOptions& options, std::vector<Mutant>& mutants) {
  Sources sources = sources_of(options);
  return options.equivalents.empty() ? std::string()
                                     : read_equivalents(options.equivalents, mutants, sources);
}

int report(const MutateOptions& options, std::vector<Mutant>& mutants,
           const std::vector<std::string>& command, const Costs& costs, double seconds) {
  Sources sources = sources_of(options);
  if (const std::string wrong = name_equivalents(options, mutants); !wrong.empty())
    return fail(wrong);
  std::string text = text_report(mutants, sources);
  text += std::to_string(std::lround(seconds)) + " s in all; processor seconds: " + costs.text() +
          ".\n";
  std::fputs(text.c_str(), stdout);
  if (const std::string error = command::flush_stdout(); !error.empty()) return fail(error);
  const bool written =
      write_file(options.out + "/report.txt", text) &&
      write_file(options.out + "/mutation.json",
                 mutation_json(mutants, sources)
                     .dump(1, ' ', false, nlohmann::json::error_handler_t::replace)) &&
      write_file(options.out + "/mutation.html", mutation_html(mutants, sources, command));
  if (!written) return kUsage;
  std::fprintf(stderr,
               "lockstep: %s/mutation.html, mutation.json (schema of mutation-testing-elements), "
               "report.txt\n",
               options.out.c_str());
  if (interrupted) return kInterrupted;
  const Score score = score_of(mutants);
  if (options.fail_under >= 0 && score.percent_for_sure() < options.fail_under) {
    std::fprintf(stderr, "lockstep: %.1f %% is below --fail-under=%g", score.percent_for_sure(),
                 options.fail_under);
    std::fprintf(
        stderr,
        score.not_judged == 0 ? "\n" : "; %zu mutants were not judged and count as survivors\n",
        score.not_judged);
    return kBelow;
  }
  return score.killed() + score.survived == 0
             ? fail("no mutant was run to an end: nothing is known of the tests")
             : 0;
}

void interrupt(int) { interrupted = true; }

// Runs one round, with the whole program's survey if it fits this round. False, with a message, if
// the unchanged program fails.
bool judge(const Subject& subject, const Round& round, const Survey& whole,
           std::vector<Mutant>& mutants, Costs& costs, std::string* wrong) {
  const std::string name = round.checks              ? "with the simulated GPU's checks"
                           : round.arguments.empty() ? "the whole program"
                                                     : "first round";
  const auto run = [&](const Survey& survey) {
    Progress progress(name);
    const bool judged =
        run_round(subject, round, survey, mutants, [&](int done, int of) { progress(done, of); });
    costs.add(name);
    return judged;
  };
  // The whole program's survey fits if the program behaves alike with and without checks. Otherwise
  // run() returns false, and this round makes its own survey.
  if (round.arguments.empty() && (!round.checks || subject.compare) && run(whole)) return true;
  Survey survey;
  if (!make_survey(subject, round, &survey, wrong)) return interrupted;
  costs.add("the unchanged program");
  if (!run(survey) && !interrupted)
    fail("the unchanged program does not do the same each time (" + name +
         "): mutants that survived so far count as survivors");
  return true;
}

int judge_tests(const MutateOptions& options, const std::vector<std::string>& command,
                const Environment& set) {
  const auto begin = Clock::now();
  if (const std::string wrong = wrong_operator(options.operators); !wrong.empty())
    return fail(wrong);
  try {
    std::regex(options.files), std::regex(options.callers);
  } catch (const std::regex_error& error) {
    return fail(std::string("--files and --callers are regular expressions: ") + error.what());
  }
  std::error_code error;
  fs::create_directories(options.out, error);
  if (error) return fail(options.out + " cannot be made: " + error.message());
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, interrupt);

  Subject subject{command, set, fs::absolute(options.out).string(),
                  options.jobs > 0
                      ? options.jobs
                      : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};
  subject.compare = !options.whole_runs;
  if (subject.compare && !wants_calls(options.operators) && names_parts(command.front()))
    subject.survey_shares = static_cast<std::size_t>(subject.jobs);
  subject.set.try_emplace("GTEST_FAIL_FAST",
                          "1");  // a GoogleTest program ends at its first failure
  // First without checks and with a part of the program: this finds violations of the program's own
  // laws soonest.
  std::vector<Round> rounds;
  for (const bool checks : {false, true}) {
    if (!options.first.empty() && (!checks || options.whole_runs))
      rounds.push_back({checks ? "checks-first" : "first", options.first, checks});
    rounds.push_back({checks ? "checks" : "whole", {}, checks});
  }
  std::string wrong;
  Costs costs;
  Survey whole;
  if (!make_survey(subject, {"whole", {}, false}, &whole, &wrong)) return fail(wrong);
  costs.add("the unchanged program");
  if (whole.threads)
    fail(
        "the program has several threads when it launches kernels: a mutant that differs there is "
        "a run of its own, which takes longer");
  name_callers(whole.mutants, set);
  std::vector<Mutant> mutants = whole.mutants;
  choose(mutants, options);
  if (mutants.empty())
    return fail("no mutant is left to judge: see --operators, --files and --callers");
  if (!prepare(options, command, mutants, subject.folder)) return kUsage;
  // Reports errors in the list before the long runs.
  std::vector<Mutant> excused = mutants;
  if (wrong = name_equivalents(options, excused); !wrong.empty()) return fail(wrong);
  if (options.trust_equivalents) {
    for (std::size_t i = 0; i < mutants.size(); ++i)
      mutants[i].excused = !excused[i].equivalent.empty();
  }
  for (const Round& round : rounds) {
    if (!judge(subject, round, whole, mutants, costs, &wrong)) return fail(wrong);
    if (interrupted) break;
    for (Mutant& m : mutants) m.trusted = m.excused && m.verdict == Verdict::kSurvived;
  }
  std::set<std::string> covered;
  for (std::size_t i = 0; i < whole.mutants.size(); ++i)
    if (whole.at[i] != 0) covered.insert(whole.mutants[i].key());
  for (Mutant& m : mutants)
    if (m.verdict == Verdict::kNotJudged && !covered.contains(m.key()))
      m.verdict = Verdict::kNotCovered;
  return report(options, mutants, command, costs,
                std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace

int mutate(const MutateOptions& options, const std::vector<std::string>& command,
           const Environment& set) {
  try {
    return judge_tests(options, command, set);
  } catch (const std::runtime_error& error) {
    return fail(error.what());
  }
}

}  // namespace lockstep::exec
