// Registers the rows of the table of instruction forms that a test judges. Registrations are
// compared with the instructions that the test ran; docs/reference/ptx_coverage.md lists them.
//
//   JUDGES(Bits, LogicOfPredicates, "and.pred", "or.pred");
//   TEST(Bits, LogicOfPredicates) { ... }
//
// A row is named by one of its spellings. If rows differ only in their operands, the operands
// follow as written in the table ("tex.2d.v4.f32.f32 d|q, [a, c]:s"). A name without operands means
// every row that accepts the spelling. To judge an instruction is to compare its results, or its
// other effects, with PTX's definition. The author of the test vouches for the comparison. The
// check is that the instruction ran: a test fails if it names a spelling that it has not executed,
// and a registration fails if its test does not exist.
//
// A test binary with registrations uses `//simulator/coverage:judging_main` for main(), or calls
// run_judging_tests() in its own main(). With the only argument --judges it prints its
// registrations instead of running.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/isa/forms.h"

namespace lockstep::coverage {

// How a test compares results.
enum class How : std::uint8_t {
  kExactly,      // equal to PTX's definition, bit for bit
  kWithinBound,  // approximate: within the manual's error bound
  // The instruction is a hint without results: registers, memory and control flow are as without
  // it.
  kAsHint,
};

// A row and how a test judges it.
struct Judged {
  const isa::FormRow* row = nullptr;
  How how = How::kExactly;
  std::string by;  // "bits_test": the source of the registration
};

// All rows with a name, in the order of the table. Empty if the table has no such form.
std::vector<const isa::FormRow*> rows_named(std::string_view name);

using RowList = std::vector<const isa::FormRow*> (*)();

// Created by the macros below before main().
class Registration {
 public:
  Registration(const char* file, const char* suite, const char* test, How how,
               std::initializer_list<const char*> names);
  Registration(const char* file, const char* suite, const char* test, How how, RowList rows);
};

// Whether the binary has registrations. Tests then report the instructions that they execute.
bool judging();
// Reports that the current test has executed an instruction of this row with this spelling
// ("add.rn.f32").
void ran(const isa::FormRow& row, const std::string& spelling);

// RUN_ALL_TESTS() with the checks or, with --judges, the list. Call after InitGoogleTest.
int run_judging_tests(int argc, char** argv);

// The registrations that the binary prints. Throws std::runtime_error if it prints none.
std::vector<Judged> judged_by(const std::string& binary);

}  // namespace lockstep::coverage

#define LOCKSTEP_JUDGES(kind, suite, test, ...)                                                \
  [[maybe_unused]] static const ::lockstep::coverage::Registration kind##_of_##suite##_##test( \
      __FILE__, #suite, #test, ::lockstep::coverage::How::kind, __VA_ARGS__)
#define JUDGES(suite, test, ...) LOCKSTEP_JUDGES(kExactly, suite, test, {__VA_ARGS__})
#define JUDGES_WITHIN_BOUND(suite, test, ...) \
  LOCKSTEP_JUDGES(kWithinBound, suite, test, {__VA_ARGS__})
#define JUDGES_HINTS(suite, test, ...) LOCKSTEP_JUDGES(kAsHint, suite, test, {__VA_ARGS__})
// The rows come from the test's own table: `rows` is a RowList.
#define JUDGES_ROWS(suite, test, rows) LOCKSTEP_JUDGES(kExactly, suite, test, rows)
#define JUDGES_ROWS_WITHIN_BOUND(suite, test, rows) LOCKSTEP_JUDGES(kWithinBound, suite, test, rows)
