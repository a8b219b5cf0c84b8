// Runs every row of the table of instruction forms, with registers that share storage and without,
// and compares the results. docs/reference/ptx_coverage.md lists the tests of the results
// themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "simulator/compile/compile.h"
#include "simulator/engine/run/handlers.h"
#include "simulator/engine/tests/row_kernels.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/ptx/parser.h"

namespace lockstep::engine {
namespace {

struct Done {
  std::vector<std::uint32_t> data, output;
  std::string findings;
  std::set<int> lines;  // lines of the module's text that some lane executed
  bool operator==(const Done&) const = default;
};

// Rows that always end with a finding here: images and tensor maps, which image_ops_test.cc and
// tensor_copy_test.cc test, because no handle or address here names one; and instructions that end
// the kernel.
bool always_a_finding(const isa::FormRow& row) {
  switch (row.opcode) {
    case isa::Opcode::k_st:
      return row.syntax.find(".param::func") !=
             std::string_view::npos;  // the kernel's own parameters are never written
    case isa::Opcode::k_tex:
    case isa::Opcode::k_tld4:
    case isa::Opcode::k_txq:
    case isa::Opcode::k_suld:
    case isa::Opcode::k_sust:
    case isa::Opcode::k_sured:
    case isa::Opcode::k_suq:
    case isa::Opcode::k_setmaxnreg:     // needs four warps
    case isa::Opcode::k_tcgen05_alloc:  // with all that needs columns: tensor_order_test.cc
    case isa::Opcode::k_tcgen05_commit:
    case isa::Opcode::k_tcgen05_cp:
    case isa::Opcode::k_tcgen05_dealloc:
    case isa::Opcode::k_tcgen05_ld:
    case isa::Opcode::k_tcgen05_mma:
    case isa::Opcode::k_tcgen05_shift:
    case isa::Opcode::k_tcgen05_st:
    case isa::Opcode::k_clusterlaunchcontrol_try_cancel:  // launch_control_test.cc
    case isa::Opcode::k_st_bulk:                          // bulk_store_test.cc
    case isa::Opcode::k_wgmma_mma_async:
    case isa::Opcode::k_wgmma_mma_async_sp:
    case isa::Opcode::k_cp_async_bulk_tensor:
    case isa::Opcode::k_cp_reduce_async_bulk_tensor:
    case isa::Opcode::k_cp_async_bulk_prefetch_tensor:
    case isa::Opcode::k_multimem_ld_reduce:  // needs a multicast object: multimem_test.cc
    case isa::Opcode::k_multimem_red:
    case isa::Opcode::k_multimem_st:
    case isa::Opcode::k_tensormap_replace:
    case isa::Opcode::k_tensormap_cp_fenceproxy:
    case isa::Opcode::k_trap:
    case isa::Opcode::k_brkpt: return true;
    default: return false;
  }
}

class Rows {
 public:
  Rows() {
    std::vector<std::uint32_t> words(kRowThreads * kRowStretch / 4);
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = static_cast<std::uint32_t>(1 + i * 7 % 97);
    input_ = gpu_.buffer(words, "input");
    data_ = gpu_.buffer(words, "data");
    output_ = gpu_.buffer(std::vector<std::uint32_t>(kRowThreads * kRowOutput / 4), "output");
    unwritten_ = gpu_.unwritten(words.size() * 4, "unwritten");
    words_ = std::move(words);
    gpu_.config.instruction_limit = 100'000;
  }

  // Parses the text once for several loads.
  static std::vector<ptx::Module> parse(const std::string& text) {
    std::vector<ptx::Module> modules;
    auto parsed = ptx::parse(text);
    if (const auto* error = std::get_if<ptx::ParseError>(&parsed)) {
      ADD_FAILURE() << error->to_string();
    } else {
      modules.push_back(std::move(std::get<ptx::Module>(parsed)));
    }
    return modules;
  }

  // Loads parsed modules as load_module does.
  std::unique_ptr<Module> load(const std::vector<ptx::Module>& modules, RegisterPlaces places) {
    auto compiled =
        compile::compile(modules, gpu_.memory, 0, ManagedVariables(), places, handlers());
    if (const auto* error = std::get_if<LoadError>(&compiled)) {
      ADD_FAILURE() << error->message;
      return nullptr;
    }
    auto module = std::make_unique<LoadedModule>(
        std::move(std::get<std::unique_ptr<Program>>(compiled)), gpu_.memory);
    for (const LoadError& refusal : module->refusals()) ADD_FAILURE() << refusal.message;
    return module;
  }

  Done run(const Module& module, std::size_t number) {
    fill(data_, words_);
    fill(output_, std::vector<std::uint32_t>(kRowThreads * kRowOutput / 4));
    const Kernel* k = module.find_kernel("row" + std::to_string(number));
    std::vector<std::byte> parameters(k->parameter_offsets().back());
    const memory::Address arguments[] = {input_, data_, output_, unwritten_};
    for (int i = 0; i < 4; ++i)
      std::memcpy(parameters.data() + k->parameter_offsets()[i], &arguments[i], 8);
    LaunchConfig c = gpu_.config;
    c.block = {kRowThreads, 1, 1};
    c.grid = {1, 1, 1};
    c.parameters = parameters;
    std::vector<std::uint8_t> ran;
    c.ran = &ran;
    const Outcome o = launch(*k, c, gpu_.memory);
    Done done{gpu_.fetch<std::uint32_t>(data_, words_.size()),
              gpu_.fetch<std::uint32_t>(output_, kRowThreads * kRowOutput / 4),
              testing::text(o),
              {}};
    const auto& loaded = static_cast<const LoadedKernel&>(*k);
    const Program& program = loaded.program();
    for (std::uint32_t pc = loaded.function().entry; pc < loaded.function().end; ++pc) {
      if ((ran[pc] & kExecuted) != 0) done.lines.insert(program.origin(pc).ptx_line);
    }
    return done;
  }

 private:
  // Fills the buffer and marks it as written; an earlier discard may have changed that.
  void fill(memory::Address a, const std::vector<std::uint32_t>& with) {
    memory::DeviceMemory& m = gpu_.memory;
    std::memcpy(m.host(*m.find(a), a), with.data(), with.size() * 4);
    m.mark_written(a, with.size() * 4);
  }

  testing::Machine gpu_;
  memory::Address input_ = 0, data_ = 0, output_ = 0, unwritten_ = 0;
  std::vector<std::uint32_t> words_;
};

// Whether the example was executed. It is on a line of its own (row_kernels.cc), in a kernel of its
// own.
bool executes(const Done& done, const std::vector<std::string>& text, const isa::Example& e) {
  return std::any_of(done.lines.begin(), done.lines.end(),
                     [&](int line) { return text[static_cast<std::size_t>(line - 1)] == e.text; });
}

// The words and the kinds of registers of an example: "add.rn.f32 r0, r1, r2;" -> "add", "rn",
// "f32", " r, r, r;".
std::vector<std::string> traits_of(const isa::Example& e) {
  const std::size_t end = e.text.find_first_of(" ;");
  std::vector<std::string> traits;
  std::istringstream words(e.text.substr(0, end));
  for (std::string word; std::getline(words, word, '.');) traits.push_back(word);
  std::string operands = e.text.substr(end);
  std::erase_if(operands, [](unsigned char c) { return std::isdigit(c) != 0; });
  traits.push_back(operands);
  return traits;
}

// Examples of a row with each of its words and each combination of kinds of registers: what decides
// which registers share places. With LOCKSTEP_SCALE (--config=nightly), all of them.
std::vector<isa::Example> covering(std::span<const isa::Example> of_row) {
  if (std::getenv("LOCKSTEP_SCALE")) return {of_row.begin(), of_row.end()};
  std::vector<isa::Example> chosen;
  std::set<std::string> seen;
  for (const isa::Example& e : of_row) {
    bool adds = false;
    for (const std::string& trait : traits_of(e)) adds |= seen.insert(trait).second;
    if (adds) chosen.push_back(e);
  }
  return chosen;
}

// Visits the examples row by row.
template <class Visit>
void for_rows(Visit visit) {
  const std::vector<isa::Example> examples = isa::pairwise_examples();
  ASSERT_GT(examples.size(), 20'000u);
  for (std::size_t i = 0, end = 0; i < examples.size() && !::testing::Test::HasFailure(); i = end) {
    const isa::FormRow* const row = examples[i].spelling.form->row;
    for (end = i; end < examples.size() && examples[end].spelling.form->row == row;) ++end;
    visit(std::span<const isa::Example>(&examples[i], end - i));
  }
}

TEST(Rows, RegistersThatSharePlacesGiveTheSame) {
  Rows rows;
  std::string never_clean;  // rows whose examples all ended with a finding, each with its first one
  std::size_t launched = 0;
  for_rows([&](std::span<const isa::Example> all_of_row) {
    const std::vector<isa::Example> of_row = covering(all_of_row);
    launched += of_row.size();
    const isa::FormRow& row = *of_row.front().spelling.form->row;
    const std::string text = row_module(of_row);
    const std::vector<ptx::Module> modules = Rows::parse(text);
    ASSERT_FALSE(modules.empty()) << row.syntax;
    const auto shared = rows.load(modules, RegisterPlaces::kShared),
               separate = rows.load(modules, RegisterPlaces::kSeparate);
    ASSERT_TRUE(shared && separate) << row.syntax;
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
    std::size_t good = 0;
    std::string why;
    for (std::size_t n = 0; n < of_row.size(); ++n) {
      const Done a = rows.run(*shared, n), b = rows.run(*separate, n);
      ASSERT_TRUE(executes(a, lines, of_row[n])) << of_row[n].text << " is not reached\n"
                                                 << a.findings;
      if (b.findings.empty()) {
        ++good;
      } else if (why.empty()) {
        why = of_row[n].text + "  " + b.findings;
      }
      ASSERT_EQ(a.findings, b.findings) << of_row[n].text;
      ASSERT_EQ(a.data, b.data) << of_row[n].text;
      ASSERT_EQ(a.output, b.output) << of_row[n].text;
    }
    if (good == 0 && !always_a_finding(row)) never_clean += std::string(row.syntax) + "\n  " + why;
  });
  EXPECT_EQ(never_clean, "");
  EXPECT_GT(launched, 4000u);
  std::printf("%zu examples launched\n", launched);
}

// An instruction that writes a register replaces its earlier state, written or not. The first
// examples stand for all examples of a row.
TEST(Rows, WhatIsWrittenIsWritten) {
  constexpr std::size_t kOfARow = 4;
  Rows rows;
  for_rows([&](std::span<const isa::Example> of_row) {
    of_row = of_row.first(std::min(of_row.size(), kOfARow));
    const auto module =
        rows.load(Rows::parse(row_module(of_row, Before::kUnwritten)), RegisterPlaces::kShared);
    ASSERT_TRUE(module);
    for (std::size_t n = 0; n < of_row.size(); ++n) {
      EXPECT_EQ(rows.run(*module, n).findings.find("uninitialised"), std::string::npos)
          << of_row[n].text << "\n"
          << rows.run(*module, n).findings;
    }
  });
}

// An instruction reads all its operands before it writes the first result.
TEST(Rows, AResultMayTakeTheRegisterOfAnOperand) {
  constexpr std::size_t kOfARow = 3;
  Rows rows;
  std::size_t pairs = 0;
  for_rows([&](std::span<const isa::Example> of_row) {
    of_row = of_row.first(std::min(of_row.size(), kOfARow));
    for (const isa::Example& e : of_row) {
      std::vector<isa::Example> examples = aliased(e);
      if (examples.empty()) continue;
      examples.insert(examples.begin(), e);
      const auto module =
          rows.load(Rows::parse(row_module(examples, Before::kOnce)), RegisterPlaces::kShared);
      ASSERT_TRUE(module);
      const Done apart = rows.run(*module, 0);
      for (std::size_t n = 1; n < examples.size(); ++n, ++pairs) {
        const Done joined = rows.run(*module, n);
        EXPECT_EQ(joined.output, apart.output) << examples[n].text;
        EXPECT_EQ(joined.data, apart.data) << examples[n].text;
      }
    }
  });
  EXPECT_GT(pairs, 1000u);
}

}  // namespace
}  // namespace lockstep::engine
