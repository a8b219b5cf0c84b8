// lockstep-exec exec|counters|coverage|mutate [OPTION...] -- PROGRAM [ARGUMENT...]: runs a CUDA
// program on the simulated GPU. docs/reference/exec.md, docs/reference/coverage.md and
// docs/reference/mutation.md are its manuals.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "command/command_line.h"
#include "command/save_file.h"
#include "simulator/exec/annotations.h"
#include "simulator/exec/certificate.h"
#include "simulator/exec/child.h"
#include "simulator/exec/clients/clients.h"
#include "simulator/exec/counter_table.h"
#include "simulator/exec/mutate/mutate.h"
#include "simulator/exec/preflight.h"
#include "simulator/exec/record_file.h"
#include "simulator/exec/report.h"
#include "simulator/exec/run_record.h"
#include "simulator/exec/time_table.h"
#include "simulator/exec/tracefile.h"
#include "simulator/exec/watch.h"
#include "simulator/runtime/state/environment.h"

namespace lockstep::exec {
namespace {

namespace fs = std::filesystem;

// This program's own exit statuses. Every other status is the simulated program's.
constexpr int kUsage = 2, kFindings = 86, kNoKernel = 87, kNoReport = 88, kRefused = 126,
              kNotFound = 127;

constexpr const char* kLibrary = "libcudart.so.13";
constexpr const char* kAudit =
    "liblockstep_audit.so";  // redirects statically linked runtimes to it (audit/)

using command::Command;
using Options = command::ExecArguments;

int fail(int status, const std::string& sentence) {
  std::fprintf(stderr, "lockstep: %s\n", sentence.c_str());
  return status;
}

// The folders that may contain this program: as it was called, and its real location.
std::vector<fs::path> own_folders(const char* self) {
  std::error_code error;
  std::vector<fs::path> places = {fs::absolute(self, error).parent_path()};
  if (const fs::path real = fs::read_symlink("/proc/self/exe", error); !real.empty())
    places.push_back(real.parent_path());
  return places;
}

// The folder of the simulated runtime. Candidates: the program's own folder, its parent (a Bazel
// output tree), the parent's lib, or lib/lockstep of the prefix if the program is installed as
// libexec/lockstep/lockstep-exec.
std::string library_folder(const char* self) {
  std::error_code error;
  for (const fs::path& place : own_folders(self)) {
    const fs::path above = place.parent_path();
    for (const fs::path& folder :
         {place, above, above / "lib", above.parent_path() / "lib" / "lockstep"}) {
      if (fs::exists(folder / kLibrary, error)) return folder.string();
    }
  }
  return {};
}

// The exit status to report: the program's own if it is not 0; otherwise the status for what went
// wrong in the run, if anything.
int judge(int status, const RunRecord& record, bool require_kernels) {
  if (status != 0) return status;
  if (record.untaken_errors) return kFindings;
  if (record.lossy) return kNoReport;
  return require_kernels && !record.has_work() ? kNoKernel : 0;
}

// Replaces a variable's name in a sentence about a setting, "LOCKSTEP_DEVICES='x' is not ...", by
// the option that set it.
std::string as_typed(const std::string& sentence, const Environment& set) {
  constexpr std::pair<const char*, const char*> kOptions[] = {
      {"LOCKSTEP_DEVICES", "--devices"},
      {"LOCKSTEP_MEMORY", "--memory"},
      {"LOCKSTEP_SCHEDULE", "--schedule"},
      {"LOCKSTEP_HOST_THREADS", "--threads"},
      {"LOCKSTEP_INSTRUCTION_LIMIT", "--instruction-limit"},
      {"LOCKSTEP_SUPPRESSIONS", "--suppressions"}};
  for (const auto& [variable, option] : kOptions) {
    const std::string begin = std::string(variable) + "=";
    if (set.contains(variable) && sentence.starts_with(begin))
      return std::string(option) + "=" + sentence.substr(begin.size());
  }
  return sentence;
}

// Reads the settings, finds the simulated runtime and inspects the program. `set` and `command`
// become the environment and command to start. Returns 0, or an exit status after a message on
// stderr.
int get_ready(Environment& set, std::vector<std::string>& command, const char* self) {
  const auto value_of = [&](const char* name) -> const char* {
    const auto it = set.find(name);
    return it != set.end() ? it->second.c_str() : std::getenv(name);
  };
  const auto settings = runtime::read_settings(value_of, runtime::names_in_environment());
  if (const auto* error = std::get_if<std::string>(&settings))
    return fail(kUsage, as_typed(*error, set));
  const std::string folder = library_folder(self);
  if (folder.empty())
    return fail(kRefused, std::string("the simulated ") + kLibrary + " is not beside this program");
  const int capability = std::get<runtime::Settings>(settings).profile->compute_capability();
  const Preflight look = look_at(command.front(), folder, capability);
  for (const std::string& sentence : look.sentences) fail(0, sentence);
  if (look.verdict != Preflight::Verdict::kGo)
    return look.verdict == Preflight::Verdict::kNotFound ? kNotFound : kRefused;
  if (access((folder + "/" + kAudit).c_str(), R_OK) != 0)
    return fail(kRefused, std::string(kAudit) + " is not beside the simulated " + kLibrary);
  set["LD_LIBRARY_PATH"] = with_first("LD_LIBRARY_PATH", folder);
  set["LD_AUDIT"] = with_first("LD_AUDIT", folder + "/" + kAudit);
  if (look.preload) set["LD_PRELOAD"] = with_first("LD_PRELOAD", folder + "/" + kLibrary);
  ClientFiles files;
  for (const fs::path& place : own_folders(self)) {
    if (files.ptxas.empty()) files = find_client_files(place.string());
  }
  set_up_clients(files, capability, std::getenv, &set);
  command.front() = look.program;
  return 0;
}

bool write_file(const std::string& path, const std::string& text) {
  if (path == "-")
    return std::fputs(text.c_str(), stdout) >= 0;  // end() checks whether the text arrived
  const std::string error = command::save_file(path, text);
  if (!error.empty()) fail(0, error);
  return error.empty();
}

// Writes the tracefile and the text, and prints the table. False, after a message, if there is
// nothing to write or it cannot be written.
bool report_coverage(const Options& options, const RunRecord& record) {
  if (record.unfinished > 0)
    fail(0, "a process did not end normally: what its kernels executed is missing");
  if (record.coverage.empty()) {
    fail(0, record.kernels.empty()
                ? "no kernel was launched on the simulated GPU, so nothing was covered"
                : "nothing is known of what was executed");
    return false;
  }
  const SourceCoverage all = by_source(record.coverage);
  if (all.files.empty()) {
    fail(0,
         "the program's kernels have no line information, so nothing can be said by line: compile "
         "them with nvcc -lineinfo");
    return false;
  }
  if (!all.without_lines.empty()) {
    fail(0, std::to_string(all.without_lines.size()) +
                " kernels have no line information (nvcc -lineinfo) and are left out, such as " +
                all.without_lines.front());
  }
  const SourceCoverage selected = select(all, {options.only, options.toolkit, options.root});
  if (selected.files.empty()) {
    fail(0, "no file is left to report: none of the " + std::to_string(all.files.size()) +
                " begins as --only says");
    return false;
  }
  if (!write_file(options.tracefile, tracefile(selected))) return false;
  if (!options.text.empty() && !write_file(options.text, coverage_text(selected))) return false;
  std::fputs(coverage_table(selected).c_str(), stdout);
  if (!options.quiet)
    fail(0, "tracefile: " + options.tracefile +
                (options.text.empty() ? "" : ", text: " + options.text));
  return true;
}

// Whether stderr is a terminal with colours and colours are not disabled (no-color.org).
bool has_colours() {
  const char *const none = std::getenv("NO_COLOR"), *const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (none == nullptr || *none == '\0') &&
         (terminal == nullptr || std::string(terminal) != "dumb");
}

void print_summary(const ProgramRun& done) {
  const char* const colour = !has_colours()                 ? nullptr
                             : done.record.untaken_errors   ? "\033[1;31m"
                             : done.record.findings.empty() ? "\033[1;32m"
                                                            : "\033[1;33m";
  const std::string text = summary(done.record);
  fail(0, colour == nullptr ? text : colour + text + "\033[0m");
}

void print_certificates(const RunRecord& record) {
  constexpr std::size_t kMost = 100;
  const std::vector<std::string> lines = certificate_lines(record);
  for (std::size_t i = 0; i < lines.size() && i < kMost; ++i) fail(0, lines[i]);
  if (lines.size() > kMost)
    fail(0, std::to_string(lines.size() - kMost) + " more launches are in the certificate's file");
}

// The lines of --suppressions that no finding used. Empty without such a file.
std::vector<UnusedSuppression> unused_of(const std::string& path, const RunRecord& record) {
  if (path.empty()) return {};
  std::ifstream file(path);
  return unused_suppressions({std::istreambuf_iterator<char>(file), {}}, record.suppressed);
}

// The exit status, or an error if stdout could not be written.
int end(int status) {
  const std::string error = command::flush_stdout();
  return error.empty() ? status : fail(status == 0 ? kNoReport : status, error);
}

int run(Options options, const std::vector<std::string>& command, Command mode, const char* self) {
  if (mode == Command::kCounters) options.set.try_emplace("LOCKSTEP_COUNT", "1");
  if (mode == Command::kCoverage) options.set["LOCKSTEP_COVERAGE"] = "1";
  if (mode != Command::kExec && std::getenv("LOCKSTEP_CHECKS") == nullptr)
    options.set.try_emplace("LOCKSTEP_CHECKS", "none");
  if (options.quiet) options.set["LOCKSTEP_QUIET"] = "1";
  for (const char* variable : {"LOCKSTEP_GO_ON", "LOCKSTEP_API_ERRORS"}) {
    // Coverage only observes: the program's findings and errors do not change.
    if (mode != Command::kCoverage && std::getenv(variable) == nullptr) options.set[variable] = "1";
  }
  if (options.stop) options.set["LOCKSTEP_GO_ON"] = "0";
  if (!options.certificate.empty()) options.set["LOCKSTEP_CERTIFICATE"] = "1";
  if (!options.profile.empty()) options.set["LOCKSTEP_PROFILE"] = "1";
  const std::string profile = options.profile == command::kProfilePrinted ? "" : options.profile;
  if (has_colours()) options.set["LOCKSTEP_COLOR"] = "1";
  std::vector<std::string> program = command;  // command[0] is the path at which it was found
  if (const int status = get_ready(options.set, program, self); status != 0) return status;

  // Checks that the files can be written, because a program may run for hours before its reports.
  std::vector<std::string> files = options.reports;
  if (mode == Command::kCoverage) {
    files.push_back(options.tracefile);
    if (!options.text.empty()) files.push_back(options.text);
  }
  if (!options.write_suppressions.empty()) files.push_back(options.write_suppressions);
  if (!options.certificate.empty()) files.push_back(options.certificate);
  if (!profile.empty()) files.push_back(profile);
  for (const std::string& path : files) {
    if (path == "-") continue;
    if (const std::string error = command::try_to_save(path); !error.empty())
      return fail(kNoReport, error + "; nothing was run");
  }
  const RecordFile record;
  if (!record.error().empty()) return fail(kRefused, record.error());
  options.set["LOCKSTEP_RECORD"] = record.path();
  std::fflush(nullptr);
  const int status =
      run_child(program, options.set, options.quiet ? nullptr : command.front().c_str());

  ProgramRun done{command, 0, read_run_record(record.path()), options.root, {}};
  if (done.record.lossy)
    fail(0,
         "not all that the simulated GPU found could be recorded: what follows, and every report, "
         "is incomplete");
  if (mode == Command::kCoverage) {
    const bool complete = report_coverage(options, done.record) && !done.record.lossy;
    return end(status == 0 && !complete ? kNoReport : status);
  }
  done.exit_status = judge(status, done.record, options.require_kernels);
  const char* const by_variable = std::getenv("LOCKSTEP_SUPPRESSIONS");
  const std::string suppressions = options.set.contains("LOCKSTEP_SUPPRESSIONS")
                                       ? options.set.at("LOCKSTEP_SUPPRESSIONS")
                                   : by_variable == nullptr ? ""
                                                            : by_variable;
  done.unused_suppressions = unused_of(suppressions, done.record);
  bool reported = true;
  if (!options.write_suppressions.empty())
    reported = write_file(options.write_suppressions, suppressions_for(done.record.findings));
  for (const std::string& path : options.reports) {
    std::string error;
    if (path == "-") {
      std::fputs(text_report(done).c_str(), stdout);
    } else if (!write_report(done, path, &error)) {
      fail(0, error);
      reported = false;
    }
  }
  if (!options.certificate.empty())
    reported &= write_file(options.certificate, certificate_text(done));
  if (!profile.empty()) reported &= write_file(profile, profile_text(done));
  if (done.exit_status == kNoKernel)
    fail(0, "no kernel was launched on the simulated GPU, so nothing was checked");
  std::fputs(
      annotations(done, annotations_named(options.annotations, std::getenv("GITHUB_ACTIONS")))
          .c_str(),
      stderr);
  if (!options.quiet) {
    for (const UnusedSuppression& one : done.unused_suppressions)
      fail(0, suppressions + ":" + std::to_string(one.line) + ": '" + one.text +
                  "' suppressed nothing");
    if (!options.certificate.empty()) print_certificates(done.record);
    print_summary(done);
  }
  if (!options.profile.empty() && profile != "-")
    std::fputs(time_table(done.record).c_str(), stdout);
  if (mode == Command::kCounters) {
    std::fputs(counter_table(done.record).c_str(), stdout);
    if (done.record.unfinished > 0)
      fail(0, "a process did not end normally: the counters of its kernels are missing");
  }
  return end(done.exit_status == 0 && !reported ? kNoReport : done.exit_status);
}

int main(int argc, char** argv) {
  const command::Offer offer = {
      {Command::kExec, Command::kCounters, Command::kCoverage, Command::kMutate}};
  const command::CommandLine line = command::parse(offer, {argv + 1, argv + argc});
  if (line.status) return *line.status;
  if (!line.config.empty() && !line.exec.quiet) fail(0, "options of " + line.config);
  if (line.command != Command::kMutate) {
    const auto once = [&] { return run(line.exec, line.program, line.command, argv[0]); };
    if (!line.exec.watch) return once();
    std::vector<std::string> files = line.exec.watched;
    files.push_back(find_program(line.program.front()));
    return watch(files, once, [&] {
      if (!line.exec.quiet) fail(0, "waiting for a change; Ctrl-C ends");
    });
  }
  Environment set;
  std::vector<std::string> program = line.program;
  if (const int status = get_ready(set, program, argv[0]); status != 0) return status;
  return mutate(line.mutate, program, set);
}

}  // namespace
}  // namespace lockstep::exec

int main(int argc, char** argv) { return lockstep::exec::main(argc, argv); }
