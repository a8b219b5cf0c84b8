// The rows of the table of instruction forms that a test judges. They are stated beside the test
// and compared with the instructions that it ran; docs/reference/ptx_coverage.md lists them.
//
//   JUDGES(Bits, LogicOfPredicates, "and.pred", "or.pred");
//   TEST(Bits, LogicOfPredicates) { ... }
//
// A row is named by one of its spellings. Where rows differ in their operands alone, the operands
// follow as the table writes them ("tex.2d.v4.f32.f32 d|q, [a, c]:s"). Without operands, every row
// that accepts the spelling is meant. To judge is to compare an instruction's results, or its other
// effects, with the definition of PTX. The author of the test vouches for the comparison. The check
// is that the instruction ran: a test fails that names a spelling which it has not executed, and so
// does a registration for a test that does not exist.
//
// A test binary with registrations has `//simulator/coverage:judging_main` for its main(), or calls
// run_judging_tests() in its own. With the one argument --judges it prints its registrations
// instead of running.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/isa/forms.h"

namespace lockstep::coverage {

// How results are held.
enum class How : std::uint8_t {
  kExactly,      // they are what PTX defines, bit for bit
  kWithinBound,  // approximate: within the error that the manual documents
  // There are none: the instruction is a hint, and registers, memory and what follows are as
  // without it.
  kAsHint,
};

// A row with how a test judges it.
struct Judged {
  const isa::FormRow* row = nullptr;
  How how = How::kExactly;
  std::string by;  // "bits_test": the source that says so
};

// All rows that a name stands for, in the order of the table; empty when the table has no such
// form.
std::vector<const isa::FormRow*> rows_named(std::string_view name);

using RowList = std::vector<const isa::FormRow*> (*)();

// Made by the macros below, before main().
class Registration {
 public:
  Registration(const char* file, const char* suite, const char* test, How how,
               std::initializer_list<const char*> names);
  Registration(const char* file, const char* suite, const char* test, How how, RowList rows);
};

// True when the binary has registrations: then tests report the instructions that they execute.
bool judging();
// The current test has executed an instruction of this row, spelled so ("add.rn.f32").
void ran(const isa::FormRow& row, const std::string& spelling);

// RUN_ALL_TESTS() with the checks; or, with --judges, the list. Call it after InitGoogleTest.
int run_judging_tests(int argc, char** argv);

// What such a binary's list says. Throws std::runtime_error when the binary does not give one.
std::vector<Judged> judged_by(const std::string& binary);

}  // namespace lockstep::coverage

#define LOCKSTEP_JUDGES(kind, suite, test, ...)                                                \
  [[maybe_unused]] static const ::lockstep::coverage::Registration kind##_of_##suite##_##test( \
      __FILE__, #suite, #test, ::lockstep::coverage::How::kind, __VA_ARGS__)
#define JUDGES(suite, test, ...) LOCKSTEP_JUDGES(kExactly, suite, test, {__VA_ARGS__})
#define JUDGES_WITHIN_BOUND(suite, test, ...) \
  LOCKSTEP_JUDGES(kWithinBound, suite, test, {__VA_ARGS__})
#define JUDGES_HINTS(suite, test, ...) LOCKSTEP_JUDGES(kAsHint, suite, test, {__VA_ARGS__})
// The rows follow from a table of the test's own: `rows` is a RowList.
#define JUDGES_ROWS(suite, test, rows) LOCKSTEP_JUDGES(kExactly, suite, test, rows)
#define JUDGES_ROWS_WITHIN_BOUND(suite, test, rows) LOCKSTEP_JUDGES(kWithinBound, suite, test, rows)
