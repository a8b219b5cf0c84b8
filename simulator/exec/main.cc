// lockstep-exec exec|counters|coverage|mutate [OPTION...] -- PROGRAM [ARGUMENT...]: runs a CUDA program on the simulated GPU. docs/exec.md,
// docs/coverage.md and docs/mutation.md are its manuals.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "simulator/exec/child.h"
#include "simulator/exec/counter_table.h"
#include "simulator/exec/mutate/mutate.h"
#include "simulator/exec/preflight.h"
#include "simulator/exec/report.h"
#include "simulator/exec/run_record.h"
#include "simulator/exec/tracefile.h"
#include "simulator/runtime/state/environment.h"

namespace lockstep::exec {
namespace {

namespace fs = std::filesystem;

// Exit statuses of our own; every other one is the program's.
constexpr int kUsage = 2, kFindings = 86, kNoKernel = 87, kNoReport = 88, kRefused = 126, kNotFound = 127;

constexpr const char* kLibrary = "libcudart.so.13";
constexpr const char* kAudit = "liblockstep_audit.so";  // leads statically linked runtimes to it (audit/)

enum class Mode { kExec, kCounters, kCoverage };

struct Options {
  Environment set;  // LOCKSTEP_... by what the command line says
  std::vector<std::string> reports;
  bool require_kernels = false, quiet = false, stop = false;
  std::string tracefile = "coverage.info", text;  // of coverage
  CoverageFiles files;
  std::vector<std::string> command;
};

int fail(int status, const std::string& sentence) {
  std::fprintf(stderr, "lockstep: %s\n", sentence.c_str());
  return status;
}

// The folder of the simulated runtime: the program's own, its parent (a Bazel output tree), the parent's lib, or lib/lockstep of the prefix under which
// it is installed as libexec/lockstep/lockstep-exec.
std::string library_folder(const char* self) {
  std::error_code error;
  std::vector<fs::path> places = {fs::absolute(self, error).parent_path()};
  if (const fs::path real = fs::read_symlink("/proc/self/exe", error); !real.empty()) places.push_back(real.parent_path());
  for (const fs::path& place : places) {
    const fs::path above = place.parent_path();
    for (const fs::path& folder : {place, above, above / "lib", above.parent_path() / "lib" / "lockstep"}) {
      if (fs::exists(folder / kLibrary, error)) return folder.string();
    }
  }
  return {};
}

void add_settings(CLI::App& app, Options& options) {
  const auto setting = [&](const char* flag, const char* variable, const char* help) {
    app.add_option_function<std::string>(
        flag, [&options, variable](const std::string& value) { options.set[variable] = value; }, help);
  };
  setting("--check", "LOCKSTEP_CHECKS",
          "which checks run: all, none, or some of bounds, initialisation, races, synchronisation, leaks; -races: all but races; all,leaks: all, and leaks");
  setting("--device", "LOCKSTEP_DEVICE", "which device is simulated: sm_75, sm_80, sm_90, sm_100, sm_120");
  setting("--devices", "LOCKSTEP_DEVICES", "how many of them");
  setting("--memory", "LOCKSTEP_MEMORY", "GiB of memory of each device");
  setting("--schedule", "LOCKSTEP_SCHEDULE", "seed of the schedule; 0 is the deterministic order");
  setting("--threads", "LOCKSTEP_HOST_THREADS", "host threads that run blocks; 0: as many as the machine has");
  setting("--instruction-limit", "LOCKSTEP_INSTRUCTION_LIMIT", "warp instructions a block may run before a time-limit finding");
  setting("--suppressions", "LOCKSTEP_SUPPRESSIONS", "file of findings to keep quiet about: lines of KIND KERNEL");
  app.add_flag("--quiet", options.quiet, "no findings and no summary on stderr");
}

void add_report_options(CLI::App& app, Options& options) {
  app.add_option("--report", options.reports, "write the findings to FILE: .json, .sarif, else text; may be repeated")->allow_extra_args(false);
  app.add_flag("--stop", options.stop, "end a launch at its first finding; else a kernel goes on where it can, and each place is told once");
  app.add_flag("--require-kernels", options.require_kernels, "exit with 87 when no kernel was launched");
}

void add_coverage_options(CLI::App& app, Options& options) {
  app.add_option("--out", options.tracefile, "the tracefile, in lcov's format")->capture_default_str();
  app.add_option("--text", options.text, "write what was not executed, for people, to FILE; -: stdout");
  app.add_option("--only", options.files.only, "tell of files whose names in the program begin with PREFIX alone; may be repeated")->allow_extra_args(false);
  app.add_flag("--toolkit", options.files.toolkit, "tell of the CUDA toolkit's headers too");
  app.add_option("--source-root", options.files.root, "folder that relative names of source files begin in; default: this one");
}

// A temporary file that is removed at the end.
class Scratch {
 public:
  Scratch() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "lockstep-record.XXXXXX").string();
    const int file = mkstemp(path_.data());
    if (file >= 0)
      close(file);
    else
      path_.clear();
  }
  ~Scratch() {
    if (!path_.empty()) unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The program's own status, unless it is 0 and something speaks against that.
int judge(int status, const RunRecord& record, bool require_kernels) {
  if (status != 0) return status;
  if (record.untaken_errors) return kFindings;
  return require_kernels && record.kernels.empty() ? kNoKernel : 0;
}

// Reads the settings, finds the simulated runtime and looks at the program; `set` and `command` become what it is started with. 0, or an exit status: why
// it cannot be is on stderr.
int get_ready(Environment& set, std::vector<std::string>& command, const char* self) {
  const auto settings = runtime::read_settings([&](const char* name) -> const char* {
    const auto it = set.find(name);
    return it != set.end() ? it->second.c_str() : std::getenv(name);
  });
  if (const auto* error = std::get_if<std::string>(&settings)) return fail(kUsage, *error);
  const std::string folder = library_folder(self);
  if (folder.empty()) return fail(kRefused, std::string("the simulated ") + kLibrary + " is not beside this program");
  const Preflight look = look_at(command.front(), folder, std::get<runtime::Settings>(settings).profile->compute_capability());
  for (const std::string& sentence : look.sentences) fail(0, sentence);
  if (look.verdict != Preflight::Verdict::kGo) return look.verdict == Preflight::Verdict::kNotFound ? kNotFound : kRefused;
  if (access((folder + "/" + kAudit).c_str(), R_OK) != 0) return fail(kRefused, std::string(kAudit) + " is not beside the simulated " + kLibrary);
  set["LD_LIBRARY_PATH"] = with_first("LD_LIBRARY_PATH", folder);
  set["LD_AUDIT"] = with_first("LD_AUDIT", folder + "/" + kAudit);
  if (look.preload) set["LD_PRELOAD"] = with_first("LD_PRELOAD", folder + "/" + kLibrary);
  command.front() = look.program;
  return 0;
}

bool write_file(const std::string& path, const std::string& text) {
  if (path == "-") return std::fputs(text.c_str(), stdout) >= 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) fail(0, path + " cannot be written: " + std::strerror(errno));
  return static_cast<bool>(file);
}

// Writes tracefile and text, and prints the table; false, with a sentence, when there is nothing to write or it cannot be written.
bool tell_coverage(const Options& options, const RunRecord& record) {
  if (record.unfinished > 0) fail(0, "a process did not end normally: what its kernels executed is missing");
  if (record.coverage.empty()) {
    fail(0, record.kernels.empty() ? "no kernel was launched on the simulated GPU, so nothing was covered" : "nothing is known of what was executed");
    return false;
  }
  const SourceCoverage all = by_source(record.coverage);
  if (all.files.empty()) {
    fail(0, "the program's kernels have no line information, so nothing can be said by line: compile them with nvcc -lineinfo");
    return false;
  }
  if (!all.without_lines.empty()) {
    fail(0, std::to_string(all.without_lines.size()) + " kernels have no line information (nvcc -lineinfo) and are left out, such as " +
                all.without_lines.front());
  }
  const SourceCoverage told = select(all, options.files);
  if (told.files.empty()) {
    fail(0, "no file is left to tell of: none of the " + std::to_string(all.files.size()) + " begins as --only says");
    return false;
  }
  if (!write_file(options.tracefile, tracefile(told))) return false;
  if (!options.text.empty() && !write_file(options.text, coverage_text(told))) return false;
  std::fputs(coverage_table(told).c_str(), stdout);
  if (!options.quiet) fail(0, "tracefile: " + options.tracefile + (options.text.empty() ? "" : ", text: " + options.text));
  return true;
}

int run(Options options, Mode mode, const char* self) {
  if (mode == Mode::kCounters) options.set.try_emplace("LOCKSTEP_COUNT", "1");
  if (mode == Mode::kCoverage) options.set["LOCKSTEP_COVERAGE"] = "1";
  if (mode != Mode::kExec && std::getenv("LOCKSTEP_CHECKS") == nullptr) options.set.try_emplace("LOCKSTEP_CHECKS", "none");
  if (options.quiet) options.set["LOCKSTEP_QUIET"] = "1";
  for (const char* variable : {"LOCKSTEP_GO_ON", "LOCKSTEP_API_ERRORS"}) {
    // Coverage looks on: the program's findings and errors are what they are without it.
    if (mode != Mode::kCoverage && std::getenv(variable) == nullptr) options.set[variable] = "1";
  }
  if (options.stop) options.set["LOCKSTEP_GO_ON"] = "0";
  std::vector<std::string> command = options.command;
  if (const int status = get_ready(options.set, command, self); status != 0) return status;

  const Scratch scratch;
  if (scratch.path().empty()) return fail(kRefused, "no temporary file can be made (TMPDIR)");
  options.set["LOCKSTEP_RECORD"] = scratch.path();
  std::fflush(nullptr);
  const int status = run_child(command, options.set);

  ProgramRun done{options.command, 0, read_run_record(scratch.path())};
  if (mode == Mode::kCoverage) {
    const bool told = tell_coverage(options, done.record);
    return status == 0 && !told ? kNoReport : status;
  }
  done.exit_status = judge(status, done.record, options.require_kernels);
  bool reported = true;
  for (const std::string& path : options.reports) {
    std::string error;
    if (!write_report(done, path, &error)) {
      fail(0, "the report cannot be written: " + error);
      reported = false;
    }
  }
  if (done.exit_status == kNoKernel) fail(0, "no kernel was launched on the simulated GPU, so nothing was checked");
  if (!options.quiet) fail(0, summary(done.record));
  if (mode == Mode::kCounters) {
    std::fputs(counter_table(done.record).c_str(), stdout);
    if (done.record.unfinished > 0) fail(0, "a process did not end normally: the counters of its kernels are missing");
  }
  return done.exit_status == 0 && !reported ? kNoReport : done.exit_status;
}

void add_mutate_options(CLI::App& app, MutateOptions& o) {
  app.add_option("--mutants", o.sample, "judge so many mutants, chosen by chance; 0: all")->check(CLI::NonNegativeNumber);
  app.add_option("--seed", o.seed, "seed of that choice");
  app.add_option("--operators", o.operators, "only these kinds of change, by name, or kernels, or calls; several between commas")->delimiter(',');
  app.add_option("--jobs", o.jobs, "mutants that run at the same time; 0: as many as the machine has processors")->check(CLI::NonNegativeNumber);
  app.add_option("--out", o.out, "folder of the reports")->capture_default_str();
  app.add_option("--fail-under", o.fail_under, "exit with 1 when fewer per cent of the mutants are killed")->check(CLI::Range(0, 100));
  app.add_option("--files", o.files, "only kernels from source files whose path this regular expression fits");
  app.add_option("--callers", o.callers, "only calls of the runtime from functions whose name this regular expression fits");
  app.add_option("--equivalents", o.equivalents, "file of mutants that nothing can tell from the original: FILE: SOURCE LINE ~ OPERATOR ~ CHANGE ~ REASON");
  app.add_option("--first", o.first, "argument that makes the program do less, for a first round; may be repeated")->allow_extra_args(false);
  app.add_option("--sources", o.sources, "folder in which source files are looked for; may be repeated")->allow_extra_args(false);
  app.add_flag("--resume", o.resume, "go on with what an interrupted command has left in --out");
}

int main(int argc, char** argv) {
  CLI::App app("Runs a CUDA program on Lockstep's simulated GPU.");
  app.name("lockstep");
  app.require_subcommand(1);
  Options options;
  CLI::App* exec = app.add_subcommand("exec", "run PROGRAM with all checks and report what they find");
  CLI::App* counters = app.add_subcommand("counters", "run PROGRAM and print its kernels' counters; no checks unless --check asks for some");
  CLI::App* coverage = app.add_subcommand("coverage", "run PROGRAM and write which lines and branches of its kernels were executed, for genhtml and editors");
  CLI::App* mutate_command = app.add_subcommand("mutate", "judge the tests that PROGRAM is by mutants of its kernels and of its calls of the runtime");
  MutateOptions mutation;
  add_mutate_options(*mutate_command, mutation);
  add_coverage_options(*coverage, options);
  for (CLI::App* command : {exec, counters}) add_report_options(*command, options);
  for (CLI::App* command : {exec, counters, coverage}) add_settings(*command, options);
  for (CLI::App* command : {exec, counters, coverage, mutate_command}) {
    command->footer("Write -- and then the program: [OPTION...] -- PROGRAM [ARGUMENT...]");
  }
  // What follows the first "--" is the program's alone.
  const auto dashes = std::find(argv + 1, argv + argc, std::string("--"));
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (argv + argc - dashes < 2) return fail(kUsage, "no program: write -- PROGRAM [ARGUMENT...] after the options");
  options.command.assign(dashes + 1, argv + argc);
  if (mutate_command->parsed()) {
    Environment set;
    std::vector<std::string> command = options.command;
    if (const int status = get_ready(set, command, argv[0]); status != 0) return status;
    return mutate(mutation, command, set);
  }
  return run(std::move(options), coverage->parsed() ? Mode::kCoverage : counters->parsed() ? Mode::kCounters : Mode::kExec, argv[0]);
}

}  // namespace
}  // namespace lockstep::exec

int main(int argc, char** argv) { return lockstep::exec::main(argc, argv); }
