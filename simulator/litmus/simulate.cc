#include "simulator/litmus/simulate.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <variant>

#include "simulator/engine/launch/launch.h"
#include "simulator/engine/launch/proof_variable.h"
#include "simulator/engine/launch/translate_variable.h"
#include "simulator/litmus/ptx.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::litmus {

struct Simulator::State {
  memory::DeviceMemory memory{memory::DeviceMemory::kSmallWindow};
  memory::Address arena = 0, results = 0;
  std::vector<Program> programs;
  Module text;
  std::unique_ptr<engine::Module> module;

  std::uint8_t* bytes(memory::Address a) {
    return reinterpret_cast<std::uint8_t*>(memory.host(*memory.find(a), a));
  }
  std::uint64_t outcome(const Program& p, std::uint32_t copy) {
    std::uint64_t all = 0;
    for (std::size_t t = 0; t < p.threads.size(); ++t) {
      for (std::size_t i = 0; i < p.threads[t].ops.size(); ++i) {
        if (!has_result(p.threads[t].ops[i])) continue;
        std::uint64_t value;
        const std::uint32_t at = result_offset(static_cast<int>(t), static_cast<int>(i));
        std::memcpy(&value, bytes(results) + copy * kResultBytes + at, 8);
        all += outcome_of_result(static_cast<int>(t), static_cast<int>(i), value);
      }
    }
    for (std::size_t l = 0; l < p.locations.size(); ++l) {
      const Location& at = p.locations[l];
      std::uint64_t value = 0;
      std::memcpy(&value, bytes(arena) + at.offset * p.copies + copy * at.bytes, at.bytes);
      if (!at.shared) all += outcome_of_memory(static_cast<int>(l), value);
    }
    return all;
  }
  std::optional<OpName> at_line(std::size_t n, int line) const {
    const Module::Lines& lines = text.lines[n];
    const std::size_t i = static_cast<std::size_t>(line - lines.first);
    return line >= lines.first && i < lines.of.size() ? lines.of[i] : std::nullopt;
  }
};

Simulator::Simulator() : state_(std::make_unique<State>()) {
  const auto fresh = [&](std::uint64_t n, const char* name) {
    const memory::Address a = state_->memory.allocate(n, 256, memory::Kind::kDevice, 0, name)->base;
    state_->memory.mark_written(a, n);
    return a;
  };
  state_->arena = fresh(32 * kArenaBytes, "arena");
  state_->results = fresh(32 * kResultBytes, "results");
}

Simulator::~Simulator() { state_->module.reset(); }

void Simulator::load(std::span<const Program> programs) {
  State& s = *state_;
  s.module.reset();
  s.programs.assign(programs.begin(), programs.end());
  s.text = to_ptx(s.programs);
  const std::string_view texts[] = {s.text.text};
  auto loaded = engine::load_module(texts, s.memory, 0);
  if (const auto* e = std::get_if<engine::LoadError>(&loaded))
    throw std::runtime_error(e->message + "\n" + s.text.text);
  s.module = std::move(std::get<std::unique_ptr<engine::Module>>(loaded));
}

Ran Simulator::run(std::size_t n, std::uint64_t schedule_seed) {
  State& s = *state_;
  const Program& p = s.programs[n];
  std::memset(s.bytes(s.arena), 0, kArenaBytes * p.copies);
  std::memset(s.bytes(s.results), 0, kResultBytes * p.copies);
  const engine::Kernel* kernel = s.module->find_kernel("k" + std::to_string(n));
  const memory::Address arguments[] = {s.arena, s.results};
  engine::LaunchConfig config;
  config.grid = {p.blocks(), 1, 1};
  config.block = {32 * p.warps(), 1, 1};
  config.cluster = {p.cluster, 1, 1};
  config.parameters = std::as_bytes(std::span(arguments));
  config.go_on = true;
  config.proof = engine::proof_by_variable();
  config.translate = engine::translate_by_variable();
  config.schedule_seed = schedule_seed;
  config.host_threads = 1;
  config.instruction_limit = 1'000'000;
  const engine::Outcome outcome = engine::launch(*kernel, config, s.memory);

  Ran ran;
  for (const check::Finding& f : outcome.findings) {
    if (f.kind != check::Kind::kRace) {
      if (f.severity == check::Severity::kError || f.kind == check::Kind::kIncompleteCheck)
        ran.trouble += f.to_string() + "\n";
      continue;
    }
    ran.race = true;
    ran.report += f.to_string() + "\n";
    const auto one = s.at_line(n, f.access.site.ptx_line);
    const auto other = f.other ? s.at_line(n, f.other->site.ptx_line) : std::nullopt;
    if (!one || !other) {
      ran.trouble += "a race outside of the program:\n" + f.to_string() + "\n";
      continue;
    }
    if (p.copies > 1 && f.access.thread.x % 32 != f.other->thread.x % 32) {
      ran.trouble += "a race of two copies:\n" + f.to_string() + "\n";
    }
    ran.races.insert({other->thread, other->op, one->thread, one->op});
  }
  for (std::uint32_t copy = 0; copy < p.copies; ++copy) ran.outcomes.push_back(s.outcome(p, copy));
  return ran;
}

}  // namespace lockstep::litmus
