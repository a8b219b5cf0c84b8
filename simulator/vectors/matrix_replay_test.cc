// Runs every recorded matrix form on the simulated GPU: every tile's result must equal hardware's,
// bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "simulator/coverage/judged.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/vectors/matrix_forms.h"
#include "simulator/vectors/recording.h"
#include "simulator/vectors/vectors.h"

namespace lockstep::vectors {
namespace {

std::string recording_path;

constexpr std::size_t kPerModule = 100;
constexpr std::size_t kDigest = 4;  // bytes for each tile

// Most forms share their inputs with another form, often the next one, so the last inputs are
// cached.
const std::vector<std::uint32_t>& inputs_of(const MatrixForm& form) {
  static MatrixForm of;
  static std::vector<std::uint32_t> inputs;
  const auto same = [](const Section& a, const Section& b) {
    return a.type == b.type && a.words == b.words && a.use == b.use;
  };
  if (inputs.empty() || of.lanes != form.lanes || of.tiles != form.tiles ||
      !std::ranges::equal(of.inputs, form.inputs, same))
    inputs = matrix_inputs(form);
  of = form;
  return inputs;
}

std::vector<std::uint32_t> execute(engine::testing::Machine& gpu, const MatrixForm& form,
                                   const std::vector<std::uint32_t>& inputs) {
  const auto in = gpu.buffer<std::uint32_t>(inputs);
  const auto words = static_cast<std::size_t>(form.tiles * form.output_words());
  const auto out = gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(words));
  const engine::Outcome o =
      gpu.launch(form.entry, static_cast<std::uint32_t>(form.blocks()), kThreadsABlock, in, out);
  EXPECT_TRUE(o.findings.empty()) << form.name << "\n" << engine::testing::text(o);
  const auto result = gpu.fetch<std::uint32_t>(out, words);
  gpu.memory.release(in);
  gpu.memory.release(out);
  return result;
}

// The tiles that differ.
std::vector<int> differences(std::span<const std::uint8_t> recorded,
                             std::span<const std::uint8_t> got) {
  std::vector<int> tiles;
  for (std::size_t at = 0; at + kDigest <= recorded.size(); at += kDigest) {
    if (!std::equal(recorded.begin() + at, recorded.begin() + at + kDigest, got.begin() + at))
      tiles.push_back(static_cast<int>(at / kDigest));
  }
  return tiles;
}

TEST(MatrixReplay, EveryFormIsRecordedOnAllItsTiles) {
  const Recording recording = read_recording(recording_path);
  const std::vector<MatrixForm> forms = matrix_forms();
  for (const MatrixForm& form : forms) {
    const auto it = recording.forms.find(form.name);
    ASSERT_NE(it, recording.forms.end())
        << form.name << " is not recorded: run //simulator/vectors:record --matrices on a GPU";
    EXPECT_EQ(it->second.results.size(), static_cast<std::size_t>(form.tiles) * kDigest)
        << form.name;
  }
  EXPECT_EQ(recording.forms.size(), forms.size())
      << "forms are recorded that the table no longer has";
}

std::vector<const isa::FormRow*> recorded_rows() {
  std::vector<const isa::FormRow*> rows;
  for (const MatrixForm& f : matrix_forms()) {
    const isa::FormRow* row = f.spelling.form->row;
    if (rows.empty() || rows.back() != row) rows.push_back(row);
  }
  return rows;
}

JUDGES_ROWS(MatrixReplay, EveryTileIsWhatSiliconGave, [] { return recorded_rows(); });
TEST(MatrixReplay, EveryTileIsWhatSiliconGave) {
  const Recording recording = read_recording(recording_path);
  const std::vector<MatrixForm> forms = matrix_forms();
  std::size_t compared = 0;
  for (std::size_t begin = 0; begin < forms.size(); begin += kPerModule) {
    const auto part = std::span(forms).subspan(begin, std::min(kPerModule, forms.size() - begin));
    engine::testing::Machine gpu;
    gpu.config.checks =
        check::kNoChecks;  // kernels and buffers are the recorder's; what counts is results
    gpu.load_text(matrix_module(part));
    for (const MatrixForm& form : part) {
      const auto it = recording.forms.find(form.name);
      if (it == recording.forms.end()) continue;  // the other test says so
      const std::vector<std::uint32_t>& inputs = inputs_of(form);
      EXPECT_EQ(it->second.inputs, digest(std::span<const std::uint32_t>(inputs)))
          << form.name << " is recorded on other tiles";
      const auto tiles =
          differences(it->second.results, tile_digests(form, execute(gpu, form, inputs)));
      EXPECT_TRUE(tiles.empty()) << form.name << ": " << tiles.size() << " of " << form.tiles
                                 << " tiles differ, the first is " << tiles.front();
      ++compared;
    }
  }
  EXPECT_EQ(compared, forms.size());
}

// Checks that the comparison can fail: one bit of one tile is sufficient.
TEST(MatrixReplay, ADifferenceOfOneBitIsSeen) {
  const MatrixForm form = matrix_forms().front();
  std::vector<std::uint32_t> output(static_cast<std::size_t>(form.tiles * form.output_words()), 7);
  const auto before = tile_digests(form, output);
  output[output.size() / 2] ^= 1;
  EXPECT_EQ(differences(before, tile_digests(form, output)), std::vector<int>{form.tiles / 2});
  EXPECT_TRUE(differences(before, before).empty());
}

}  // namespace
}  // namespace lockstep::vectors

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  lockstep::vectors::recording_path = argv[1];
  return lockstep::coverage::run_judging_tests(argc, argv);
}
