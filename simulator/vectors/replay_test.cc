// Runs every recorded form on the simulated GPU. The results must equal hardware's bit for bit or,
// for an approximate instruction, be within the documented bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/vectors/recording.h"
#include "simulator/vectors/tolerance.h"
#include "simulator/vectors/vectors.h"

namespace lockstep::vectors {
namespace {

std::string recording_path;

// Kernels of a module, which must be loaded before any of them runs.
constexpr std::size_t kPerModule = 200;
// Forms that are reported in full when they differ.
constexpr int kReported = 40;

// Forms for which the simulated GPU follows the manual, but hardware with ptxas 13.0's code does
// not (docs/journal/silicon.md): packed additions of .f16x2 and .bf16x2 to shared memory add only
// the lower half, whatever their order and scope.
bool is_known_to_differ(const std::string& form) {
  const auto contains = [&](std::string_view part) { return form.find(part) != std::string::npos; };
  return (form.starts_with("atom.") || form.starts_with("red.")) && contains(".shared") &&
         (contains(".add.noftz.f16x2 ") || contains(".add.noftz.bf16x2 "));
}
constexpr int kKnown = 26;  // forms

std::string hex(std::uint64_t v) {
  char s[24];
  std::snprintf(s, sizeof s, "0x%llx", static_cast<unsigned long long>(v));
  return s;
}

std::vector<std::uint64_t> execute(engine::testing::Machine& gpu, const VectorForm& form,
                                   const std::vector<std::uint64_t>& inputs) {
  const auto in =
      gpu.buffer<std::uint64_t>(inputs.empty() ? std::vector<std::uint64_t>{0} : inputs);
  const auto out =
      gpu.buffer<std::uint64_t>(std::vector<std::uint64_t>(kThreads * form.outputs.size()));
  const engine::Outcome o = gpu.launch(form.entry, kThreads / kBlock, kBlock, in, out);
  EXPECT_TRUE(o.findings.empty()) << form.name << "\n" << engine::testing::text(o);
  const auto words = gpu.fetch<std::uint64_t>(out, kThreads * form.outputs.size());
  gpu.memory.release(in);
  gpu.memory.release(out);
  return words;
}

// The differences in one form; empty if there are none.
std::string differences(const VectorForm& form, const std::vector<std::uint64_t>& inputs,
                        std::span<const std::uint64_t> recorded,
                        std::span<const std::uint64_t> got) {
  std::string text;
  int count = 0;
  for (int t = 0; t < kThreads; ++t) {
    for (std::size_t c = 0; c < form.outputs.size(); ++c) {
      const std::size_t at = static_cast<std::size_t>(t) * form.outputs.size() + c;
      const std::span<const std::uint64_t> in(
          inputs.data() + static_cast<std::size_t>(t) * form.inputs.size(), form.inputs.size());
      if (agree(form, c, in, recorded[at], got[at])) continue;
      if (++count > 3) continue;
      text += "\n  of";
      for (const std::uint64_t v : in) text += " " + hex(v);
      text += ": result " + std::to_string(c) + " is " + hex(got[at]) + ", silicon gave " +
              hex(recorded[at]);
    }
  }
  return count == 0 ? text : form.name + ": " + std::to_string(count) + " results differ" + text;
}

TEST(Replay, EveryFormIsRecordedOnTheInputsItHasNow) {
  const Recording recording = read_recording(recording_path);
  std::size_t missing = 0;
  const std::vector<VectorForm> forms = vector_forms();
  for (const VectorForm& form : forms) {
    const auto it = recording.forms.find(form.name);
    const bool good = it != recording.forms.end() && it->second.inputs == digest(inputs_of(form)) &&
                      !unpack(form, it->second.results).empty();
    if (!good && ++missing <= 5)
      ADD_FAILURE()
          << form.name
          << " is not recorded, or on other inputs: run //simulator/vectors:record on a GPU";
  }
  EXPECT_EQ(missing, 0u);
  EXPECT_EQ(recording.forms.size(), forms.size())
      << "forms are recorded that the table no longer has";
  EXPECT_GT(forms.size(), 4800u);
}

// Rows that forms are recorded of: of approximate instructions or of the others.
std::vector<const isa::FormRow*> recorded_rows(bool approximate) {
  std::vector<const isa::FormRow*> rows;
  for (const VectorForm& f : vector_forms()) {
    const isa::FormRow* row = f.spelling.form->row;
    if ((f.spelling.modifiers.approx || f.spelling.modifiers.full) == approximate &&
        (rows.empty() || rows.back() != row))
      rows.push_back(row);
  }
  return rows;
}

JUDGES_ROWS(Replay, TheSimulatedGpuGivesWhatSiliconGave, [] { return recorded_rows(false); });
JUDGES_ROWS_WITHIN_BOUND(Replay, TheSimulatedGpuGivesWhatSiliconGave,
                         [] { return recorded_rows(true); });
TEST(Replay, TheSimulatedGpuGivesWhatSiliconGave) {
  const Recording recording = read_recording(recording_path);
  const std::vector<VectorForm> forms = vector_forms();
  int differing = 0, known = 0;
  for (std::size_t begin = 0; begin < forms.size(); begin += kPerModule) {
    const std::vector<VectorForm> part(
        forms.begin() + static_cast<std::ptrdiff_t>(begin),
        forms.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kPerModule, forms.size())));
    engine::testing::Machine gpu;
    gpu.config.checks =
        check::kNoChecks;  // kernels and buffers are the recorder's; what counts is results
    gpu.load_text(module_text(part));
    for (const VectorForm& form : part) {
      const auto it = recording.forms.find(form.name);
      if (it == recording.forms.end()) continue;  // the other test says so
      const auto inputs = inputs_of(form);
      const std::string text =
          differences(form, inputs, unpack(form, it->second.results), execute(gpu, form, inputs));
      if (is_known_to_differ(form.name)) {
        ++known;
        EXPECT_FALSE(text.empty())
            << form.name << " agrees now: it is no longer a known difference";
      } else if (!text.empty() && ++differing <= kReported) {
        ADD_FAILURE() << text;
      }
    }
  }
  EXPECT_EQ(known, kKnown);
  EXPECT_EQ(differing, 0) << "forms of " << recording.device;
}

// Checks that the comparison can fail: one bit of one result of an exact form is sufficient.
TEST(Replay, ADifferenceOfOneBitIsSeen) {
  const Recording recording = read_recording(recording_path);
  for (const VectorForm& form : vector_forms()) {
    if (!form.name.starts_with("add.u32 ")) continue;
    const auto recorded = unpack(form, recording.forms.at(form.name).results);
    auto changed = recorded;
    changed[17] ^= 1;
    EXPECT_EQ(differences(form, inputs_of(form), recorded, recorded), "");
    EXPECT_NE(differences(form, inputs_of(form), recorded, changed), "");
    return;
  }
  FAIL() << "no add.u32";
}

}  // namespace
}  // namespace lockstep::vectors

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  lockstep::vectors::recording_path = argv[1];
  return lockstep::coverage::run_judging_tests(argc, argv);
}
