#include "simulator/exec/annotations.h"

#include "simulator/exec/finding_place.h"
#include "simulator/exec/source_root.h"

namespace lockstep::exec {
namespace {

using nlohmann::json;

// Escapes text as a workflow's runner unescapes it. A property ends at a comma, so commas in it are
// escaped too.
std::string for_github(const std::string& text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

std::string name_of(const json& access, const std::string& root) {
  const std::string file = access.value("file", ""),
                    below = below_root(file, root.empty() ? "." : root);
  return below.empty() ? file : below;
}

// The first line of a finding and its kernel.
std::string in_one_line(const json& finding) {
  const std::string text = finding.value("text", ""), kernel = finding.value("kernel", "");
  return text.substr(0, text.find('\n')) + (kernel.empty() ? "" : ", in kernel " + kernel);
}

std::string github_line(const json& finding, const std::string& root) {
  const bool is_error = finding.value("severity", "") == "error";
  const json& at = finding_place(finding);
  const std::string file = name_of(at, root);
  std::string line = is_error ? "::error " : "::notice ";
  if (!file.empty()) line += "file=" + for_github(file, true) + ",";
  if (const int number = at.value("line", 0); !file.empty() && number > 0)
    line += "line=" + std::to_string(number) + ",";
  return line + "title=" + for_github(finding.value("kind", ""), true) +
         "::" + for_github(finding.value("text", ""), false) + "\n";
}

std::string place(const json& access, const std::string& root) {
  const std::string file = name_of(access, root);
  const int number = access.value("line", 0);
  return file.empty() ? "lockstep: "
                      : file + ":" + (number > 0 ? std::to_string(number) + ":" : "") + " ";
}

std::string compiler_lines(const json& finding, const std::string& root) {
  const bool is_error = finding.value("severity", "") == "error";
  std::string lines = place(finding_place(finding), root) + (is_error ? "error: " : "note: ") +
                      in_one_line(finding) + "\n";
  if (finding.contains("other") && !name_of(finding["other"], root).empty())
    lines += place(finding["other"], root) + "note: the other side of this " +
             finding.value("kind", "") + "\n";
  return lines;
}

}  // namespace

Annotations annotations_named(const std::string& name, const char* github_actions) {
  if (name == "github") return Annotations::kGithub;
  if (name == "lines") return Annotations::kLines;
  const bool on_github = github_actions != nullptr && std::string(github_actions) == "true";
  return name.empty() && on_github ? Annotations::kGithub : Annotations::kNone;
}

std::string annotations(const ProgramRun& run, Annotations how) {
  std::string lines;
  if (how == Annotations::kNone) return lines;
  for (const json& finding : run.record.findings)
    lines += how == Annotations::kGithub ? github_line(finding, run.source_root)
                                         : compiler_lines(finding, run.source_root);
  return lines;
}

}  // namespace lockstep::exec
