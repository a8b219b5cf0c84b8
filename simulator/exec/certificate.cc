#include "simulator/exec/certificate.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace lockstep::exec {
namespace {

using nlohmann::json;

std::string shape_text(const json& launch, const char* key) {
  std::string text = "(";
  for (const json& n : launch.value(key, json::array()))
    text += (text.size() > 1 ? "," : "") + n.dump();
  return text + ")";
}

std::size_t proved(const json& launch) {
  std::size_t count = 0;
  for (const json& access : launch.value("accesses", json::array()))
    count += access.value("proved", false);
  return count;
}

// "k.cu:31", or "PTX line 88" without line information.
std::string access_place(const json& access) {
  const std::string file = access.value("file", "");
  if (file.empty()) return "PTX line " + std::to_string(access.value("ptx_line", 0));
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(access.value("line", 0));
}

// "a", "a and b", "a, b and c", "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  const std::size_t shown = names.size() > kMost ? kMost - 1 : names.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (shown < names.size()) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

// The places of unproved accesses, each once, in order.
std::vector<std::string> checked_places(const json& launch) {
  std::vector<std::string> places;
  for (const json& access : launch.value("accesses", json::array())) {
    if (access.value("proved", false)) continue;
    std::string at = access_place(access);
    if (std::find(places.begin(), places.end(), at) == places.end())
      places.push_back(std::move(at));
  }
  return places;
}

// How unproved accesses were checked. Must not call an access "checked" that no check covered.
std::string checked(std::string_view checks) {
  if (checks == "none") return "not checked, as no check ran";
  if (checks.starts_with("all")) return "checked in this run";
  return "checked in this run by " + std::string(checks) + " alone";
}

std::string line_of(const json& launch, const std::string& checks) {
  const json accesses = launch.value("accesses", json::array());
  const std::uint64_t launches = launch.value("launches", std::uint64_t{1});
  std::string line = launch.value("kernel", "") + " <<<" + shape_text(launch, "grid") + ", " +
                     shape_text(launch, "block") +
                     (launch.value("dynamic_shared", 0) == 0
                          ? ""
                          : ", " + std::to_string(launch.value("dynamic_shared", 0))) +
                     ">>>" + (launches == 1 ? "" : ", " + std::to_string(launches) + " launches") +
                     ": ";
  const std::string refused = launch.value("refused", "");
  const std::vector<std::string> places = checked_places(launch);
  const std::string which = listed(places);
  if (!refused.empty()) {
    line += "nothing is proved, as " + refused;
  } else if (accesses.empty()) {
    line += "it accesses no memory";
  } else {
    line +=
        "proved for every schedule and all data at this shape: " + std::to_string(proved(launch)) +
        " of " + std::to_string(accesses.size()) + (accesses.size() == 1 ? " access" : " accesses");
  }
  if (!places.empty())
    line += "; " + which + (places.size() == 1 ? " was " : " were ") + checked(checks);
  if (launch.value("calls", false)) line += "; accesses of called functions are not listed";
  return line;
}

}  // namespace

std::vector<std::string> certificate_lines(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const json& launch : record.certificates) lines.push_back(line_of(launch, record.checks));
  return lines;
}

json proofs_json(const RunRecord& record) {
  json proofs = json::array();
  for (const json& launch : record.certificates) {
    proofs.push_back({{"kernel", launch.value("kernel", "")},
                      {"grid", launch.value("grid", json::array())},
                      {"block", launch.value("block", json::array())},
                      {"launches", launch.value("launches", std::uint64_t{1})},
                      {"accesses", launch.value("accesses", json::array()).size()},
                      {"proved", proved(launch)},
                      {"summary", line_of(launch, record.checks)}});
  }
  return proofs;
}

json certificate_json(const ProgramRun& run) {
  json launches = run.record.certificates;
  for (json& launch : launches) {
    launch["proved"] = proved(launch);
    launch["summary"] = line_of(launch, run.record.checks);
  }
  return {{"schema", kCertificateSchema},    {"command", run.command},
          {"exit_status", run.exit_status},  {"complete", !run.record.lossy},
          {"device", run.record.device},     {"checks", run.record.checks},
          {"schedule", run.record.schedule}, {"launches", std::move(launches)}};
}

std::string certificate_text(const ProgramRun& run) {
  return certificate_json(run).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::exec
