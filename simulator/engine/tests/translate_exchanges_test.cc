// Shuffles, votes and what lanes else execute together, made machine code (simulator/translate).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/engine/tests/translate_launches.h"

namespace lockstep::engine {
namespace translate_exchanges_test {

using translated::expect_the_same;
using translated::kernel;

// %r4 and %r5 differ between lanes; the results of `body` are added up in %r9.
std::string exchanging(const std::string& body) {
  return kernel(
      "  mad.lo.u32 %r4, %r1, 1664525, 1013904223;\n  shr.u32 %r5, %r4, 9;\n"
      "  mov.u32 %r9, 0;\n  setp.lt.s32 %p1, %r4, 0;\n" +
      body);
}
// Adds a word, and a predicate of each lane.
const char* const kAdd = "  mad.lo.u32 %r9, %r9, 31, %r6;\n";
const char* const kAddPredicate = "  selp.u32 %r7, 17, 5, %p2;\n  mad.lo.u32 %r9, %r9, 31, %r7;\n";

// Of warps with all lanes, and of a last one with eight.
void expect_exchanges(const std::string& body) {
  for (const std::uint32_t threads : {64u, 40u})
    expect_the_same(exchanging(body), threads, 1'000'000);
}

TEST(TranslateExchanges, ShufflesByConstants) {
  for (const char* mode : {"up", "down", "bfly", "idx"}) {
    std::string body;
    for (const char* b : {"0", "1", "5", "8", "16", "19", "31", "33"}) {
      const std::string c = std::string(mode) == "up" ? "0" : "31";
      for (const std::string& segments : {c, std::string("0x180b"), std::string("0x1c07")}) {
        body += std::string("  shfl.sync.") + mode + ".b32 %r6|%p2, %r4, " + b + ", " + segments +
                ", -1;\n" + kAdd + kAddPredicate;
      }
    }
    // Into its own source, without a predicate.
    body += std::string("  shfl.sync.") + mode + ".b32 %r4, %r4, 3, 31, -1;\n" +
            "  mad.lo.u32 %r9, %r9, 31, %r4;\n";
    SCOPED_TRACE(mode);
    expect_exchanges(body);
  }
}

TEST(TranslateExchanges, ShufflesByRegisters) {
  for (const char* mode : {"up", "down", "bfly", "idx"}) {
    const std::string shuffle = std::string("  shfl.sync.") + mode + ".b32 ";
    SCOPED_TRACE(mode);
    expect_exchanges(shuffle + "%r6|%p2, %r4, %r5, 0x1f, -1;\n" + kAdd + kAddPredicate + shuffle +
                     "%r6|%p2, %r4, 3, %r5, -1;\n" + kAdd + kAddPredicate + shuffle +
                     "%r5|%p2, %r4, %r5, %r5, -1;\n  mad.lo.u32 %r9, %r9, 31, %r5;\n" +
                     kAddPredicate);
  }
}

TEST(TranslateExchanges, Votes) {
  // Predicates that are true of all, of none and of some lanes.
  std::string body = "  setp.eq.u32 %p3, %r4, %r4;\n  setp.ne.u32 %p4, %r4, %r4;\n";
  for (const char* of : {"%p1", "%p3", "%p4", "!%p1"}) {
    for (const char* mode : {"all", "any", "uni"}) {
      body += std::string("  vote.sync.") + mode + ".pred %p2, " + of + ", -1;\n" + kAddPredicate;
    }
    body += std::string("  vote.sync.ballot.b32 %r6, ") + of + ", -1;\n" + kAdd;
  }
  expect_exchanges(body);
}

TEST(TranslateExchanges, WhatHandlersDo) {
  expect_exchanges(std::string("  redux.sync.add.u32 %r6, %r4, -1;\n") + kAdd +
                   "  match.any.sync.b32 %r6, %r5, -1;\n" + kAdd + "  activemask.b32 %r6;\n" +
                   kAdd + "  bar.warp.sync -1;\n  elect.sync %r6|%p2, -1;\n" + kAdd +
                   kAddPredicate + "  @%p1 shfl.sync.idx.b32 %r6, %r4, 0, 31, -1;\n" + kAdd);
}

// Some lanes leave the others, exchange among themselves, and meet the others again.
TEST(TranslateExchanges, LanesThatHaveParted) {
  const std::string apart =
      std::string("  @%p1 bra OTHER;\n") +
      "  activemask.b32 %r10;\n  shfl.sync.bfly.b32 %r6|%p2, %r4, 1, 31, %r10;\n" + kAdd +
      kAddPredicate + "  bra MEET;\nOTHER:\n  activemask.b32 %r10;\n" +
      "  vote.sync.ballot.b32 %r6, %p1, %r10;\n" + kAdd +
      "MEET:\n  bar.warp.sync -1;\n  shfl.sync.idx.b32 %r6, %r9, 7, 31, -1;\n" + kAdd;
  expect_exchanges(apart);
  // They name lanes that do not come, and themselves not.
  expect_exchanges(
      std::string("  @%p1 bra MEET;\n  shfl.sync.bfly.b32 %r6, %r4, 1, 31, 0xffff;\n") + kAdd +
      "MEET:\n");
  // A value that nobody has written is handed on, and used.
  expect_exchanges(
      "  shfl.sync.idx.b32 %r6, %r17, 0, 31, -1;\n  setp.eq.u32 %p2, %r6, 1;\n"
      "  @%p2 add.u32 %r9, %r9, 1;\n");
}

}  // namespace translate_exchanges_test
}  // namespace lockstep::engine
