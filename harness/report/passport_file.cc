#include "harness/report/passport_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/report/run_report.h"

namespace lockstep {
namespace {

using nlohmann::json;

// Numbers that JSON cannot represent have a text form.
double number(const json& j) {
  if (j.is_number()) return j.get<double>();
  const std::string text = j.is_string() ? j.get<std::string>() : "";
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  throw std::invalid_argument(j.dump() + " is not a number");
}

std::map<std::string, std::string> texts(const json& j, const char* field) {
  return j.contains(field) ? j.at(field).get<std::map<std::string, std::string>>()
                           : std::map<std::string, std::string>();
}

PassportProperty property_from(const json& j) {
  PassportProperty p;
  if (!parse_verdict(j.at("verdict").get<std::string>(), p.verdict))
    throw std::invalid_argument(
        fmt::format("'{}' is no verdict", j.at("verdict").get<std::string>()));
  p.reason = j.value("reason", "");
  p.minimal_case = j.value("minimal_case", "");
  p.replay = j.value("replay", "");
  p.message = j.value("message", "");
  p.cases = j.at("cases").get<std::uint64_t>();
  p.budget = number(j.at("budget"));
  p.seconds = number(j.at("seconds"));
  p.seed = j.at("seed").get<std::string>();
  p.source = j.value("source", "");
  p.digest = j.value("digest", "");
  p.golden = texts(j, "golden");
  p.tables = texts(j, "tables");
  for (const json& t : j.value("timings", json::array())) {
    p.timings.push_back({t.at("name").get<std::string>(), number(t.at("median_us")),
                         number(t.at("low_us")), number(t.at("high_us")),
                         t.at("samples").get<std::uint64_t>()});
  }
  for (const json& t : j.value("timing_verdicts", json::array())) {
    p.timing_verdicts.push_back(
        {t.at("name").get<std::string>(), t.at("verdict").get<std::string>(), number(t.at("ratio")),
         number(t.at("low")), number(t.at("high")), number(t.at("minimum_effect"))});
  }
  for (const json& m : j.value("measurements", json::array())) {
    Measurement& to = p.measurements.emplace_back();
    to.kind = m.at("kind").get<std::string>();
    to.name = m.at("name").get<std::string>();
    to.terms = m.value("terms", std::int64_t{0});
    to.values = m.at("values").get<std::vector<std::pair<std::string, std::string>>>();
  }
  return p;
}

PassportSuite suite_from(const json& j) {
  PassportSuite s;
  s.family = j.at("family").get<std::string>();
  s.end = j.at("end").get<std::string>();
  s.seconds = number(j.at("seconds"));
  s.problems = j.at("problems").get<std::vector<std::string>>();
  for (const json& p : j.at("properties")) {
    const auto name = p.at("property").get<std::string>();
    if (!s.properties.emplace(name, property_from(p)).second)
      throw std::invalid_argument(fmt::format("{} stands twice in {}", name, s.family));
    s.order.push_back(name);
  }
  return s;
}

}  // namespace

std::string Measurement::value(std::string_view key) const {
  const auto at =
      std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == key; });
  return at == values.end() ? "" : at->second;
}

std::string Passport::device_text() const {
  const auto entry = [&](const char* key) {
    return device.contains(key) ? device.at(key) : std::string("unknown");
  };
  return device.empty() ? "no device"
                        : fmt::format("{}, {}", entry("name"), entry("compute_capability"));
}

const PassportProperty* Passport::find(std::string_view property) const {
  for (const PassportSuite& s : suites) {
    if (const auto at = s.properties.find(std::string(property)); at != s.properties.end())
      return &at->second;
  }
  return nullptr;
}

bool parse_passport(std::string_view text, Passport& out, std::string& error) {
  try {
    const json j = json::parse(text);
    const int schema = j.at("schema").get<int>();
    if (schema < 1 || schema > kPassportSchema)
      throw std::invalid_argument(
          fmt::format("schema is {}, and 1 to {} are understood", schema, kPassportSchema));
    Passport p;
    p.created = j.at("created").get<std::string>();
    p.commit = j.at("commit").get<std::string>();
    p.modified = j.at("modified").get<bool>();
    p.green = j.at("green").get<bool>();
    p.options = texts(j, "options");
    p.device = texts(j, "device");
    p.counts = j.at("counts").get<std::map<std::string, std::uint64_t>>();
    p.budget = number(j.at("budget"));
    p.seconds = number(j.at("seconds"));
    p.problems = j.at("problems").get<std::vector<std::string>>();
    for (const json& s : j.at("suites")) p.suites.push_back(suite_from(s));
    if (j.contains("partial")) {
      p.partial = j.at("partial").at("why").get<std::string>();
      p.not_begun = j.at("partial").at("not_begun").get<std::vector<std::string>>();
    }
    out = std::move(p);
    return true;
  } catch (const json::parse_error& e) {
    error = fmt::format("not a passport: it is not JSON, from byte {} on", e.byte);
    return false;
  } catch (const std::exception& e) {
    error = fmt::format("not a passport: {}", e.what());
    return false;
  }
}

bool read_passport(const std::string& path, Passport& out, std::string& error) {
  std::error_code none;
  const std::string file =
      std::filesystem::is_directory(path, none) ? path + "/passport.json" : path;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, none)) {
    error = fmt::format("{} cannot be read", file.empty() ? "a passport without a name" : file);
    if (!in && file != path) error += ": ./lockstep run --out=FOLDER writes a passport there";
    return false;
  }
  if (!parse_passport(std::string(std::istreambuf_iterator<char>(in), {}), out, error)) {
    error = fmt::format("{}: {}", file, error);
    return false;
  }
  return true;
}

bool read_runs(const std::string& path, std::vector<Passport>& out, std::string& error) {
  namespace fs = std::filesystem;
  std::error_code none;
  std::vector<std::string> runs;
  if (fs::is_directory(path, none) && !fs::exists(path + "/passport.json", none)) {
    for (const fs::directory_entry& e : fs::directory_iterator(path, none)) {
      if (fs::exists(e.path() / "passport.json", none)) runs.push_back(e.path().string());
    }
    // Sorts "2" before "10".
    std::sort(runs.begin(), runs.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
  }
  if (runs.empty()) runs.push_back(path);
  for (const std::string& run : runs) {
    if (!read_passport(run, out.emplace_back(), error)) return false;
  }
  return true;
}

}  // namespace lockstep
