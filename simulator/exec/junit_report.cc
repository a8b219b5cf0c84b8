#include "simulator/exec/junit_report.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "simulator/exec/markup.h"

namespace lockstep::exec {
namespace {

using nlohmann::json;

constexpr const char* kHost = "host calls";

struct Case {
  std::string failures, output;
  int failed = 0;
};

void add(const json& finding, Case* to) {
  const std::string text = finding.value("text", "");
  if (finding.value("severity", "") != "error") {
    to->output += text + "\n";
    return;
  }
  ++to->failed;
  to->failures += "    <failure type=\"" + escaped(finding.value("kind", "")) + "\" message=\"" +
                  escaped(text.substr(0, text.find('\n'))) + "\">" + escaped(text) + "</failure>\n";
}

std::string testcase(const std::string& suite, const std::string& name, const Case& c) {
  const std::string begin =
      "  <testcase classname=\"" + suite + "\" name=\"" + escaped(name) + "\"";
  if (c.failures.empty() && c.output.empty()) return begin + "/>\n";
  return begin + ">\n" + c.failures +
         (c.output.empty() ? "" : "    <system-out>" + escaped(c.output) + "</system-out>\n") +
         "  </testcase>\n";
}

}  // namespace

std::string junit_report(const ProgramRun& run) {
  std::vector<std::string> names = run.record.kernels;
  std::map<std::string, Case> cases;
  for (const json& finding : run.record.findings) {
    const std::string kernel = finding.value("kernel", "");
    const std::string& name = kernel.empty() ? kHost : kernel;
    if (!kernel.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
    add(finding, &cases[name]);
  }
  names.push_back(kHost);
  const std::string program = run.command.empty() ? "program" : run.command.front();
  const std::string suite = escaped(program.substr(program.rfind('/') + 1));
  std::string all;
  std::size_t failed = 0;
  for (const std::string& name : names) {
    failed += cases[name].failed > 0;
    all += testcase(suite, name, cases[name]);
  }
  Case status;
  if (run.exit_status != 0) {
    ++failed;
    const std::string message = "exit status " + std::to_string(run.exit_status);
    status.failures = "    <failure type=\"status\" message=\"" + message + "\">" + message + ": " +
                      escaped(summary(run.record)) + "</failure>\n";
  }
  all += testcase(suite, "exit status", status);
  const std::string counts = "tests=\"" + std::to_string(names.size() + 1) + "\" failures=\"" +
                             std::to_string(failed) + "\"";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + counts +
         ">\n<testsuite name=\"" + suite + "\" " + counts + " errors=\"0\" skipped=\"0\">\n" + all +
         "</testsuite>\n</testsuites>\n";
}

}  // namespace lockstep::exec
