// passport: compares two passports, or makes the report of one, for `./lockstep diff` and
// `./lockstep report`.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "command/command_line.h"
#include "command/save_file.h"
#include "harness/report/passport_diff.h"
#include "harness/report/passport_file.h"
#include "harness/report/report_html.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int kSame = 0, kWorse = 1, kNotComparable = 2;

int refuse(const std::string& sentence) {
  fmt::print(stderr, "lockstep: {}\n", sentence);
  return kNotComparable;
}

// Resolves a path of the user. `bazel run` starts programs in their runfiles, but a user's path is
// relative to the user's folder.
std::string from_user(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  if (path.empty()) return path;
  return fs::absolute(folder == nullptr ? fs::path(path) : fs::path(folder) / path).string();
}

int diff(const std::string& before_path, const std::string& after_path) {
  std::vector<Passport> before, after;
  std::string error;
  if (!read_runs(from_user(before_path), before, error) ||
      !read_runs(from_user(after_path), after, error))
    return refuse(error);
  const PassportDiff d = diff_runs(before, after);
  std::fputs(diff_text(before.front(), after.front(), d).c_str(), stdout);
  if (error = command::flush_stdout(); !error.empty()) return refuse(error);
  return !d.not_comparable.empty() ? kNotComparable : d.worse() ? kWorse : kSame;
}

int report(const command::PassportArguments& a) {
  const std::string& folder = a.folder;
  Passport passport;
  std::string error;
  if (!read_passport(from_user(folder), passport, error)) return refuse(error);
  ReportAssets assets;
  if (error = read_assets(assets); !error.empty()) return refuse(error);
  const fs::path given = from_user(folder);
  const fs::path out = fs::is_directory(given) ? given : given.parent_path();
  ReportContext context = read_context(out.string());
  if (!a.compared_with.empty()) {
    Passport earlier;
    if (!read_passport(from_user(a.compared_with), earlier, error)) return refuse(error);
    context.earlier = std::move(earlier);
  }
  const std::string path = (out / "report.html").string();
  if (error = command::save_file(path, report_html(passport, context, assets)); !error.empty())
    return refuse(error);
  std::puts(path.c_str());
  error = command::flush_stdout();
  return error.empty() ? kSame : refuse(error);
}

int main(const std::vector<std::string>& words) {
  const command::Offer offer = {{command::Command::kDiff, command::Command::kReport}};
  const command::CommandLine line = command::parse(offer, words);
  if (line.status) return *line.status;
  return line.command == command::Command::kDiff ? diff(line.passport.before, line.passport.after)
                                                 : report(line.passport);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) { return lockstep::main({argv + 1, argv + argc}); }
