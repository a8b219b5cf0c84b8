#include "simulator/fuzz/differential/simulate.h"

#include <cstring>
#include <variant>

#include "simulator/engine/launch/proof_variable.h"
#include "simulator/engine/launch/translate_variable.h"
#include "simulator/engine/run/module.h"
#include "simulator/fuzz/differential/choices.h"
#include "simulator/fuzz/differential/data.h"
#include "simulator/fuzz/differential/printer.h"
#include "simulator/fuzz/differential/sums.h"

namespace lockstep::fuzz::differential {
void prepare(const Program& program, std::span<std::uint8_t> memory) {
  const Layout layout(program);
  std::memset(memory.data(), 0, layout.bytes);
  for (std::uint32_t i = 0; i < kSums; ++i)
    std::memcpy(memory.data() + layout.sums + 8 * i, &kSumStart, 8);
}

std::uint64_t digest(std::span<const std::uint8_t> memory) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 8 <= memory.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, memory.data() + i, 8);
    sum += mixed(word + (i / 8 + 1) * 0x9e3779b97f4a7c15);
  }
  return sum;
}

Simulator::Simulator()
    : memory_(std::make_unique<memory::DeviceMemory>(memory::DeviceMemory::kSmallWindow)) {
  const auto fresh = [&](std::uint64_t bytes) {
    const memory::Address a = memory_->allocate(bytes, 256, memory::Kind::kDevice, 0)->base;
    memory_->mark_written(a, bytes);
    return a;
  };
  input_ = fresh(kInputBytes);
  arena_ = fresh(Layout::kWhole);
  std::memcpy(memory_->host(*memory_->find(input_), input_), input_data().data(), kInputBytes);
}

Simulator::~Simulator() { module_.reset(); }

std::string Simulator::load(std::span<const Program> programs, const Loading& how) {
  module_.reset();
  const std::string text = module_of(programs, how.target);
  const std::string_view texts[] = {text};
  auto loaded = engine::load_module(texts, *memory_, 0, nullptr, how.registers);
  if (const auto e = engine::first_refusal(loaded)) return e->message;
  module_ = std::move(std::get<std::unique_ptr<engine::Module>>(loaded));
  return {};
}

Result Simulator::run(const Program& program, std::size_t n, const Launching& how) {
  Result r;
  const engine::Kernel* kernel = module_->find_kernel("k" + std::to_string(n));
  const Layout layout(program);
  auto* host = reinterpret_cast<std::uint8_t*>(memory_->host(*memory_->find(arena_), arena_));
  prepare(program, {host, layout.bytes});
  std::vector<std::byte> parameters(kernel->parameter_offsets().back());
  const memory::Address words[] = {input_ + program.input_offset, arena_, arena_ + layout.scratch,
                                   arena_ + layout.sums, input_};
  for (std::size_t i = 0; i < 5; ++i)
    std::memcpy(parameters.data() + kernel->parameter_offsets()[i], &words[i], 8);
  std::memcpy(parameters.data() + kernel->parameter_offsets()[5], program.arguments.data(),
              kArgumentBytes);
  engine::LaunchConfig config;
  config.grid = {program.blocks, 1, 1};
  config.block = {program.threads, 1, 1};
  config.parameters = parameters;
  config.checks = how.checks;
  config.proof = engine::proof_by_variable();
  config.translate = engine::translate_by_variable();
  config.schedule_seed = how.schedule_seed;
  config.host_threads = how.host_threads;
  config.instruction_limit = 2'000'000;
  config.output = [](std::string_view) {};
  std::vector<std::uint8_t> ran;
  if (how.rows != nullptr) config.ran = &ran;
  const engine::Outcome outcome = engine::launch(*kernel, config, *memory_);
  const engine::Program& decoded = static_cast<const engine::LoadedKernel&>(*kernel).program();
  for (std::uint32_t pc = 0; pc < ran.size(); ++pc) {
    if ((ran[pc] & engine::kExecuted) != 0 && decoded.origin(pc).row != nullptr)
      how.rows->insert(decoded.origin(pc).row);
  }
  thread_instructions_ += outcome.counters.thread_instructions;
  for (const check::Finding& f : outcome.findings) r.error += f.to_string() + "\n";
  r.memory.assign(host, host + layout.bytes);
  return r;
}

}  // namespace lockstep::fuzz::differential
