#include "simulator/check/finding.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "simulator/check/unique_findings.h"

namespace lockstep::check {
namespace finding_test {

Finding example() {
  Finding f;
  f.kind = Kind::kOutOfBounds;
  f.kernel = "stencil(float const*, float*, int)";
  f.access.site = {"stencil.cu", 41, "", 88, "ld.global.f32"};
  f.access.block = {3, 0, 0};
  f.access.thread = {31, 0, 0};
  f.access.address = 0x402000;
  f.access.size = 4;
  f.where = "4 bytes past the end of 'y' (4096 bytes, cudaMalloc #3)";
  f.occurrences = 6;
  return f;
}

TEST(Finding, ReadsFromWhatToWhere) {
  EXPECT_EQ(example().to_string(),
            "out-of-bounds: ld.global.f32 of 4 bytes at 0x402000, 4 bytes past the end of 'y' "
            "(4096 bytes, cudaMalloc #3)\n"
            "  in kernel stencil(float const*, float*, int)\n"
            "  by block (3,0,0) thread (31,0,0), and 5 more threads\n"
            "  at stencil.cu:41 (ld.global.f32)");
}

TEST(Finding, HasTheFramesOfTheHostThatHaveLines) {
  Finding f = example();
  f.host_stacks = {{"launched", {{"run(int)", "main.cu", 12}, {"main", "main.cu", 40}}},
                   {"allocated by cudaMalloc", {{"library", "", 0}, {"make()", "make.cc", 7}}},
                   {"freed by cudaFree", {{"library", "", 0}}}};
  EXPECT_EQ(f.to_string(), f.message() +
                               "\n  launched\n    at main.cu:12, in run(int)\n    at main.cu:40, "
                               "in main\n  allocated by cudaMalloc\n    at make.cc:7, in make()");
  // The message of a failed call contains the call's own place.
  f.kernel.clear();
  f.call = "cudaFree";
  f.host_stacks = {{"called", {{"make()", "make.cc", 7}}}};
  EXPECT_EQ(f.to_string(), f.message());
}

TEST(Finding, WithoutLineInformationItSaysHowToGetIt) {
  Finding f = example();
  f.access.site.file.clear();
  EXPECT_NE(f.to_string().find("PTX line 88 (ld.global.f32); build with -lineinfo"),
            std::string::npos);
}

TEST(Finding, ARaceShowsBothSides) {
  Finding f = example();
  f.kind = Kind::kRace;
  f.other = f.access;
  f.other->is_write = true;
  f.other->thread = {7, 0, 0};
  f.other->site.line = 39;
  const std::string s = f.to_string();
  EXPECT_NE(s.find("against write by block (3,0,0) thread (7,0,0)"), std::string::npos) << s;
  EXPECT_NE(s.find("stencil.cu:39"), std::string::npos) << s;
}

TEST(Finding, ARaceOfTwoKernelsNamesTheirStreams) {
  Finding f = example();
  f.kind = Kind::kRace;
  f.access.operation = "stencil(float const*, float*, int) in stream 4";
  f.other = f.access;
  f.other->is_write = true;
  f.other->operation = "fill(float*) in stream 3";
  const std::string s = f.to_string();
  EXPECT_NE(s.find("in kernel stencil(float const*, float*, int) in stream 4\n"), s.npos) << s;
  EXPECT_NE(s.find("thread (31,0,0) of fill(float*) in stream 3\n  at stencil.cu:41"), s.npos) << s;
}

TEST(Finding, ARaceOfTwoCallsNamesTheirPlaces) {
  Finding f;
  f.kind = Kind::kRace;
  f.call = "cudaMemcpyAsync";
  f.where = "cudaMemcpyAsync in stream 4 reads 8 bytes";
  f.detail = "Nothing orders the two.";
  f.access.operation = "a call at main.cu:21";
  f.other.emplace();
  f.other->operation = "cudaMemsetAsync in stream 3, a call at main.cu:20";
  EXPECT_EQ(f.to_string(),
            "race: cudaMemcpyAsync in stream 4 reads 8 bytes\n"
            "  by the host, a call at main.cu:21\n"
            "  against cudaMemsetAsync in stream 3, a call at main.cu:20\n"
            "  Nothing orders the two.");
}

TEST(Finding, OfABarrierIsAgainstNoAccess) {
  Finding f = example();
  f.kind = Kind::kBarrierDivergence;
  f.access.site.instruction = "bar.sync";
  f.access.size = 0;
  f.where = "other lanes of the same warp wait at another barrier instruction";
  f.other = f.access;
  f.other->thread = {7, 0, 0};
  f.other->site.line = 39;
  EXPECT_EQ(f.to_string(),
            "barrier-divergence: bar.sync, other lanes of the same warp wait at another barrier "
            "instruction\n"
            "  in kernel stencil(float const*, float*, int)\n"
            "  by block (3,0,0) thread (31,0,0), and 5 more threads\n"
            "  at stencil.cu:41 (bar.sync)\n"
            "  while block (3,0,0) thread (7,0,0) waits\n"
            "  at stencil.cu:39 (bar.sync)");
}

TEST(Finding, AfterWhichTheKernelWentOnCountsTimes) {
  Finding f = example();
  f.survived = true;
  const std::string s = f.to_string();
  EXPECT_NE(s.find(", and 5 more times, by this and other threads\n"), std::string::npos) << s;
  EXPECT_TRUE(s.ends_with("\n  The kernel went on.")) << s;
}

TEST(Finding, OfACallNamesItAndNoThread) {
  Finding f;
  f.kind = Kind::kRefused;
  f.kernel = "store(int*)";
  f.call = "cudaLaunchKernel";
  f.where = "the launch of store(int*) answered cudaErrorInvalidValue";
  f.detail = "a call at ./program+0x10";
  EXPECT_EQ(f.to_string(),
            "refused: the launch of store(int*) answered cudaErrorInvalidValue\n  by the host, a "
            "call at ./program+0x10");
  f.severity = Severity::kInformation;
  f.occurrences = 3;
  EXPECT_EQ(f.to_string(),
            "refused (information): the launch of store(int*) answered cudaErrorInvalidValue\n  by "
            "the host, a call at ./program+0x10\n"
            "  3 times\n  The program asked for it with cudaGetLastError.");
}

TEST(Finding, OfADriverCallNamesNoLastError) {
  Finding f;
  f.kind = Kind::kApiError;
  f.severity = Severity::kInformation;
  f.call = "cuModuleGetGlobal";
  f.where = "cuModuleGetGlobal answered CUDA_ERROR_NOT_FOUND";
  f.detail = "a call at ./program+0x10";
  EXPECT_EQ(f.to_string(),
            "api-error (information): cuModuleGetGlobal answered CUDA_ERROR_NOT_FOUND\n  by the "
            "host, a call at ./program+0x10");
}

TEST(Finding, OfARefusedModuleNamesItsLine) {
  Finding f;
  f.kind = Kind::kRefused;
  f.where = "PTX line 7, in k(): unknown instruction 'x'";
  f.access.site = {"k.cu", 3, "", 7, ""};
  EXPECT_EQ(f.to_string(), "refused: PTX line 7, in k(): unknown instruction 'x'\n  at k.cu:3");
}

TEST(SamePlace, IsTheInstructionOfALineOrOfALineOfPtx) {
  const Finding f = example();
  Finding g = f;
  g.access.site.ptx_line = 188;
  EXPECT_TRUE(same_place(f, g)) << "an unrolled loop";
  g.access.site.line = 42;
  EXPECT_FALSE(same_place(f, g));
  g = f;
  g.kernel = "other()";
  EXPECT_FALSE(same_place(f, g));
  Finding a = f, b = f;
  a.access.site.file = b.access.site.file = "";
  EXPECT_TRUE(same_place(a, b));
  b.access.site.ptx_line = 188;
  EXPECT_FALSE(same_place(a, b));
}

TEST(SamePlace, WhatEndedTheKernelIsNoRepetitionOfWhatItSurvived) {
  Finding f = example(), g = example();
  f.survived = true;
  EXPECT_FALSE(same_place(f, g));
  g.survived = true;
  EXPECT_TRUE(same_place(f, g));
}

TEST(SamePlace, OfWhatOneLoadGaveIsTheLoad) {
  Finding f = example(), g = example();
  f.origin = g.origin = Site{"stencil.cu", 12, "", 30, "ld.shared.f32"};
  g.access.site.line = 99;
  EXPECT_TRUE(same_place(f, g));
  g.origin->line = 13;
  EXPECT_FALSE(same_place(f, g));
}

TEST(SamePlace, OfARaceIsTheSameFromEitherSide) {
  Finding f = example();
  f.kind = Kind::kRace;
  f.other = f.access;
  f.other->site.line = 39;
  Finding g = f;
  std::swap(g.access, *g.other);
  EXPECT_TRUE(same_place(f, g));
  g.other->site.line = 40;
  EXPECT_FALSE(same_place(f, g));
}

TEST(SamePlace, OfAHostCallIsItsKnownCaller) {
  const int callers[2] = {};
  Finding f;
  f.kind = Kind::kUninitialised;
  f.call = "cudaMemcpy";
  f.caller = &callers[0];
  Finding g = f;
  g.where = "another allocation";
  EXPECT_TRUE(same_place(f, g));
  g.caller = &callers[1];
  EXPECT_FALSE(same_place(f, g));
  f.caller = g.caller = nullptr;
  EXPECT_FALSE(same_place(f, g)) << "unknown places are not one place";
  EXPECT_FALSE(same_place(f, example()));
}

TEST(SamePlace, OfAFailureIsItsCallerErrorAndKernel) {
  Finding f;
  f.kind = Kind::kApiError;
  f.call = "cudaMalloc";
  f.error = "cudaErrorMemoryAllocation";
  f.where = "2 GiB";
  Finding g = f;
  g.where = "4 GiB";
  g.severity = Severity::kInformation;  // if the program has checked the error
  EXPECT_TRUE(same_place(f, g));
  g.error = "cudaErrorInvalidValue";
  EXPECT_FALSE(same_place(f, g));
  g = f;
  g.caller = &g;
  EXPECT_FALSE(same_place(f, g));
  // A refusal of device code belongs to no call: the reason identifies it.
  f.kind = g.kind = Kind::kRefused;
  f.call = g.call = "";
  f.caller = g.caller = nullptr;
  EXPECT_TRUE(same_place(f, g));
  g.where = "another reason";
  EXPECT_FALSE(same_place(f, g));
}

// A race between two threads of one block, detected at `line` against `other`.
Finding race(int line, int other) {
  Finding f = example();
  f.kind = Kind::kRace;
  f.access.site.line = line;
  f.other = f.access;
  f.other->site.line = other;
  f.occurrences = 1;
  return f;
}

TEST(UniqueFindings, AreKeptByPositionAndNotInTheOrderOfArrival) {
  UniqueFindings all;
  for (const std::uint64_t position : {7, 2, 9, 4}) {
    Finding f = example();
    f.access.site.line = static_cast<int>(position);
    all.add(std::move(f), position);
  }
  all.keep_until(7);
  std::vector<int> lines;
  for (const Finding& f : all.take()) lines.push_back(f.access.site.line);
  EXPECT_EQ(lines, (std::vector<int>{2, 4, 7}));
}

TEST(UniqueFindings, CountRepetitionsAndKeepTheEarliestPosition) {
  UniqueFindings all;
  Finding early = race(3, 4), late = race(4, 3);
  early.where = "early";
  late.where = "late";
  const auto first = all.add(late, 7);
  EXPECT_TRUE(first.fresh);
  const auto second = all.add(early, 2);
  EXPECT_FALSE(second.fresh);
  EXPECT_EQ(second.number, first.number);
  EXPECT_FALSE(all.add(late, 9).fresh);
  EXPECT_TRUE(all.add(race(5, 6), 4).fresh);
  EXPECT_TRUE(all.add(race(8, 9), 5).fresh);
  all.keep_until(4);
  const std::vector<Finding> kept = all.take();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].where, "early");
  EXPECT_EQ(kept[0].occurrences, 3u);
  EXPECT_EQ(kept[1].access.site.line, 5);
  EXPECT_TRUE(all.add(early, 2).fresh) << "what was taken is reported again";
}

TEST(UniqueFindings, CountAtASiteOfEitherSideOfARaceAndAtAnOrigin) {
  UniqueFindings all;
  Finding value = example();
  value.origin = Site{"stencil.cu", 12, "", 30, "ld.shared.f32"};
  value.occurrences = 1;
  const std::uint64_t of_value = all.add(value).number, of_race = all.add(race(3, 4)).number;
  all.count_at(Kind::kRace, Severity::kError, race(3, 4).access.site, false, 10);
  all.count_at(Kind::kRace, Severity::kError, race(4, 3).access.site, false, 100);
  all.count_at(Kind::kRace, Severity::kInformation, race(4, 3).access.site, false, 1000);
  EXPECT_EQ(all.find(of_race)->finding.occurrences, 111u);
  all.count_at(value.kind, Severity::kError, *value.origin, true, 5);
  EXPECT_EQ(all.find(of_value)->finding.occurrences, 6u);
  EXPECT_EQ(all.find(99), nullptr);
}

TEST(Kinds, HaveDifferentNamesAndAnErrorEach) {
  std::set<std::string> names;
  for (int k = 0; k <= static_cast<int>(Kind::kApiError); ++k) {
    const auto kind = static_cast<Kind>(k);
    EXPECT_TRUE(names.insert(name(kind)).second) << name(kind);
    EXPECT_STRNE(name(kind), "unknown");
    if (kind == Kind::kLeak || kind == Kind::kIncompleteCheck || kind == Kind::kRefused ||
        kind == Kind::kApiError) {
      EXPECT_EQ(cuda_error(kind), 0) << "no launch fails of it";
    } else {
      EXPECT_GE(cuda_error(kind), 700);
    }
  }
  EXPECT_EQ(cuda_error(Kind::kOutOfBounds), 700);
  EXPECT_EQ(cuda_error(Kind::kMisaligned), 716);
  EXPECT_EQ(cuda_error(Kind::kAssert), 710);
}

}  // namespace finding_test
}  // namespace lockstep::check
