// JUnit XML for CI servers: harness/report/run_report.h.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "harness/report/run_report.h"

namespace lockstep {
namespace {

// Escapes text for an attribute or element. XML 1.0 cannot represent most control characters, and a
// reader refuses a file that is not UTF-8, so each byte beyond ASCII becomes '?'.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      case '\t': out += "&#9;"; break;
      default: out += byte < 0x20 || byte > 0x7e ? '?' : c;
    }
  }
  return out;
}

// Splits "Stencil.Matches" into JUnit's class and name. Parametrised names keep their slashes.
std::pair<std::string_view, std::string_view> class_and_name(std::string_view property) {
  const auto dot = property.find('.');
  if (dot == property.npos) return {"", property};
  return {property.substr(0, dot), property.substr(dot + 1)};
}

std::string body(const Record& r) {
  std::string text = r.message;
  if (!r.minimal_case.empty()) text += "\nminimal case: " + r.minimal_case;
  if (!r.replay.empty()) text += "\nreplay: " + r.replay;
  return escaped(text);
}

std::string testcase(const Record& r, std::string_view family) {
  const auto [suite, test] = class_and_name(r.property);
  std::string out = fmt::format("    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.3f}\">\n",
                                escaped(family), escaped(suite), escaped(test), r.seconds);
  out += fmt::format(
      "      <properties><property name=\"verdict\" value=\"{}\"/><property name=\"cases\" "
      "value=\"{}\"/><property name=\"seed\" value=\"{}\"/><property name=\"budget\" "
      "value=\"{:.6g}\"/></properties>\n",
      name(r.verdict), r.cases, r.seed, r.budget);
  switch (r.verdict) {
    case Verdict::kPass: break;
    case Verdict::kFail:
      out +=
          fmt::format("      <failure message=\"{}\">{}</failure>\n", escaped(r.reason), body(r));
      break;
    // A property that did not run is an error: JUnit's "skipped" is green.
    case Verdict::kNotRun:
      out += fmt::format("      <error message=\"not run: {}\">{}</error>\n", escaped(r.reason),
                         body(r));
      break;
    case Verdict::kWaived:
    case Verdict::kNotApplicable:
      out +=
          fmt::format("      <skipped message=\"{}: {}\"/>\n", name(r.verdict), escaped(r.reason));
      break;
  }
  return out + "    </testcase>\n";
}

// Problems of the suite as a whole must also make the CI run fail.
std::string whole_suite(const SuiteResult& s, std::size_t& count) {
  std::string out;
  for (const std::string& problem : s.problems) {
    bool already_reported = false;
    for (const Record& r : s.ledger.records())
      already_reported = already_reported || problem_of(r) == problem;
    if (already_reported) continue;
    ++count;
    out += fmt::format(
        "    <testcase classname=\"{}\" name=\"ledger closes ({})\"><error "
        "message=\"{}\"/></testcase>\n",
        escaped(s.suite.family), count, escaped(problem));
  }
  return out;
}

}  // namespace

std::string junit_xml(const RunReport& report) {
  std::string suites;
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  for (const SuiteResult& s : report.suites) {
    const Tally t = s.ledger.tally();
    std::size_t extra = 0;
    const std::string rest = whole_suite(s, extra);
    const std::size_t suite_skipped = t.waived + t.not_applicable;
    suites += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.3f}\" timestamp=\"{}\">\n",
        escaped(s.suite.family), s.ledger.records().size() + extra, t.failed, t.not_run + extra,
        suite_skipped, s.end.seconds, escaped(report.created));
    for (const Record& r : s.ledger.records()) suites += testcase(r, s.suite.family);
    suites += rest + "  </testsuite>\n";
    tests += s.ledger.records().size() + extra;
    failures += t.failed;
    errors += t.not_run + extra;
    skipped += suite_skipped;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lockstep\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
      tests, failures, errors, skipped, report.seconds, suites);
}

}  // namespace lockstep
