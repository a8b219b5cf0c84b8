// Runs every recorded matrix form on the simulated GPU. A tile's result must equal silicon's, bit
// for bit. With LOCKSTEP_SCALE (--config=nightly) all recorded tiles are computed, otherwise a
// quarter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <utility>
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
constexpr std::size_t kDigest = 4;  // bytes a tile

// Numbers of every kind, with and without an accumulator, repeat after this many tiles.
constexpr int kKindsOfTiles = 32;

// The first tiles of a form: all of them, or a quarter.
MatrixForm first_tiles(MatrixForm form) {
  if (!std::getenv("LOCKSTEP_SCALE"))
    form.tiles = std::min(form.tiles, std::max(kKindsOfTiles, form.tiles / 4));
  return form;
}

// The input of all tiles of a form.
struct Inputs {
  std::vector<std::uint32_t> words;
  std::uint64_t digest = 0;
};

// Keeps the inputs: many forms have the same as another form.
const Inputs& inputs_of(const MatrixForm& form) {
  std::vector<int> key{form.lanes, form.tiles};
  for (const Section& s : form.inputs)
    key.insert(key.end(), {static_cast<int>(s.type), s.words, static_cast<int>(s.use)});
  static std::map<std::vector<int>, Inputs> kept;
  const auto [it, is_new] = kept.try_emplace(std::move(key));
  if (is_new) {
    it->second.words = matrix_inputs(form);
    it->second.digest = digest(std::span<const std::uint32_t>(it->second.words));
  }
  return it->second;
}

const std::vector<MatrixForm>& all_forms() {
  static const std::vector<MatrixForm> forms = matrix_forms();
  return forms;
}

std::vector<std::uint32_t> execute(engine::testing::Machine& gpu, const MatrixForm& form,
                                   std::span<const std::uint32_t> inputs) {
  const auto in =
      gpu.buffer<std::uint32_t>(std::vector<std::uint32_t>(inputs.begin(), inputs.end()));
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
  const std::vector<MatrixForm>& forms = all_forms();
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
  for (const MatrixForm& f : all_forms()) {
    const isa::FormRow* row = f.spelling.form->row;
    if (rows.empty() || rows.back() != row) rows.push_back(row);
  }
  return rows;
}

JUDGES_ROWS(MatrixReplay, TilesAreWhatSiliconGave, [] { return recorded_rows(); });
TEST(MatrixReplay, TilesAreWhatSiliconGave) {
  const Recording recording = read_recording(recording_path);
  const std::vector<MatrixForm>& forms = all_forms();
  std::size_t compared = 0;
  for (std::size_t begin = 0; begin < forms.size(); begin += kPerModule) {
    const auto part = std::span(forms).subspan(begin, std::min(kPerModule, forms.size() - begin));
    engine::testing::Machine gpu;
    gpu.config.checks = check::kNoChecks;  // the kernels and buffers are the recorder's, so only
                                           // results are compared
    gpu.load_text(matrix_module(part));
    for (const MatrixForm& whole : part) {
      const auto it = recording.forms.find(whole.name);
      if (it == recording.forms.end()) continue;  // the other test reports this
      const Inputs& inputs = inputs_of(whole);
      EXPECT_EQ(it->second.inputs, inputs.digest) << whole.name << " is recorded on other tiles";
      const MatrixForm form = first_tiles(whole);
      const auto input_words = static_cast<std::size_t>(form.tiles * form.input_words());
      const auto results =
          std::span(it->second.results).first(static_cast<std::size_t>(form.tiles) * kDigest);
      const auto tiles = differences(
          results,
          tile_digests(form, execute(gpu, form, std::span(inputs.words).first(input_words))));
      EXPECT_TRUE(tiles.empty()) << form.name << ": " << tiles.size() << " of " << form.tiles
                                 << " tiles differ, the first is " << tiles.front();
      ++compared;
    }
  }
  EXPECT_EQ(compared, forms.size());
}

// The comparison must detect a difference of one bit of one tile.
TEST(MatrixReplay, ADifferenceOfOneBitIsSeen) {
  const MatrixForm form = all_forms().front();
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
