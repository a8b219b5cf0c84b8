#include "harness/conform/results.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <string_view>

#include "command/save_file.h"
#include "harness/conform/subprocess.h"
#include "harness/property/replay.h"
#include "harness/report/passport_file.h"
#include "harness/report/report_html.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// Makes the page from the passport as written, just as from a passport of another machine.
std::string save_page(const std::string& passport_text, const fs::path& out) {
  Passport passport;
  ReportAssets assets;
  std::string error;
  if (!parse_passport(passport_text, passport, error) || !(error = read_assets(assets)).empty())
    return "no report.html: " + error;
  return command::save_file(out / "report.html",
                            report_html(passport, read_context(out.string()), assets));
}

}  // namespace

void find_commit(RunReport& report, const fs::path& scratch) {
  report.commit = environment("LOCKSTEP_COMMIT");
  if (constexpr std::string_view kModified = "-modified"; report.commit.ends_with(kModified)) {
    report.commit.resize(report.commit.size() - kModified.size());
    report.modified = true;
  }
  if (!report.commit.empty()) return;
  const std::string tree = environment("BUILD_WORKSPACE_DIRECTORY").empty()
                               ? "."
                               : environment("BUILD_WORKSPACE_DIRECTORY");
  const fs::path output = scratch / "git.txt";
  const auto git = [&](const std::string& arguments) {
    Command c;
    c.argv = {"/bin/sh", "-c",
              fmt::format("exec git -C {} {} 2>/dev/null", shell_quoted(tree), arguments)};
    c.output = output.string();
    c.time_limit = std::chrono::seconds(10);
    std::string text;
    if (run_process(c).succeeded()) {
      std::ifstream in(output);
      std::getline(in, text);
    }
    return text;
  };
  report.commit = git("rev-parse HEAD");
  report.modified =
      !report.commit.empty() && !git("status --porcelain --untracked-files=no").empty();
  fs::remove(output);
}

std::string save_results(const RunReport& report, const fs::path& out) {
  const std::string passport = passport_json(report);
  if (std::string error = command::save_file(out / "passport.json", passport); !error.empty())
    return error;
  if (std::string error = command::save_file(out / "junit.xml", junit_xml(report)); !error.empty())
    return error;
  return save_page(passport, out);
}

}  // namespace lockstep
