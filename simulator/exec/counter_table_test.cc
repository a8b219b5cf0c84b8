#include "simulator/exec/counter_table.h"

#include <gtest/gtest.h>

namespace lockstep::exec {
namespace counter_table_test {

TEST(CounterTable, HasALineAKernelInTheirOrder) {
  RunRecord r;
  r.kernels = {"second(int)", "first(int)", "crashed()"};
  r.totals["first(int)"] = {12,
                            {{"thread_instructions", 640},
                             {"warp_instructions", 40},
                             {"global_load_sectors", 9},
                             {"global_load_requests", 2}}};
  r.totals["crashed()"] = {7, {}};
  r.totals["second(int)"] = {
      1, {{"shared_load_bank_conflicts", 3}, {"shared_store_bank_conflicts", 4}}};
  EXPECT_EQ(counter_table(r),
            "launches  thread instr  warp instr  lanes  ld sectors/req  st sectors/req  conflicts  "
            "atomics  barriers  kernel\n"
            "       1             0           0      -               -               -          7  "
            "      0         0  second(int)\n"
            "      12           640          40  16.00            4.50               -          0  "
            "      0         0  first(int)\n");
}

TEST(CounterTable, IsEmptyWithoutKernels) { EXPECT_EQ(counter_table(RunRecord{}), ""); }

}  // namespace counter_table_test
}  // namespace lockstep::exec
