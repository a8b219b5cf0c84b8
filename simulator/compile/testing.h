// Helpers for tests of the passes: parsing a text, and handlers that do nothing and record the
// action for which they were chosen.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "simulator/compile/compile.h"
#include "simulator/memory/device_memory.h"
#include "simulator/program/handlers.h"
#include "simulator/program/program.h"
#include "simulator/ptx/parser.h"

namespace lockstep::compile::testing {

inline std::string module_text(std::string_view body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + std::string(body);
}

inline ptx::Module parsed(std::string_view body) {
  auto result = ptx::parse(module_text(body));
  if (const auto* error = std::get_if<ptx::ParseError>(&result)) {
    ADD_FAILURE() << error->to_string();
    return {};
  }
  return std::get<ptx::Module>(std::move(result));
}

template <int N>
void fake_handler(engine::Warp&, const program::Op&, program::LaneMask) {}

class FakeHandlers final : public program::Handlers {
 public:
  static constexpr int kLoad = static_cast<int>(program::Action::kCount), kStore = kLoad + 1,
                       kCompute = kLoad + 2, kHandlers = kLoad + 3;

  program::Handler of(program::Action action) const override {
    return table()[static_cast<std::size_t>(action)];
  }
  program::Handler load(const program::Op&) const override { return table()[kLoad]; }
  program::Handler store(const program::Op&) const override { return table()[kStore]; }
  program::Handler compute(const program::AluKey&) const override { return table()[kCompute]; }

  // The action, kLoad, kStore or kCompute for which the operation's handler was chosen; -1 if it
  // has none.
  static int chosen_for(const program::Op& op) {
    for (int n = 0; n < kHandlers; ++n) {
      if (table()[static_cast<std::size_t>(n)] == op.run) return n;
    }
    return -1;
  }

 private:
  static const std::array<program::Handler, kHandlers>& table() {
    static const auto table = []<int... N>(std::integer_sequence<int, N...>) {
      return std::array<program::Handler, kHandlers>{&fake_handler<N>...};
    }
    (std::make_integer_sequence<int, kHandlers>());
    return table;
  }
};

// A program compiled from a text, and the memory that contains its variables.
struct Compiled {
  memory::DeviceMemory memory;
  ptx::Module module;
  std::unique_ptr<program::Program> program;
  std::string error;

  explicit Compiled(std::string_view body,
                    program::RegisterPlaces places = program::RegisterPlaces::kShared)
      : module(parsed(body)) {
    static const FakeHandlers handlers;
    auto result = compile({&module, 1}, memory, 0, {}, places, handlers);
    if (auto* e = std::get_if<program::LoadError>(&result)) {
      error = e->message;
    } else {
      program = std::get<std::unique_ptr<program::Program>>(std::move(result));
      for (const program::Function& f : program->functions) {
        if (f.refusal && error.empty()) error = f.refusal->message;
      }
    }
  }
  const ptx::Function& function(std::size_t n = 0) const { return module.functions[n]; }
};

}  // namespace lockstep::compile::testing
