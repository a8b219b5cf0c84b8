#include "simulator/exec/report.h"

#include <filesystem>
#include <map>
#include <string_view>

#include "command/save_file.h"
#include "simulator/exec/certificate.h"
#include "simulator/exec/finding_place.h"
#include "simulator/exec/html_report.h"
#include "simulator/exec/junit_report.h"
#include "simulator/exec/source_root.h"

namespace lockstep::exec {
namespace {

using nlohmann::json;

struct Rule {
  std::string_view id, description;
};

// One sentence for each kind of finding (check/finding.h). A kind without a rule is still reported
// under its name.
constexpr Rule kRules[] = {
    {"out-of-bounds", "A kernel accessed memory that no live allocation holds."},
    {"misaligned", "An access's address is no multiple of its size."},
    {"use-after-free", "A kernel accessed an allocation that had been freed."},
    {"read-only-write", "A kernel wrote to constant memory."},
    {"uninitialised", "A value that nobody wrote was used."},
    {"race", "Two accesses to the same memory, at least one of them a write, that nothing orders."},
    {"barrier-divergence",
     "Some threads of a block do not come to the barrier that others wait at."},
    {"invalid-mask",
     "A warp-level operation's mask leaves out a lane that executes it, or names one that never "
     "comes."},
    {"inactive-lane", "A shuffle read from a lane that did not take part."},
    {"deadlock", "No thread that is left can run."},
    {"time-limit", "A kernel ran past its limit of instructions."},
    {"unsupported",
     "A kernel waits for what its host does after the launch: here a launch returns only when it "
     "has ended."},
    {"trap", "A kernel executed a trap instruction."},
    {"assert", "An assertion in a kernel failed."},
    {"invalid-instruction",
     "An instruction was executed with operands for which its behaviour is undefined."},
    {"stack-overflow", "A thread's stack is exhausted."},
    {"host-access", "Host code accessed device memory."},
    {"invalid-program-counter", "An indirect call or branch went to something that is no code."},
    {"missing-proxy-fence", "An asynchronous copy may not see what ordinary stores left."},
    {"mbarrier-misuse", "An mbarrier object was used against its protocol."},
    {"async-order",
     "Registers of an asynchronous matrix multiplication were touched where nothing orders it: no "
     "wgmma.fence before, no wgmma.wait_group after."},
    {"leak", "Memory was never freed."},
    {"incomplete-check", "A check could follow only a part of what a kernel did."},
    {"refused", "Device code or a launch was refused: it never ran."},
    {"api-error", "A call of the CUDA runtime API failed."},
};

std::string_view description_of(std::string_view kind) {
  for (const Rule& rule : kRules) {
    if (rule.id == kind) return rule.description;
  }
  return kind;
}

std::string count(std::size_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

// A path as a URI reference: escapes characters that URIs do not allow.
std::string uri(std::string_view path) {
  std::string result;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~/+@,").find(c) != std::string_view::npos) {
      result += c;
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      result += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return path.starts_with('/') ? "file://" + result : result;
}

// The place of an access: a {"physicalLocation": ...} if the source is known, and always a logical
// location.
json location(const json& access, const std::string& kernel, const std::string& root) {
  json result;
  const std::string file = access.value("file", "");
  if (!file.empty()) {
    json& physical = result["physicalLocation"];
    const std::string below = below_root(file, root);
    physical["artifactLocation"]["uri"] = uri(below.empty() ? file : below);
    if (!below.empty()) physical["artifactLocation"]["uriBaseId"] = "SRCROOT";
    if (const int line = access.value("line", 0); line > 0) physical["region"]["startLine"] = line;
  }
  result["logicalLocations"] = json::array(
      {{{"fullyQualifiedName", access.value("operation", kernel)}, {"kind", "function"}}});
  return result;
}

// The frames of a host call stack as a SARIF stack.
json stack(const json& of, const std::string& root) {
  json frames = json::array();
  for (const json& frame : of.value("frames", json::array())) {
    json at = location(frame, frame.value("function", ""), root);
    if (frame.value("file", "").empty()) {
      at["physicalLocation"]["artifactLocation"]["uri"] = uri(frame.value("object", ""));
      at["physicalLocation"]["address"]["relativeAddress"] =
          frame.value("offset", std::uint64_t{0});
    }
    frames.push_back({{"location", std::move(at)}});
  }
  return {{"message", {{"text", of.value("what", "")}}}, {"frames", std::move(frames)}};
}

// The place of a host call as a related location. Null if it is unknown.
json host_location(const json& stack, const std::string& root) {
  const json& frame = host_place(stack);
  if (frame.is_null()) return nullptr;
  json at = location(frame, frame.value("function", ""), root);
  at["message"]["text"] = stack.value("what", "");
  return at;
}

// "one access, a write, by block (0,0,0) thread (3,0,0)". Names the thread only if it is known, and
// the access only if an instruction made it: a host call and a barrier have none.
std::string by_whom(const std::string& which, const std::string& kind, const json& access) {
  const auto place = [&](const char* what) {
    const json at = access.value(what, json());
    return !at.is_array() || at.size() != 3 ? ""
                                            : std::string(what) + " (" + at[0].dump() + "," +
                                                  at[1].dump() + "," + at[2].dump() + ")";
  };
  const std::string block = place("block"), thread = place("thread");
  const std::string how = access.value("atomic", false)  ? "an atomic access"
                          : access.value("write", false) ? "a write"
                                                         : "a read";
  const std::string what = which + (kind == "barrier-divergence" ? " barrier" : " access, " + how);
  if (access.contains("operation") && access.value("instruction", "").empty()) return what;
  return block.empty() || thread.empty() ? what : what + ", by " + block + " " + thread;
}

json sarif_result(const json& finding, bool suppressed, const std::string& root,
                  std::map<std::string, std::size_t>* rules) {
  const std::string kind = finding.value("kind", "unknown");
  // A finding without a kernel is attributed to the call.
  const std::string kernel =
      finding.value("kernel", "").empty() ? finding.value("call", "") : finding.value("kernel", "");
  const std::size_t index = rules->try_emplace(kind, rules->size()).first->second;
  json result = {{"ruleId", kind},
                 {"ruleIndex", index},
                 {"level", finding.value("severity", "") == "error" ? "error" : "note"},
                 {"message", {{"text", finding.value("text", "")}}},
                 {"locations", json::array({location(finding_place(finding), kernel, root)})},
                 {"occurrenceCount", finding.value("occurrences", std::uint64_t{1})}};
  if (finding.contains("other")) {
    json other = location(finding["other"], kernel, root);
    other["id"] = 1;
    result["locations"][0]["message"]["text"] = by_whom("one", kind, finding);
    other["message"]["text"] = by_whom("the other", kind, finding["other"]);
    result["relatedLocations"] = json::array({std::move(other)});
  }
  for (const json& of_host : finding.value("host_stacks", json::array())) {
    result["stacks"].push_back(stack(of_host, root));
    json at = host_location(of_host, root);
    if (at.is_null()) continue;
    at["id"] = result["relatedLocations"].size() + 1;
    result["relatedLocations"].push_back(std::move(at));
  }
  for (const char* key : {"block", "thread", "address", "size", "space", "ptx_line", "instruction",
                          "where", "call", "error", "operation"}) {
    if (finding.contains(key)) result["properties"][key] = finding[key];
    if (finding.contains("other") && finding["other"].contains(key))
      result["properties"]["other"][key] = finding["other"][key];
  }
  if (suppressed) result["suppressions"] = json::array({{{"kind", "external"}}});
  return result;
}

bool ends_with(std::string_view path, std::string_view ending) { return path.ends_with(ending); }

std::string dump(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string summary(const RunRecord& record) {
  if (record.device.empty())
    return record.lossy ? "nothing that the simulated GPU found could be recorded"
                        : "no simulated GPU was used";
  const std::size_t errors = record.errors();
  std::uint64_t calls = 0;
  for (const auto& [function, times] : record.library_calls) calls += times;
  const std::string of_libraries =
      calls == 0 ? "" : count(calls, "call", "calls") + " of simulated libraries";
  const std::string launches = record.kernels.empty()
                                   ? (calls == 0 ? "no kernel was launched" : of_libraries)
                                   : count(record.launches(), "launch", "launches") + " of " +
                                         count(record.kernels.size(), "kernel", "kernels") +
                                         (calls == 0 ? "" : " and " + of_libraries);
  // A run without checks must not look like a run without findings.
  const std::string checks = record.checks == "none" ? " without checks"
                             : record.checks.starts_with("all")
                                 ? ""
                                 : " with the checks " + record.checks;
  return launches + " on a simulated " + record.device + (record.checks.empty() ? "" : checks) +
         (record.repeated_launches == 0
              ? ""
              : ", " + std::to_string(record.repeated_launches) + " repeated an earlier one") +
         (record.refused_launches == 0
              ? ""
              : ", " + count(record.refused_launches, "launch", "launches") + " refused") +
         ": " + count(errors, "error", "errors") + ", " +
         std::to_string(record.findings.size() - errors) + " for information, " +
         std::to_string(record.suppressed.size()) + " suppressed" +
         (record.lossy ? "; NOT ALL COULD BE RECORDED" : "");
}

std::string text_report(const ProgramRun& run) {
  std::string text;
  for (const json& finding : run.record.findings) text += finding.value("text", "") + "\n\n";
  return text + summary(run.record) + "\n";
}

json json_report(const ProgramRun& run) {
  json kernels = json::array();
  for (const std::string& name : run.record.kernels) {
    json kernel = {{"name", name}};
    if (const auto it = run.record.totals.find(name); it != run.record.totals.end()) {
      kernel["launches"] = it->second.launches;
      for (const auto& [counter, value] : it->second.counters) kernel[counter] = value;
    }
    kernels.push_back(std::move(kernel));
  }
  json unused = json::array();
  for (const UnusedSuppression& one : run.unused_suppressions)
    unused.push_back({{"line", one.line}, {"text", one.text}});
  json report = {{"command", run.command},
                 {"exit_status", run.exit_status},
                 {"device", run.record.device},
                 {"checks", run.record.checks},
                 {"complete", !run.record.lossy},
                 {"schedule", run.record.schedule},
                 {"kernels", std::move(kernels)},
                 {"library_calls", run.record.library_calls},
                 {"refused_launches", run.record.refused_launches},
                 {"repeated_launches", run.record.repeated_launches},
                 {"findings", run.record.findings},
                 {"suppressed", run.record.suppressed},
                 {"unused_suppressions", std::move(unused)}};
  if (json proofs = proofs_json(run.record); !proofs.empty()) report["proofs"] = std::move(proofs);
  return report;
}

json sarif_report(const ProgramRun& run) {
  std::map<std::string, std::size_t> indices;
  json results = json::array();
  for (const json& finding : run.record.findings)
    results.push_back(sarif_result(finding, false, run.source_root, &indices));
  for (const json& finding : run.record.suppressed)
    results.push_back(sarif_result(finding, true, run.source_root, &indices));
  std::vector<json> rules(indices.size());
  for (const auto& [kind, index] : indices)
    rules[index] = {{"id", kind}, {"shortDescription", {{"text", description_of(kind)}}}};
  std::string command;
  for (const std::string& word : run.command) command += (command.empty() ? "" : " ") + word;
  json invocation = {{"executionSuccessful", run.exit_status == 0},
                     {"exitCode", run.exit_status},
                     {"commandLine", command}};
  json one = {{"tool", {{"driver", {{"name", "Lockstep"}, {"rules", rules}}}}},
              {"columnKind", "utf16CodeUnits"},
              {"invocations", json::array({std::move(invocation)})},
              {"results", std::move(results)}};
  if (!run.source_root.empty()) {
    std::error_code error;
    const std::filesystem::path root =
        std::filesystem::weakly_canonical(std::filesystem::absolute(run.source_root, error), error);
    one["originalUriBaseIds"]["SRCROOT"]["uri"] = uri((root / "").string());
  }
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", json::array({std::move(one)})}};
}

bool write_report(const ProgramRun& run, const std::string& path, std::string* error) {
  const std::string text = ends_with(path, ".sarif")  ? dump(sarif_report(run))
                           : ends_with(path, ".json") ? dump(json_report(run))
                           : ends_with(path, ".xml")  ? junit_report(run)
                           : ends_with(path, ".html") ? html_report(run)
                                                      : text_report(run);
  *error = command::save_file(path, text);
  return error->empty();
}

}  // namespace lockstep::exec
