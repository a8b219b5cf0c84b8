#include "harness/ledger/ledger_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace lockstep {
namespace {

using nlohmann::ordered_json;

// JSON has neither infinities nor NaN, but the budget of a failure may be either.
ordered_json number(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

double number(const ordered_json& j) {
  if (j.is_number()) return j.get<double>();
  const std::string text = j.get<std::string>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw std::invalid_argument("'" + text + "' is not a number");
}

ordered_json to_json(const Record& r) {
  ordered_json j;
  j["property"] = r.property;
  j["verdict"] = name(r.verdict);
  if (!r.reason.empty()) j["reason"] = r.reason;
  j["cases"] = r.cases;
  j["budget"] = number(r.budget);
  j["seconds"] = number(r.seconds);
  // As text: JSON readers that store numbers as double would change a 64-bit seed.
  j["seed"] = std::to_string(r.seed);
  if (!r.minimal_case.empty()) j["minimal_case"] = r.minimal_case;
  if (!r.replay.empty()) j["replay"] = r.replay;
  if (!r.message.empty()) j["message"] = r.message;
  if (!r.notes.empty()) j["notes"] = r.notes;
  return j;
}

Record record_from(const ordered_json& j) {
  Record r;
  r.property = j.at("property").get<std::string>();
  const std::string verdict = j.at("verdict").get<std::string>();
  if (!parse_verdict(verdict, r.verdict))
    throw std::invalid_argument("'" + verdict + "' is not a verdict");
  r.reason = j.value("reason", "");
  r.cases = j.at("cases").get<std::uint64_t>();
  r.budget = number(j.at("budget"));
  r.seconds = number(j.at("seconds"));
  r.seed = std::stoull(j.at("seed").get<std::string>());
  r.minimal_case = j.value("minimal_case", "");
  r.replay = j.value("replay", "");
  r.message = j.value("message", "");
  r.notes = j.value("notes", std::map<std::string, std::string>{});
  return r;
}

// The text of a value, with this indentation of all lines but the first. (A line break inside of a
// JSON string is escaped.)
std::string formatted(const ordered_json& value, std::size_t indentation) {
  // A failure's text may hold any bytes, and must not prevent writing the ledger.
  const std::string text = value.dump(1, ' ', false, ordered_json::error_handler_t::replace);
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out.append(indentation, ' ');
  }
  return out;
}

// Adds an element to the text of an array at the top of the file.
void add_element(std::string& array, const ordered_json& element) {
  array += (array.empty() ? "\n  " : ",\n  ") + formatted(element, 2);
}

std::string array_of(const std::string& elements) {
  return elements.empty() ? "[]" : "[" + elements + "\n ]";
}

}  // namespace

std::string to_json(const LedgerFile& file) { return GrowingLedger().text(file); }

std::string GrowingLedger::text(const LedgerFile& file) {
  for (; planned_count_ < file.planned.size(); ++planned_count_)
    add_element(planned_, file.planned[planned_count_]);
  for (; record_count_ < file.records.size(); ++record_count_)
    add_element(records_, to_json(file.records[record_count_]));
  ordered_json j;
  j["schema"] = kLedgerSchema;
  j["program"] = file.program;
  if (!file.target.empty()) j["target"] = file.target;
  j["shard"] = {{"index", file.shard_index}, {"total", file.total_shards}};
  j["seed"] = std::to_string(file.seed);
  j["device"] = file.device;
  j["complete"] = file.complete;
  if (!file.running.empty()) j["running"] = file.running;
  std::string all = formatted(j, 0);
  all.resize(all.size() - 2);  // without the end of the object
  all += ",\n \"planned\": " + array_of(planned_);
  all += ",\n \"records\": " + array_of(records_);
  return all + ",\n \"problems\": " + formatted(file.problems, 1) + "\n}\n";
}

bool from_json(std::string_view text, LedgerFile& out, std::string& error) {
  try {
    const ordered_json j = ordered_json::parse(text);
    if (j.at("schema") != kLedgerSchema)
      throw std::invalid_argument(
          fmt::format("schema is {}, not {}", j.at("schema").dump(), kLedgerSchema));
    LedgerFile file;
    file.program = j.at("program").get<std::string>();
    file.target = j.value("target", "");
    file.shard_index = j.at("shard").at("index").get<int>();
    file.total_shards = j.at("shard").at("total").get<int>();
    file.seed = std::stoull(j.at("seed").get<std::string>());
    file.device = j.at("device").get<std::map<std::string, std::string>>();
    file.complete = j.at("complete").get<bool>();
    file.running = j.value("running", "");
    file.planned = j.at("planned").get<std::vector<std::string>>();
    for (const auto& r : j.at("records")) file.records.push_back(record_from(r));
    file.problems = j.at("problems").get<std::vector<std::string>>();
    out = std::move(file);
    return true;
  } catch (const std::exception& e) {
    error = fmt::format("not a ledger: {}", e.what());
    return false;
  }
}

std::string write_ledger(const std::string& path, const std::string& text) {
  const std::string partial = fmt::format("{}.{}.partial", path, getpid());
  {
    std::ofstream stream(partial, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream) {
      const int error = errno;
      unlink(partial.c_str());  // frees the space on a full disk
      return fmt::format("the ledger cannot be written to {}: {}", path, std::strerror(error));
    }
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(partial.c_str());
    return fmt::format("the ledger cannot be moved to {}: {}", path, std::strerror(error));
  }
  return "";
}

bool read_ledger(const std::string& path, LedgerFile& out, std::string& error) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    error = fmt::format("{} cannot be read", path);
    return false;
  }
  std::ostringstream text;
  text << in.rdbuf();
  if (!from_json(text.str(), out, error)) {
    error = fmt::format("{}: {}", path, error);
    return false;
  }
  return true;
}

}  // namespace lockstep
