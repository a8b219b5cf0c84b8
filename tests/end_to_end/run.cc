#include "tests/end_to_end/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "harness/conform/subprocess.h"
#include "harness/ledger/runfiles.h"

namespace lockstep::end_to_end {

std::string fresh_file(const std::string& name) {
  static int count = 0;
  const std::string path =
      fmt::format("{}/end_to_end.{}.{}.{}", ::testing::TempDir(), getpid(), ++count, name);
  std::filesystem::remove(path);
  return path;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Ended run(const std::string& program, std::vector<std::string> arguments, Environment environment,
          double time_limit_seconds) {
  Ended out;
  Command c;
  const std::string ledger = fresh_file("ledger.json");
  c.argv = {program.starts_with("/")            ? program
            : program.find('/') == program.npos ? runfile("tests/end_to_end/" + program)
                                                : runfile(program)};
  c.argv.insert(c.argv.end(), arguments.begin(), arguments.end());
  c.unset = {"TEST_*",     "TESTBRIDGE_*",    "GTEST_*",
             "LOCKSTEP_*", "XML_OUTPUT_FILE", "BUILD_WORKSPACE_DIRECTORY"};
  c.set = std::move(environment);
  // Writes the ledger to the folder of undeclared outputs: programs without the harness's main()
  // need no flag for it.
  const std::string outputs = fresh_file("outputs");
  if (!c.set.contains("TEST_UNDECLARED_OUTPUTS_DIR"))
    c.set["TEST_UNDECLARED_OUTPUTS_DIR"] = outputs;
  c.output = fresh_file("log");
  c.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(time_limit_seconds * 1000));
  if (c.argv.front().empty()) {
    out.output = program + " is not among the runfiles";
    return out;
  }
  const ProcessEnd end = run_process(c);
  if (end.how == ProcessEnd::How::kNotStarted) {
    out.output = end.describe();
    return out;
  }
  out.status = end.how == ProcessEnd::How::kExited ? end.status : 128 + end.status;
  out.output = text_of(c.output);
  read_ledger(c.set["TEST_UNDECLARED_OUTPUTS_DIR"] + "/ledger.json", out.ledger, out.no_ledger);
  return out;
}

}  // namespace lockstep::end_to_end
