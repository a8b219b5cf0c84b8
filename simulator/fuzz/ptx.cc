#include <cstdlib>
#include <string_view>
#include <variant>
#include <vector>

#include "simulator/engine/launch/launch.h"
#include "simulator/fuzz/machine.h"
#include "simulator/fuzz/targets.h"

namespace lockstep::fuzz {
namespace {

constexpr std::string_view kNextModule = "// next module\n";

}  // namespace

void ptx(Bytes input) {
  std::string_view rest(reinterpret_cast<const char*>(input.data()), input.size());
  std::vector<std::string_view> texts;
  for (std::size_t end = 0; end != std::string_view::npos && texts.size() < 4;) {
    end = rest.find(kNextModule);
    texts.push_back(rest.substr(0, end));
    if (end != std::string_view::npos) rest.remove_prefix(end + kNextModule.size());
  }
  Machine machine;
  const auto loaded = engine::load_module(texts, Machine::memory(), 0);
  if (const auto* error = std::get_if<engine::LoadError>(&loaded)) {
    if (error->message.empty()) std::abort();
    return;
  }
  int launches = 0;
  for (const engine::Kernel* kernel :
       std::get<std::unique_ptr<engine::Module>>(loaded)->kernels()) {
    if (const engine::LoadError* why = kernel->refusal()) {
      if (why->message.empty()) std::abort();
      continue;
    }
    if (++launches > 2) break;
    engine::LaunchConfig config;
    config.grid = {2, 1, 1};
    config.block = {40, 1, 1};
    machine.launch(*kernel, config);
  }
}

}  // namespace lockstep::fuzz
