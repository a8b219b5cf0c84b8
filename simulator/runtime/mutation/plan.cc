#include "simulator/runtime/mutation/plan.h"

#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

namespace lockstep::runtime {

std::variant<Plan, std::string> read_plan(const std::string& path) {
  std::ifstream file(path);
  if (!file) return "LOCKSTEP_MUTATION='" + path + "': no file that can be read";
  try {
    const auto json = nlohmann::json::parse(file);
    Plan plan;
    const std::string mode = json.at("mode");
    if (mode != "survey" && mode != "serve" && mode != "become")
      return "LOCKSTEP_MUTATION='" + path + "': the mode '" + mode + "' is not known";
    plan.mode = mode == "survey"  ? Plan::Mode::kSurvey
                : mode == "serve" ? Plan::Mode::kServe
                                  : Plan::Mode::kBecome;
    plan.out = json.at("out");
    plan.outputs = json.value("outputs", "");
    plan.share = json.value("share", std::uint64_t{0});
    plan.shares = json.value("shares", std::uint64_t{1});
    plan.jobs = json.value("jobs", 1);
    plan.seconds = json.value("seconds", 0.0);
    plan.instruction_limit = json.value("instruction_limit", std::uint64_t{0});
    plan.compare = json.value("compare", false);
    plan.status = json.value("status", 0);
    plan.parts = json.value("parts", std::uint64_t{0});
    plan.counters = Parts::of(json.value("counters", ""));
    for (const auto& set : json.value("sets", nlohmann::json::array()))
      plan.sets.push_back(Parts::of(set.get_ref<const std::string&>()));
    for (const auto& m : json.value("mutants", nlohmann::json::array())) {
      PlannedMutant& planned = plan.mutants.emplace_back();
      planned.id = m.at("id");
      planned.at = m.at("at");
      if (const auto parts = m.find("parts"); parts != m.end()) {
        planned.parts = parts->get<std::size_t>();
        plan.sets.at(*planned.parts);  // throws
      }
      planned.site = m.value("site", "");
      planned.change = m.value("change", "");
      planned.survived = m.value("survived", false);
      planned.enough = m.value("enough", 0u);
      if (planned.of_call()) continue;
      planned.code = m.at("code");
      const auto& place = m.at("place");
      planned.place = {place.at(0), place.at(1), place.at(2), place.at(3)};
    }
    return plan;
  } catch (const std::exception& error) {
    return "LOCKSTEP_MUTATION='" + path + "': " + error.what();
  }
}

}  // namespace lockstep::runtime
