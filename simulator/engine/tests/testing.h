// Runs PTX text on the engine in tests: loads a module, fills buffers, launches, and returns
// results and findings.
//
//   Machine gpu;
//   const auto x = gpu.buffer<float>({1, 2, 3});
//   gpu.load(text);
//   const Outcome o = gpu.launch("scale", 1, 32, x, 3);
//   EXPECT_THAT(gpu.fetch<float>(x, 3), ElementsAre(...));
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/launch/launch.h"
#include "simulator/engine/launch/proof_variable.h"
#include "simulator/engine/launch/translate_variable.h"
#include "simulator/engine/run/module.h"
#include "simulator/memory/device_memory.h"

namespace lockstep::engine::testing {

// The first lines of every module, followed by `body`.
inline std::string module_text(std::string_view body, std::string_view target = "sm_90") {
  return ".version 8.0\n.target " + std::string(target) + "\n.address_size 64\n" +
         std::string(body);
}

// Calls launch(). In a test binary that judges rows of the table of forms, also reports the
// executed instructions to coverage/judged.h.
inline Outcome launch_for_judges(const Kernel& kernel, LaunchConfig config,
                                 memory::DeviceMemory& memory) {
  if (!coverage::judging()) return engine::launch(kernel, config, memory);
  std::vector<std::uint8_t> ran;
  config.ran = &ran;
  Outcome outcome = engine::launch(kernel, config, memory);
  const Program& program = static_cast<const LoadedKernel&>(kernel).program();
  for (std::uint32_t pc = 0; pc < ran.size(); ++pc) {
    const program::Origin& from = program.origin(pc);
    if ((ran[pc] & engine::kExecuted) != 0 && from.row != nullptr)
      coverage::ran(*from.row, from.text);
  }
  return outcome;
}

// A kernel k(out) around a body that computes %r0 from %r1, the thread's number. Each thread stores
// its %r0 in `out`. The kernel may have more declarations.
inline std::string storing_r0(const std::string& body, const std::string& declarations = "") {
  return ".visible .entry k(.param .u64 out)\n{\n" + declarations + R"(
  .reg .pred %p<9>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<20>;
  mov.u32 %r1, %tid.x;
)" + body +
         R"(
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r0;
  ret;
})";
}

// A kernel (data, more) around a body: thread i has %rd3 = data + 4 i, %rd4 = more + 4 i and
// %r1 = i, and 256 bytes s of shared memory.
inline std::string of_data_and_more(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + R"((.param .u64 data, .param .u64 more)
{
  .shared .align 4 .b8 s[256];
  .reg .pred %p<4>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [more];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %rd3, %r1, 4, %rd1;
  mad.wide.u32 %rd4, %r1, 4, %rd2;
)" + body +
         "\n  ret;\n}\n";
}

class Machine {
 public:
  // The configuration of later launches.
  LaunchConfig config;

  Machine() {
    config.host_threads = 1;
    config.instruction_limit = 50'000'000;  // a hanging test fails instead
    config.output = [this](std::string_view text) { printed += text; };
    // --test_env=LOCKSTEP_PROOF=compare: every launch is compared with its proof.
    config.proof = proof_by_variable();
    config.translate = translate_by_variable();
  }

  // Loads `body` with the usual header. Throws with the message if it is refused.
  void load(std::string_view body) { load_text(module_text(body)); }
  void load_text(std::string_view text) {
    const std::string_view texts[] = {text};
    auto loaded = load_module(texts, memory, 0);
    if (const auto error = first_refusal(loaded)) throw std::runtime_error(error->message);
    module = std::move(std::get<std::unique_ptr<Module>>(loaded));
  }
  // The error message of a module that must be refused; empty if all of it is accepted.
  std::string refusal(std::string_view body) {
    const std::string text = module_text(body);
    const std::string_view texts[] = {text};
    const auto error = first_refusal(load_module(texts, memory, 0));
    return error ? error->message : std::string();
  }

  template <class T>
  memory::Address buffer(const std::vector<T>& values, std::string name = {}) {
    const memory::Address a = unwritten(values.size() * sizeof(T), std::move(name));
    memory::DeviceMemory& m = memory;
    std::memcpy(m.host(*m.find(a), a), values.data(), values.size() * sizeof(T));
    m.mark_written(a, values.size() * sizeof(T));
    return a;
  }
  // Allocates unwritten memory.
  memory::Address unwritten(std::uint64_t bytes, std::string name = {}) {
    return memory.allocate(bytes, 256, memory::Kind::kDevice, 0, std::move(name))->base;
  }
  template <class T>
  std::vector<T> fetch(memory::Address a, std::size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory.host(*memory.find(a), a), count * sizeof(T));
    return values;
  }

  template <class... Arguments>
  Outcome launch(std::string_view kernel, Dim3 grid, Dim3 block, Arguments... arguments) {
    const Kernel* k = module->find_kernel(kernel);
    if (k == nullptr) throw std::runtime_error("no kernel " + std::string(kernel));
    std::vector<std::byte> packed(k->parameter_offsets().back());
    std::size_t i = 0;
    [[maybe_unused]] const auto put = [&](const auto& v) {
      if (i + 1 >= k->parameter_offsets().size() || k->parameter_sizes()[i] != sizeof v) {
        throw std::runtime_error("argument " + std::to_string(i) +
                                 " has another size than the kernel's parameter");
      }
      std::memcpy(packed.data() + k->parameter_offsets()[i++], &v, sizeof v);
    };
    (put(arguments), ...);
    if (i + 1 != k->parameter_offsets().size())
      throw std::runtime_error("the kernel has more parameters");
    LaunchConfig c = config;
    c.grid = grid;
    c.block = block;
    c.parameters = packed;
    return launch_for_judges(*k, c, memory);
  }
  template <class... Arguments>
  Outcome launch(std::string_view kernel, std::uint32_t grid, std::uint32_t block,
                 Arguments... arguments) {
    return launch(kernel, Dim3{grid, 1, 1}, Dim3{block, 1, 1}, arguments...);
  }

  memory::DeviceMemory memory;
  std::unique_ptr<Module> module;
  std::string printed;  // what device code printed
};

// A kernel k(x, y) around a body. For thread i: %r1 = i, %rd5 = x + 4 i, %rd6 = y + 4 i, %r2 = the
// shared address of s[i] (s: 256 bytes). The body may use 64 bytes t of shared memory, 16 bytes
// `stack` of local memory and a constant `table`. It starts on line kBodyLine of the module's text.
struct TwoBuffers {
  static constexpr int kBodyLine = 3 + 21;
  Machine gpu;
  memory::Address
      x = 0,
      y = 0;  // of the last run: a value for each thread of a block, and as many unwritten ones

  static std::string kernel(const std::string& body) {
    return R"(
.const .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .shared .align 4 .b8 s[256];
  .shared .align 4 .b8 t[64];
  .local .align 8 .b8 stack[16];
  .reg .pred %p<9>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<30>;
  .reg .b16 %h<9>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  mov.u32 %r2, s;
  shl.b32 %r3, %r1, 2;
  add.u32 %r2, %r2, %r3;
)" + body + "\n  ret;\n}\n";
  }
  Outcome run(const std::string& body, std::uint32_t threads = 32, std::uint32_t blocks = 1) {
    gpu.load(kernel(body));
    x = gpu.buffer(std::vector<std::uint32_t>(threads, 7), "x");
    y = gpu.unwritten(threads * 4, "y");
    return gpu.launch("k", blocks, threads, x, y);
  }
};

// All findings, for failure messages.
// 2^e, of a normal number. std::ldexp would take most of the time of models that ask for each
// element.
inline double two_to_the(int e) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
}

inline std::string text(const Outcome& o) {
  std::string s;
  for (const check::Finding& f : o.findings) s += f.to_string() + "\n";
  return s;
}

}  // namespace lockstep::engine::testing
