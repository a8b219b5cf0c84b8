// Every early exit becomes a failure, and every legitimate end is unchanged. Each test observes a
// child process that arms the guard itself.
#include "harness/ledger/exit_guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace lockstep {
namespace exit_guard_test {

using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

void guarded(void (*leave)()) {
  exit_guard::arm();
  exit_guard::running("Stencil.Matches");
  leave();
}

TEST(ExitGuardDeathTest, EveryEarlyExitFailsAndNamesTheProperty) {
  constexpr char kWhere[] =
      " while Stencil.Matches was running: what it had not reached is NOT RUN";
  EXPECT_EXIT(guarded([] { std::exit(0); }), ExitedWithCode(70),
              std::string("called exit") + kWhere);
  EXPECT_EXIT(guarded([] { std::exit(3); }), ExitedWithCode(70),
              std::string("called exit") + kWhere);
  EXPECT_EXIT(guarded([] { std::quick_exit(0); }), ExitedWithCode(70),
              std::string("called quick_exit") + kWhere);
  EXPECT_EXIT(guarded([] { _exit(0); }), ExitedWithCode(70), std::string("called _exit") + kWhere);
  EXPECT_EXIT(guarded([] { std::_Exit(0); }), ExitedWithCode(70),
              std::string("called _Exit") + kWhere);
}

TEST(ExitGuardDeathTest, SignalsKeepTheirMeaningAndNameTheProperty) {
  EXPECT_EXIT(guarded([] { raise(SIGSEGV); }), KilledBySignal(SIGSEGV),
              "signal SIGSEGV while Stencil.Matches");
  EXPECT_EXIT(guarded([] { std::abort(); }), KilledBySignal(SIGABRT),
              "signal SIGABRT while Stencil.Matches");
  EXPECT_EXIT(guarded([] { raise(SIGTERM); }), KilledBySignal(SIGTERM),
              "time limit.* while Stencil.Matches");
}

TEST(ExitGuardDeathTest, TheCaseThatRanIsNamedWithItsReplay) {
  constexpr char kBoth[] = "\n  case:   n=41 block=32\n  replay: run --case=n=41\n";
  EXPECT_EXIT(guarded([] {
                exit_guard::running_case("n=41 block=32", "run --case=n=41");
                std::abort();
              }),
              KilledBySignal(SIGABRT), kBoth);
  EXPECT_EXIT(guarded([] {
                exit_guard::running_case("n=41 block=32", "run --case=n=41");
                std::exit(0);
              }),
              ExitedWithCode(70), kBoth);
  EXPECT_EXIT(guarded([] {
                exit_guard::running_case("n=41", "run");
                exit_guard::running_case("", "");
                std::abort();
              }),
              KilledBySignal(SIGABRT), "NOT RUN\\.\n$");
}

TEST(ExitGuardDeathTest, BetweenPropertiesItSaysSo) {
  EXPECT_EXIT(guarded([] {
                exit_guard::running("");
                std::exit(0);
              }),
              ExitedWithCode(70), "called exit between properties");
}

TEST(ExitGuardDeathTest, ADisarmedProcessEndsAsItPleases) {
  EXPECT_EXIT(guarded([] {
                exit_guard::disarm();
                std::exit(0);
              }),
              ExitedWithCode(0), "");
  EXPECT_EXIT(guarded([] {
                exit_guard::disarm();
                _exit(5);
              }),
              ExitedWithCode(5), "");
}

TEST(ExitGuardDeathTest, AForkedChildEndsAsItPleases) {
  EXPECT_EXIT(guarded([] {
                const pid_t child = fork();
                if (child == 0) std::exit(7);
                int status = 0;
                waitpid(child, &status, 0);
                exit_guard::disarm();
                std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
              }),
              ExitedWithCode(7), "");
}

TEST(ExitGuardDeathTest, ANameOfAnyLengthIsTruncatedNotOverrun) {
  EXPECT_EXIT(guarded([] {
                exit_guard::running(std::string(5000, 'x'));
                std::exit(0);
              }),
              ExitedWithCode(70), "while x+ was running");
}

}  // namespace exit_guard_test
}  // namespace lockstep
