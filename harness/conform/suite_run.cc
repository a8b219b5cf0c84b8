#include "harness/conform/suite_run.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <system_error>
#include <utility>

#include "harness/ledger/runfiles.h"
#include "harness/property/replay.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Selects the CUDA runtime of the test programs: LD_LIBRARY_PATH has precedence over the runtime
// that they link.
void choose_runtime(const Target& target, std::map<std::string, std::string>& variables) {
  std::string library = runfile(fmt::format("harness/conform/runtimes/{}/libcudart.so.13",
                                            target.silicon ? "silicon" : "simulated"));
  // In an installation the simulated runtime is beside share/lockstep. NVIDIA's runtime needs no
  // variable: the program links it.
  if (library.empty() && !target.silicon) library = runfile("../../lib/lockstep/libcudart.so.13");
  if (library.empty()) return;  // the program compares its runtime with LOCKSTEP_GPU
  const char* others = std::getenv("LD_LIBRARY_PATH");
  variables["LD_LIBRARY_PATH"] =
      fs::path(library).parent_path().string() +
      (others == nullptr || *others == '\0' ? "" : std::string(":") + others);
}

Command command_for(const Suite& suite, const SuiteOptions& o, const std::string& program,
                    const fs::path& out) {
  Command c = command_on(o.target);
  c.argv = o.prefix;
  c.argv.push_back(program);
  if (!o.cases.empty()) c.argv.push_back("--cases=" + o.cases);
  if (!o.seed.empty()) c.argv.push_back("--seed=" + o.seed);
  if (!o.replay.empty()) c.argv.push_back("--case=" + o.replay);
  if (!suite.filter.empty()) c.argv.push_back("--gtest_filter=" + suite.filter);
  if (o.fail_fast) c.argv.push_back("--gtest_fail_fast");
  // Removes variables for test runners and GoogleTest: each suite runs whole.
  c.unset = {"TEST_*", "GTEST_*", "TESTBRIDGE_*", "XML_OUTPUT_FILE"};
  // Selected properties may launch no kernel.
  c.set["LOCKSTEP_EXPECT_KERNELS"] = suite.filter.empty() && o.replay.empty() ? "1" : "some";
  if (o.scale != 1) c.set["LOCKSTEP_SCALE"] = fmt::format("{:g}", o.scale);
  c.set["LOCKSTEP_REPLAY"] =
      fmt::format("{} --suite={}{}", o.replay_command, shell_quoted(suite.family),
                  o.target.device.empty() ? "" : " --device=" + o.target.device);
  c.set["TEST_UNDECLARED_OUTPUTS_DIR"] = (out / "outputs" / suite.family).string();  // for pictures
  if (o.random_seed != 0) c.set["TEST_RANDOM_SEED"] = std::to_string(o.random_seed);
  if (o.host_threads != 0) c.set["LOCKSTEP_HOST_THREADS"] = std::to_string(o.host_threads);
  if (const std::string here = runfile("."); !here.empty())
    c.set["RUNFILES_DIR"] = fs::path(here).parent_path().lexically_normal().parent_path().string();
  c.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(o.time_limit * 1000));
  return c;
}

}  // namespace

Command command_on(const Target& target) {
  Command c;
  c.set = target.variables;
  choose_runtime(target, c.set);
  return c;
}

std::string make_run_folder(const fs::path& out) {
  std::error_code error;
  fs::remove_all(out / "outputs", error);
  for (const char* folder : {"ledgers", "logs"}) {
    fs::create_directories(out / folder, error);
    if (error)
      return fmt::format("{} cannot be made: {}", (out / folder).string(), error.message());
  }
  // Kept for the report's comparison. If a run ends early, results of an earlier run must not look
  // like its own.
  fs::rename(out / "passport.json", out / "earlier.json", error);
  for (const char* file : {"passport.json", "junit.xml", "report.html"}) {
    fs::remove(out / file, error);
    if (error)
      return fmt::format("{} cannot be replaced: {}", (out / file).string(), error.message());
  }
  return "";
}

SuiteResult run_suite(const Suite& suite, const SuiteOptions& options, const fs::path& out,
                      const std::function<void(const SuiteProgress&)>& tick) {
  const std::string program =
      fs::path(suite.program).is_absolute() ? suite.program : runfile(suite.program);
  if (program.empty()) {
    ProcessEnd end;
    end.error = fmt::format("its program {} is not among the runfiles", suite.program);
    return assess(suite, std::move(end), LedgerFile{}, "no program");
  }
  return run_in_processes(suite,
                          {.command = command_for(suite, options, program, fs::absolute(out)),
                           .ledgers = out / "ledgers",
                           .logs = out / "logs",
                           .property_limit = options.property_limit},
                          tick);
}

}  // namespace lockstep
