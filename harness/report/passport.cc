// The passport: harness/report/run_report.h, docs/reference/passport.md.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/report/run_report.h"
#include "lockstep_version.h"

namespace lockstep {
namespace {

using nlohmann::ordered_json;

ordered_json counts(const Tally& t) {
  ordered_json j;
  j["planned"] = t.planned;
  j["pass"] = t.passed;
  j["fail"] = t.failed;
  j["waived"] = t.waived;
  j["not_applicable"] = t.not_applicable;
  j["not_run"] = t.not_run;
  j["cases"] = t.cases;
  return j;
}

// As in the ledger: numbers that JSON cannot represent are text.
ordered_json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf";
}

// Converts notes to fields. A test records its measurements as notes: name and text, with the kind
// before the first dot of the name.
void add_notes(ordered_json& j, const std::map<std::string, std::string>& notes) {
  ordered_json rest = ordered_json::object();
  for (const auto& [name, text] : notes) {
    const auto dot = name.find('.');
    const std::string kind = name.substr(0, dot),
                      subject = dot == name.npos ? "" : name.substr(dot + 1);
    if (name == "digest" || name == "source") {
      j[name] = text;
    } else if (kind == "golden") {
      j["golden"][subject] = text;
    } else if (kind == "table") {
      j["tables"][subject] = text;
    } else if (kind == "measurement") {
      j["measurements"].push_back(ordered_json::parse(text, nullptr, false));
    } else if (kind == "timing" || kind == "timing_verdict") {
      j[kind + "s"].push_back(ordered_json::parse(text, nullptr, false));
    } else {
      rest[name] = text;
    }
  }
  if (!rest.empty()) j["notes"] = rest;
}

ordered_json property(const Record& r) {
  ordered_json j;
  j["property"] = r.property;
  j["verdict"] = name(r.verdict);
  if (!r.reason.empty()) j["reason"] = r.reason;
  j["cases"] = r.cases;
  j["budget"] = number(r.budget);
  j["seed"] = std::to_string(r.seed);
  j["seconds"] = number(r.seconds);
  if (!r.minimal_case.empty()) j["minimal_case"] = r.minimal_case;
  if (!r.replay.empty()) j["replay"] = r.replay;
  if (!r.message.empty()) j["message"] = r.message;
  add_notes(j, r.notes);
  return j;
}

ordered_json suite(const SuiteResult& s) {
  ordered_json j;
  j["family"] = s.suite.family;
  j["target"] = s.suite.label;
  j["end"] = s.end.describe();
  j["seconds"] = number(s.end.seconds);
  j["counts"] = counts(s.ledger.tally());
  j["budget"] = number(s.ledger.tally().budget);
  j["problems"] = s.problems;
  j["properties"] = ordered_json::array();
  for (const Record& r : s.ledger.records()) j["properties"].push_back(property(r));
  return j;
}

}  // namespace

std::string passport_json(const RunReport& report) {
  const Tally sum = total(report.suites);
  ordered_json j;
  j["schema"] = kPassportSchema;
  j["version"] = LOCKSTEP_VERSION;
  j["created"] = report.created;
  j["commit"] = report.commit;
  j["modified"] = report.modified;
  j["options"] = report.options;
  j["device"] = ordered_json::object();
  for (const SuiteResult& s : report.suites) {
    if (!s.file.device.empty()) {
      j["device"] = s.file.device;
      break;
    }
  }
  j["driver"] = {{"version", report.driver_version}, {"module_version", report.driver_module}};
  j["green"] = report.problems().empty();
  if (!report.partial.empty())
    j["partial"] = {{"why", report.partial}, {"not_begun", report.not_begun}};
  j["counts"] = counts(sum);
  j["budget"] = number(sum.budget);
  j["seconds"] = number(report.seconds);
  j["problems"] = report.problems();
  j["suites"] = ordered_json::array();
  for (const SuiteResult& s : report.suites) j["suites"].push_back(suite(s));
  return j.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep
