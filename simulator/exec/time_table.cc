#include "simulator/exec/time_table.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::exec {
namespace {

using nlohmann::json;

constexpr std::string_view kSpent[] = {"loop",  "arithmetic",     "memory",
                                       "races", "initialisation", "synchronisation"};

// Seconds in total, and by activity.
struct Time {
  double seconds = 0;
  std::map<std::string, double> spent;
  void add(const json& instruction) {
    const json of = instruction.value("spent", json::object());
    for (const auto& [what, time] : of.items()) {
      spent[what] += time.get<double>();
      seconds += time.get<double>();
    }
  }
};
using Times = std::vector<std::pair<std::string, Time>>;

// Times grouped by a name of each instruction, longest first.
template <class Name>
Times times_by(const RunRecord& record, Name name) {
  std::map<std::string, Time> by_name;
  for (const json& instruction : record.profile) by_name[name(instruction)].add(instruction);
  Times times(by_name.begin(), by_name.end());
  std::stable_sort(times.begin(), times.end(), [](const auto& a, const auto& b) {
    return a.second.seconds > b.second.seconds;
  });
  return times;
}

std::string kernel_of(const json& instruction) { return instruction.value("kernel", ""); }

// "k.cu:31"; or "f(int*), PTX line 88: ld.global.f32".
std::string line_or_ptx(const json& instruction) {
  const std::string file = instruction.value("file", "");
  if (!file.empty()) return file + ":" + std::to_string(instruction.value("line", 0));
  return kernel_of(instruction) + ", PTX line " + std::to_string(instruction.value("ptx_line", 0)) +
         ": " + instruction.value("instruction", "");
}

double all_seconds(const RunRecord& record) {
  Time all;
  for (const json& instruction : record.profile) all.add(instruction);
  return all.seconds;
}

// A column's width: the wider of its heading and "100 %".
int width_of(std::string_view what) { return std::max(static_cast<int>(what.size()), 5); }

std::string rows(const Times& times, double all, std::size_t most, std::string_view last) {
  std::string text = "  seconds  share";
  for (const std::string_view what : kSpent)
    text.append(2 + static_cast<std::size_t>(width_of(what)) - what.size(), ' ').append(what);
  text += "  " + std::string(last) + "\n";
  for (std::size_t i = 0; i < times.size() && i < most; ++i) {
    const auto& [name, time] = times[i];
    char cell[64];
    std::snprintf(cell, sizeof cell, "%9.3f  %3.0f %%", time.seconds, 100 * time.seconds / all);
    text += cell;
    for (const std::string_view what : kSpent) {
      const auto it = time.spent.find(std::string(what));
      const double share = it == time.spent.end() ? 0 : 100 * it->second / time.seconds;
      std::snprintf(cell, sizeof cell, "  %*.0f %%", width_of(what) - 2, share);
      text += cell;
    }
    text += "  " + name + "\n";
  }
  return text;
}

json spent_json(const Time& time) {
  json spent = json::object();
  for (const std::string_view what : kSpent) {
    const auto it = time.spent.find(std::string(what));
    spent[std::string(what)] = it == time.spent.end() ? 0.0 : it->second;
  }
  return spent;
}

}  // namespace

std::string time_table(const RunRecord& record) {
  const double all = all_seconds(record);
  if (!(all > 0)) return "no time was seen in kernels: they are looked at once a millisecond\n";
  constexpr std::size_t kMostLines = 20;
  return rows(times_by(record, kernel_of), all, ~std::size_t{0}, "kernel") + "\n" +
         rows(times_by(record, line_or_ptx), all, kMostLines, "line");
}

json profile_json(const ProgramRun& run) {
  json kernels = json::array(), instructions = run.record.profile;
  for (const auto& [name, time] : times_by(run.record, kernel_of))
    kernels.push_back({{"kernel", name}, {"seconds", time.seconds}, {"spent", spent_json(time)}});
  for (json& instruction : instructions) {
    Time time;
    time.add(instruction);
    instruction["seconds"] = time.seconds;
    instruction["spent"] = spent_json(time);
  }
  std::stable_sort(instructions.begin(), instructions.end(), [](const json& a, const json& b) {
    return a["seconds"].get<double>() > b["seconds"].get<double>();
  });
  return {{"schema", kProfileSchema},
          {"command", run.command},
          {"exit_status", run.exit_status},
          {"complete", !run.record.lossy && run.record.unfinished == 0},
          {"device", run.record.device},
          {"checks", run.record.checks},
          {"seconds", all_seconds(run.record)},
          {"kernels", std::move(kernels)},
          {"instructions", std::move(instructions)}};
}

std::string profile_text(const ProgramRun& run) {
  return profile_json(run).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace lockstep::exec
