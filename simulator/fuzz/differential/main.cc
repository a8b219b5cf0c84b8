// Random programs without a GPU: compares a reference with runs in all the ways that must give the
// same result. docs/reference/fuzzing.md describes its use.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "command/options.h"
#include "simulator/fuzz/differential/campaign.h"
#include "simulator/fuzz/differential/catalogue.h"
#include "simulator/fuzz/differential/printer.h"

namespace {

using namespace lockstep::fuzz::differential;

std::filesystem::path output_folder() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  return std::filesystem::path(workspace ? workspace : ".") / "lockstep-out" / "fuzz" /
         "differential";
}

void report(const Mismatch& m) {
  const std::filesystem::path folder = output_folder();
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / fmt::format("{:016x}.ptx", m.number);
  std::ofstream(file) << fmt::format("// {}\n// {} blocks of {} threads\n", m.judgement.voter,
                                     m.program.blocks, m.program.threads)
                      << m.ptx;
  fmt::print(
      "\n{}: {}\n  {} statements and instructions are left, {}\n  again: bazel run "
      "//simulator/fuzz:differential -- --replay={:016x}\n",
      m.judgement.voter, m.judgement.detail, size_of(m.program), file.string(), m.number);
}

int replay(std::uint64_t number, bool print, bool small) {
  Simulator simulator;
  const Recipe recipe = Recipe::of(number);
  const Program program = generate(recipe);
  const Program programs[] = {program};
  if (print) fmt::print("{}", module_of(programs));
  const Judgement j = judge(program, simulator);
  fmt::print("// {:016x}: {} blocks of {} threads, {} statements and instructions: {} {}\n", number,
             program.blocks, program.threads, size_of(program),
             j.voter.empty() ? "all agree" : j.voter, j.detail);
  if (!j.voter.empty() && small) report(minimised(recipe, j, simulator));
  return j.voter.empty() ? 0 : 1;
}

void table(const Tally& t, bool silicon, bool all_rows) {
  const Catalogue& all = Catalogue::get();
  constexpr std::uint64_t kEnough = 100;
  const auto few = rows_below(t, kEnough, silicon);
  fmt::print("\n{} programs in {:.0f} s, {:.0f} a second; {} by the reference too\n", t.programs,
             t.seconds, static_cast<double>(t.programs) / t.seconds, t.referenced);
  fmt::print("rows of the table: {} can stand in a program, {} did in {} programs or more\n",
             possible_rows(silicon).size(), possible_rows(silicon).size() - few.size(), kEnough);
  for (const int r : all_rows ? possible_rows(silicon) : few)
    fmt::print("  {:8}  {}\n", t.rows[static_cast<std::size_t>(r)], all.name(r));
  if (all_rows) {
    fmt::print("rows that cannot:\n");
    for (std::size_t r = 0; r < all.rows().size(); ++r) {
      const Row& row = all.rows()[r];
      if (row.place == Place::kNever || (silicon && !row.not_on_silicon.empty()))
        fmt::print("  {}: {}\n", all.name(static_cast<int>(r)),
                   row.place == Place::kNever ? row.never : row.not_on_silicon);
    }
  }
  fmt::print("{}\n", t.mismatches.empty()
                         ? "no two voters differ"
                         : fmt::format("{} programs on which voters differ", t.mismatches.size()));
}

}  // namespace

int main(int argc, char** argv) {
  lockstep::command::Options options(
      "Random programs, judged by a reference and by runs that must not differ.");
  double minutes = 0;
  Plan plan;
  std::string again;
  bool print = false, all_rows = false, raw = false;
  options.value("--minutes", minutes, "how long");
  options.value("--programs", plan.programs, "how many");
  options.value("--seed", plan.seed, "another seed, other programs");
  options.count("--jobs", plan.jobs, "host threads");
  options.value("--most", plan.most_mismatches, "ends after so many mismatches");
  options.value("--replay", again, "one program, by its number");
  options.flag("--silicon", plan.silicon,
               "only programs that a GPU of compute capability 9.0 must compute alike");
  options.flag("--print", print, "with --replay: its PTX");
  options.flag("--raw", raw, "with --replay: does not make it small");
  options.flag("--rows", all_rows, "all rows of the table and how often they stood in a program");
  if (const auto status = options.parse(argc, argv)) return *status;
  if (!again.empty()) return replay(std::strtoull(again.c_str(), nullptr, 16), print, !raw);
  if (minutes > 0)
    plan.time = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(60 * minutes));
  else if (plan.programs == 0)
    plan.programs = 10000;
  std::size_t reported = 0;
  const Tally tally = run(plan, [&](const Tally& t) {
    fmt::print("{:9} programs, {:5.0f} a second, {} rows in fewer than 100, {} mismatches\n",
               t.programs, static_cast<double>(t.programs) / t.seconds,
               rows_below(t, 100, plan.silicon).size(), t.mismatches.size());
    for (; reported < t.mismatches.size(); ++reported) report(t.mismatches[reported]);
    std::fflush(stdout);
  });
  for (; reported < tally.mismatches.size(); ++reported) report(tally.mismatches[reported]);
  table(tally, plan.silicon, all_rows);
  return tally.mismatches.empty() ? 0 : 1;
}
