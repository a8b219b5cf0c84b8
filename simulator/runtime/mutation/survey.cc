#include "simulator/runtime/mutation/survey.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
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
#include "simulator/runtime/state/output_signals.h"
#include "simulator/runtime/state/runtime.h"
#include "simulator/runtime/state/thread_count.h"

namespace lockstep::runtime {

using nlohmann::json;

Survey::Code& Survey::code_of(FatBinary& binary) {
  auto [it, first] = hashes_.try_emplace(&binary);
  const std::vector<std::string>& texts = binary.loaded.begin()->second.texts;
  if (first) it->second = hash_of(texts);
  Code& code = codes_[it->second];
  if (code.parsed == nullptr)
    code.parsed = engine::parse_again(std::vector<std::string_view>(texts.begin(), texts.end()));
  return code;
}

Survey::Site& Survey::site_of(const char* api_name) {
  const CallSite where = call_site(api_name);
  const auto [it, first] = sites_.try_emplace(where.key(api_name));
  if (first) it->second = {api_name, where.object, "", where.offset, {}};
  return it->second;
}

bool Survey::begin_part() {
  ++parts_;
  return plan_.has_part(parts_);
}

std::optional<engine::Outcome> Survey::before_launch(Runtime&, FatBinary&, const engine::Kernel&,
                                                     engine::LaunchConfig& config) {
  ++launches_;
  threads_ |= thread_count() > 1;
  config.ran = &ran_;
  return std::nullopt;
}

void Survey::after_launch(FatBinary& binary, const engine::Kernel& kernel,
                          const engine::Outcome& outcome) {
  Code& code = code_of(binary);
  for (const mutation::Place& p : code.parsed->reached(kernel, ran_))
    code.reached[{p.module, p.function, p.instruction}].by(launches_, parts_);
  instructions_ = std::max(instructions_, outcome.counters.warp_instructions);
}

bool Survey::before_put(Runtime& runtime, const char* api_name, cudaStream_t& stream, Work& work) {
  ++calls_;
  Site& site = site_of(api_name);
  for (std::string& change : changes_of(api_name, stream, runtime.streams.other_than(stream), work))
    site.changes[std::move(change)].by(calls_, parts_);
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    if (const KernelEntry* entry = runtime.modules.find_kernel(kernel->function))
      site.kernel = demangled(entry->name);
  }
  return true;
}

bool Survey::is_changed(Runtime&, const char* api_name, const char* change) {
  ++calls_;
  site_of(api_name).changes[change].by(calls_, parts_);
  return false;
}

cudaError_t Survey::launch_answered(Runtime&, const char* api_name, cudaError_t error) {
  ++calls_;
  site_of(api_name).changes["error-swallowed"].by(calls_, parts_);
  return error;
}

void Survey::finish(int status) {
  if (getpid() != process_) return;
  json codes = json::array(), sites = json::array(), sets = json::array();
  // Few sets: the instructions of a basic block have the same.
  std::map<std::string, std::size_t> known;
  std::map<const Reached*, std::size_t> set_by_reached;  // an instruction has many mutants
  const auto set_of = [&](const Reached& reached) {
    if (const auto it = set_by_reached.find(&reached); it != set_by_reached.end())
      return it->second;
    const auto [it, is_new] = known.try_emplace(reached.parts.text(), sets.size());
    if (is_new) sets.push_back(it->first);
    return set_by_reached[&reached] = it->second;
  };
  const Reached nowhere;
  for (const auto& [hash, code] : codes_) {
    json mutants = json::array();
    for (const mutation::Mutant& m : code.parsed->mutants()) {
      const auto found = code.reached.find({m.place.module, m.place.function, m.place.instruction});
      const Reached& reached = found == code.reached.end() ? nowhere : found->second;
      mutants.push_back(
          {{"place", {m.place.module, m.place.function, m.place.instruction, m.place.edit}},
           {"operator", mutation::name_of(m.op)},
           {"change", m.change},
           {"function", m.function},
           {"text", m.text},
           {"file", m.file},
           {"line", m.line},
           {"column", m.column},
           {"at", reached.first},
           {"parts", set_of(reached)}});
    }
    codes.push_back({{"code", hash}, {"mutants", std::move(mutants)}});
  }
  for (const auto& [key, site] : sites_) {
    json changes = json::array();
    for (const auto& [change, reached] : site.changes)
      changes.push_back({{"change", change},
                         {"words", words_of(change)},
                         {"at", reached.first},
                         {"parts", set_of(reached)}});
    sites.push_back({{"site", key},
                     {"api", site.api},
                     {"object", site.object},
                     {"offset", site.offset},
                     {"kernel", site.kernel},
                     {"changes", std::move(changes)}});
  }
  const json all = {{"status", status},
                    {"launches", launches_},
                    {"calls", calls_},
                    {"instructions", instructions_},
                    {"threads", threads_},
                    {"codes", std::move(codes)},
                    {"sites", std::move(sites)},
                    {"sets", std::move(sets)},
                    {"counters", counters_.text()},
                    {"parts", parts_}};
  // Whole or not at all: the file is renamed when it is there.
  const std::string part = plan_.out + "." + std::to_string(getpid());
  const OutputSignalsHeldBack held_back;
  std::ofstream file(part);
  file << all.dump(-1, ' ', false, json::error_handler_t::replace);
  file.close();
  if (file && std::rename(part.c_str(), plan_.out.c_str()) == 0) return;
  std::fprintf(stderr, "lockstep: %s cannot be written: %s\n", plan_.out.c_str(),
               std::strerror(errno));
  unlink(part.c_str());
  _exit(kExitUnrecorded);
}

}  // namespace lockstep::runtime
