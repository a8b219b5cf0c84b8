#include "harness/suite_run.h"

#include <fmt/format.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "harness/ledger_file.h"
#include "harness/replay.h"
#include "harness/runfiles.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

Command command_for(const Suite& suite, const SuiteOptions& o, const std::string& program, const fs::path& out) {
  Command c;
  c.argv = {program, "--ledger=" + ledger_of(suite, out).string()};
  if (!o.cases.empty()) c.argv.push_back("--cases=" + o.cases);
  if (!o.seed.empty()) c.argv.push_back("--seed=" + o.seed);
  if (!o.replay.empty()) c.argv.push_back("--case=" + o.replay);
  // What a test runner or GoogleTest would read: here the suites run whole.
  c.unset = {"TEST_*", "GTEST_*", "TESTBRIDGE_*", "XML_OUTPUT_FILE"};
  c.set = {{"LOCKSTEP_GPU", o.gpu},
           {"LOCKSTEP_EXPECT_KERNELS", "1"},
           {"LOCKSTEP_REPLAY", fmt::format("{} --suite={}", o.replay_command, shell_quoted(suite.family))}};
  if (!o.device.empty()) c.set["LOCKSTEP_DEVICE"] = o.device;
  if (o.random_seed != 0) c.set["TEST_RANDOM_SEED"] = std::to_string(o.random_seed);
  if (o.host_threads != 0) c.set["LOCKSTEP_HOST_THREADS"] = std::to_string(o.host_threads);
  if (const std::string here = runfile("."); !here.empty())
    c.set["RUNFILES_DIR"] = fs::path(here).parent_path().lexically_normal().parent_path().string();
  c.output = log_of(suite, out).string();
  c.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(o.time_limit * 1000));
  return c;
}

}  // namespace

fs::path ledger_of(const Suite& suite, const fs::path& out) { return out / "ledgers" / (suite.family + ".json"); }
fs::path log_of(const Suite& suite, const fs::path& out) { return out / "logs" / (suite.family + ".log"); }

std::string make_run_folder(const fs::path& out) {
  std::error_code error;
  for (const char* folder : {"ledgers", "logs"}) {
    fs::create_directories(out / folder, error);
    if (error) return fmt::format("{} cannot be made: {}", (out / folder).string(), error.message());
  }
  // A run that is cut short must not leave an earlier run's results to be taken for its own.
  for (const char* file : {"passport.json", "junit.xml"}) {
    fs::remove(out / file, error);
    if (error) return fmt::format("{} cannot be replaced: {}", (out / file).string(), error.message());
  }
  return "";
}

SuiteResult run_suite(const Suite& suite, const SuiteOptions& options, const fs::path& out,
                      const std::function<void(double)>& tick) {
  const fs::path ledger = ledger_of(suite, out);
  fs::remove(ledger);
  const std::string program = fs::path(suite.program).is_absolute() ? suite.program : runfile(suite.program);
  ProcessEnd end;
  if (program.empty()) {
    end.error = fmt::format("its program {} is not among the runfiles", suite.program);
  } else {
    end = run_process(command_for(suite, options, program, out), tick);
  }
  LedgerFile file;
  std::string error;
  read_ledger(ledger.string(), file, error);
  SuiteResult result = assess(suite, std::move(end), std::move(file), error);
  result.log = log_of(suite, out).string();
  return result;
}

}  // namespace lockstep
