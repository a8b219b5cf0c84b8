#include "harness/report/report_context.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Reads a file of mutation-testing-elements' schema; a damaged file has no mutants.
MutationScore score_of(const std::string& suite, const std::string& text) {
  MutationScore score;
  score.suite = suite;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("files")) return score;
  for (const auto& file : json.at("files")) {
    for (const auto& mutant : file.value("mutants", nlohmann::json::array())) {
      const std::string status = mutant.value("status", "");
      if (status == "Killed" || status == "Timeout" || status == "RuntimeError") ++score.killed;
      if (status == "Survived") ++score.survived;
      if (status == "NoCoverage") ++score.not_covered;
      if (status == "Ignored") ++score.equivalent;
    }
  }
  return score;
}

// The folder above `out` that is a checkout; empty if there is none.
fs::path checkout_around(const fs::path& out) {
  std::error_code error;
  for (fs::path folder = fs::absolute(out, error).lexically_normal(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (fs::exists(folder / "WORKSPACE", error) || fs::exists(folder / "MODULE.bazel", error))
      return folder;
  }
  return {};
}

}  // namespace

std::vector<Picture> read_pictures(const std::string& out) {
  constexpr std::string_view kPrefix = "golden.", kSuffix = ".png";
  std::vector<Picture> pictures;
  std::error_code error;
  for (const fs::directory_entry& e :
       fs::recursive_directory_iterator(fs::path(out) / "outputs", error)) {
    const std::string file = e.path().filename().string();
    if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) continue;
    Picture p;
    p.scene = file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size());
    p.png = text_of(e.path());
    if (!p.png.empty()) pictures.push_back(std::move(p));
  }
  std::sort(pictures.begin(), pictures.end(),
            [](const Picture& a, const Picture& b) { return a.scene < b.scene; });
  return pictures;
}

std::vector<MutationScore> read_mutation_scores(const std::string& out) {
  std::vector<MutationScore> scores;
  std::error_code error;
  for (const fs::directory_entry& e : fs::directory_iterator(fs::path(out) / "mutation", error)) {
    MutationScore score =
        score_of(e.path().filename().string(), text_of(e.path() / "mutation.json"));
    if (score.killed + score.survived + score.not_covered == 0) continue;
    if (fs::exists(e.path() / "mutation.html", error))
      score.page = "mutation/" + score.suite + "/mutation.html";
    scores.push_back(std::move(score));
  }
  std::sort(scores.begin(), scores.end(),
            [](const MutationScore& a, const MutationScore& b) { return a.suite < b.suite; });
  return scores;
}

std::vector<FileCoverage> read_coverage(const std::string& out) {
  std::vector<FileCoverage> files;
  std::ifstream in(fs::path(out) / "coverage" / "coverage.info");
  const fs::path root = checkout_around(out);
  FileCoverage file;
  for (std::string line; std::getline(in, line);) {
    const auto number = [&](std::string_view key, std::size_t& into) {
      if (line.starts_with(key)) into = std::strtoul(line.c_str() + key.size(), nullptr, 10);
    };
    if (line.starts_with("SF:")) {
      file = {};
      file.file = line.substr(3);
      // Paths relative to the checkout, as elsewhere on the page.
      if (!root.empty() && file.file.starts_with(root.string() + "/"))
        file.file.erase(0, root.string().size() + 1);
    }
    number("LF:", file.lines);
    number("LH:", file.lines_hit);
    number("BRF:", file.branches);
    number("BRH:", file.branches_hit);
    if (line == "end_of_record") files.push_back(file);
  }
  return files;
}

std::uint64_t KernelCounters::at(const std::string& counter) const {
  const auto it = counters.find(counter);
  return it == counters.end() ? 0 : it->second;
}

std::vector<KernelCounters> read_counters(const std::string& out) {
  std::vector<KernelCounters> kernels;
  const auto json =
      nlohmann::json::parse(text_of(fs::path(out) / "counters" / "counters.json"), nullptr, false);
  if (!json.is_object() || !json.contains("kernels")) return kernels;
  for (const auto& kernel : json.at("kernels")) {
    KernelCounters counted;
    for (const auto& [key, value] : kernel.items()) {
      if (value.is_number_unsigned()) counted.counters[key] = value;
      if (key == "name" && value.is_string()) counted.kernel = value;
    }
    // A kernel whose process crashed has only a name.
    if (counted.at("launches") > 0) kernels.push_back(std::move(counted));
  }
  return kernels;
}

ReportContext read_context(const std::string& out) {
  ReportContext c;
  c.pictures = read_pictures(out);
  c.mutations = read_mutation_scores(out);
  c.coverage = read_coverage(out);
  c.counters = read_counters(out);
  Passport earlier;
  if (std::string none; read_passport((fs::path(out) / "earlier.json").string(), earlier, none))
    c.earlier = std::move(earlier);
  if (const char* named = std::getenv("LOCKSTEP_SOURCES"); named != nullptr) {
    c.sources = named;
    if (!c.sources.empty() && !c.sources.ends_with('/')) c.sources += '/';
  } else if (const fs::path root = checkout_around(out); !root.empty()) {
    c.sources = (root.lexically_relative(fs::absolute(out).lexically_normal()) / "").string();
  }
  return c;
}

}  // namespace lockstep
