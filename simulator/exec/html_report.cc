#include "simulator/exec/html_report.h"

#include <cinttypes>
#include <cstdio>

#include "simulator/exec/certificate.h"
#include "simulator/exec/markup.h"

namespace lockstep::exec {
namespace {

using nlohmann::json;

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Lockstep: findings</title>
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
article { border-left: 4px solid #c7a008; margin: 1.5rem 0; padding-left: 1rem; }
article.error { border-color: #c02020; }
article.suppressed { border-color: #888; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
td { padding: 0 1rem 0 0; } h2 { font-size: 1.1rem; margin: 0; }
</style></head><body>
)";

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, value);
  return text;
}

// A frame's source line, or its place in its object file.
std::string place(const json& frame) {
  const std::string file = frame.value("file", "");
  return file.empty() ? frame.value("object", "") + "+" +
                            hexadecimal(frame.value("offset", std::uint64_t{0}))
                      : file + ":" + std::to_string(frame.value("line", 0));
}

std::string table(const json& stack) {
  std::string rows;
  for (const json& frame : stack.value("frames", json::array()))
    rows += "<tr><td>" + escaped(frame.value("function", "")) + "</td><td>" +
            escaped(place(frame)) + "</td></tr>\n";
  return "<details><summary>" + escaped(stack.value("what", "")) + "</summary><table>\n" + rows +
         "</table></details>\n";
}

std::string article(const json& finding, bool suppressed) {
  const std::string severity = suppressed ? "suppressed" : finding.value("severity", "");
  std::string text = "<article class=\"" + escaped(severity) + "\"><h2>" +
                     escaped(finding.value("kind", "")) + (suppressed ? " (suppressed)" : "") +
                     "</h2>\n<pre>" + escaped(finding.value("text", "")) + "</pre>\n";
  for (const json& stack : finding.value("host_stacks", json::array())) text += table(stack);
  return text + "</article>\n";
}

}  // namespace

std::string html_report(const ProgramRun& run) {
  std::string command, page = kHead;
  for (const std::string& word : run.command) command += (command.empty() ? "" : " ") + word;
  page += "<h1>" + escaped(command) + "</h1>\n<p>" + escaped(summary(run.record)) +
          "; exit status " + std::to_string(run.exit_status) + "</p>\n";
  for (const json& finding : run.record.findings) page += article(finding, false);
  for (const json& finding : run.record.suppressed) page += article(finding, true);
  page += "<table>\n";
  for (const std::string& kernel : run.record.kernels) {
    const auto totals = run.record.totals.find(kernel);
    const std::uint64_t launches = totals == run.record.totals.end() ? 0 : totals->second.launches;
    page += "<tr><td>" + escaped(kernel) + "</td><td>" + std::to_string(launches) +
            (launches == 1 ? " launch" : " launches") + "</td></tr>\n";
  }
  page += "</table>\n";
  const std::vector<std::string> proofs = certificate_lines(run.record);
  if (!proofs.empty()) page += "<h2>Proved before launches</h2>\n<ul>\n";
  for (const std::string& line : proofs) page += "<li>" + escaped(line) + "</li>\n";
  if (!proofs.empty()) page += "</ul>\n";
  return page + "</body></html>\n";
}

}  // namespace lockstep::exec
