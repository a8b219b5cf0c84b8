#include <gtest/gtest.h>

#include "simulator/coverage/judged.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return lockstep::coverage::run_judging_tests(argc, argv);
}
