// Tests with wrong registrations, for coverage_test: all but the first two must fail.
#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"

namespace lockstep::coverage {
namespace {

// Stands for an execution.
void execute(const char* spelling) { ran(*rows_named(spelling)[0], spelling); }

JUDGES(Honest, Test, "add.f64");
TEST(Honest, Test) { execute("add.f64"); }

TEST(Silent, Test) { execute("mul.f64"); }

JUDGES(Idle, Test, "add.f64");
TEST(Idle, Test) {}  // executions in an earlier test do not count

JUDGES(Otherwise, Spelled, "add.rn.f64");
TEST(Otherwise, Spelled) { execute("add.rz.f64"); }

JUDGES_ROWS(Idle, Table, [] { return rows_named("add.f64"); });
TEST(Idle, Table) { execute("sub.f64"); }

JUDGES(Unknown, Form, "add.f65");
TEST(Unknown, Form) {}

JUDGES(No, SuchTest, "add.f64");

}  // namespace
}  // namespace lockstep::coverage
