// passport: compares two passports, and makes the report of one. `./lockstep diff` and `./lockstep report`.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/report/passport_diff.h"
#include "harness/report/passport_file.h"
#include "harness/report/report_html.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int kSame = 0, kWorse = 1, kNotComparable = 2;

constexpr char kHelp[] =
    "usage: diff BEFORE AFTER      what changed between two passports (files, or folders with a passport.json)\n"
    "       report FOLDER          writes FOLDER/report.html from what a run left there\n"
    "\n"
    "Exit status of diff: 0 the second is not worse; 1 worse: a verdict, other bits, more of an error bound, slower; 2 "
    "the\n"
    "two cannot be compared, or wrong usage. Of report: 0, or 2 when there is nothing to make it from.\n";

int refuse(const std::string& sentence) {
  fmt::print(stderr, "lockstep: {}\n", sentence);
  return kNotComparable;
}

// `bazel run` starts programs in their runfiles; paths that a user types are meant from where the user is.
std::string from_user(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return fs::absolute(folder == nullptr ? fs::path(path) : fs::path(folder) / path).string();
}

int diff(const std::string& before_path, const std::string& after_path) {
  Passport before, after;
  std::string error;
  if (!read_passport(from_user(before_path), before, error) || !read_passport(from_user(after_path), after, error))
    return refuse(error);
  const PassportDiff d = diff_passports(before, after);
  fmt::print("{}", diff_text(before, after, d));
  return !d.not_comparable.empty() ? kNotComparable : d.worse() ? kWorse : kSame;
}

int report(const std::string& folder) {
  Passport passport;
  std::string error;
  if (!read_passport(from_user(folder), passport, error)) return refuse(error);
  ReportAssets assets;
  if (error = read_assets(assets); !error.empty()) return refuse(error);
  const fs::path out = from_user(folder);
  const std::string path = (fs::is_directory(out) ? out / "report.html" : out.parent_path() / "report.html").string();
  std::ofstream file(path, std::ios::binary);
  file << report_html(passport, read_pictures(fs::path(path).parent_path().string()), assets);
  file.close();
  if (!file) return refuse(path + " cannot be written");
  fmt::print("{}\n", path);
  return kSame;
}

int main(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3 && arguments[0] == "diff") return diff(arguments[1], arguments[2]);
  if (arguments.size() == 2 && arguments[0] == "report") return report(arguments[1]);
  const bool help = arguments.size() == 1 && (arguments[0] == "help" || arguments[0] == "--help");
  fmt::print(help ? stdout : stderr, "{}", kHelp);
  return help ? kSame : kNotComparable;
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) { return lockstep::main({argv + 1, argv + argc}); }
