#include "simulator/runtime/mutation/survey.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "simulator/mutation/operator.h"
#include "simulator/runtime/mutation/call_change.h"
#include "simulator/runtime/mutation/call_site.h"
#include "simulator/runtime/state/describe.h"
#include "simulator/runtime/state/modules.h"
#include "simulator/runtime/state/runtime.h"

namespace lockstep::runtime {

using nlohmann::json;

int thread_count() {
  std::error_code error;
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task", error), std::filesystem::directory_iterator()));
}

Survey::Code& Survey::code_of(FatBinary& binary) {
  auto [it, first] = hashes_.try_emplace(&binary);
  const std::vector<std::string>& texts = binary.loaded.begin()->second.texts;
  if (first) it->second = hash_of(texts);
  Code& code = codes_[it->second];
  if (code.parsed == nullptr) code.parsed = engine::parse_again(std::vector<std::string_view>(texts.begin(), texts.end()));
  return code;
}

Survey::Site& Survey::site_of(const char* api_name) {
  const CallSite where = call_site(api_name);
  const auto [it, first] = sites_.try_emplace(where.key(api_name));
  if (first) it->second = {api_name, where.object, "", where.offset, {}};
  return it->second;
}

void Survey::before_launch(Runtime&, FatBinary&, const engine::Kernel&, engine::LaunchConfig& config) {
  ++launches_;
  threads_ |= thread_count() > 1;
  config.ran = &ran_;
}

void Survey::after_launch(FatBinary& binary, const engine::Kernel& kernel, const engine::Outcome& outcome) {
  Code& code = code_of(binary);
  for (const mutation::Place& p : code.parsed->executed(kernel, ran_)) code.first.try_emplace({p.module, p.function, p.instruction}, launches_);
  instructions_ = std::max(instructions_, outcome.counters.warp_instructions);
}

bool Survey::before_put(Runtime& runtime, const char* api_name, cudaStream_t& stream, Work& work) {
  ++calls_;
  Site& site = site_of(api_name);
  for (std::string& change : changes_of(api_name, stream, work)) site.changes.try_emplace(std::move(change), calls_);
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    if (const KernelEntry* entry = runtime.modules.find_kernel(kernel->function)) site.kernel = demangled(entry->name);
  }
  return true;
}

cudaError_t Survey::launch_answered(Runtime&, const char* api_name, cudaError_t error) {
  ++calls_;
  site_of(api_name).changes.try_emplace("error-swallowed", calls_);
  return error;
}

void Survey::finish(int status) {
  if (getpid() != process_) return;
  json codes = json::array(), sites = json::array();
  for (const auto& [hash, code] : codes_) {
    json mutants = json::array();
    for (const mutation::Mutant& m : code.parsed->mutants()) {
      const auto first = code.first.find({m.place.module, m.place.function, m.place.instruction});
      mutants.push_back({{"place", {m.place.module, m.place.function, m.place.instruction, m.place.edit}},
                         {"operator", mutation::name_of(m.op)},
                         {"change", m.change},
                         {"function", m.function},
                         {"text", m.text},
                         {"file", m.file},
                         {"line", m.line},
                         {"column", m.column},
                         {"at", first == code.first.end() ? 0 : first->second}});
    }
    codes.push_back({{"code", hash}, {"mutants", std::move(mutants)}});
  }
  for (const auto& [key, site] : sites_) {
    json changes = json::array();
    for (const auto& [change, at] : site.changes) changes.push_back({{"change", change}, {"words", words_of(change)}, {"at", at}});
    sites.push_back(
        {{"site", key}, {"api", site.api}, {"object", site.object}, {"offset", site.offset}, {"kernel", site.kernel}, {"changes", std::move(changes)}});
  }
  const json all = {{"status", status},    {"launches", launches_},     {"calls", calls_},          {"instructions", instructions_},
                    {"threads", threads_}, {"codes", std::move(codes)}, {"sites", std::move(sites)}};
  // Whole or not at all: the file is renamed when it is there.
  const std::string part = plan_.out + "." + std::to_string(getpid());
  std::ofstream(part) << all.dump(-1, ' ', false, json::error_handler_t::replace);
  std::rename(part.c_str(), plan_.out.c_str());
}

}  // namespace lockstep::runtime
