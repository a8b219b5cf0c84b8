// The passes together.
#include "simulator/compile/compile.h"

#include <gmock/gmock.h>

#include "simulator/compile/testing.h"

namespace lockstep::compile {
namespace compile_test {

using testing::Compiled;
using ::testing::HasSubstr;

TEST(Compile, AKernelKnowsItsParametersItsLimitsAndItsSharedMemory) {
  const Compiled c(".shared .align 8 .b8 s[24];\n.visible .entry k(.param .u64 x, .param .u32 n)\n.maxntid 128\n{\n.reg .b32 r<2>;\nmov.u32 r1, s;\nret;\n}\n");
  ASSERT_NE(c.program, nullptr) << c.error;
  const program::Function& f = c.program->functions[0];
  EXPECT_EQ(f.parameter_offsets, (std::vector<std::uint32_t>{0, 8, 12}));
  EXPECT_EQ(f.max_threads[0], 128u);
  EXPECT_EQ(f.static_shared_bytes, 24u);
  EXPECT_EQ(f.target, 90);
  EXPECT_EQ(c.program->use_begin.size(), c.program->ops.size() + 1);
  EXPECT_EQ(c.program->transfers.size(), c.program->ops.size());
}

TEST(Compile, AKernelsStackHoldsThatOfWhatItCalls) {
  const Compiled c(".func f()\n{\n.local .b8 a[100];\nret;\n}\n.entry k()\n{\n.local .b8 b[100];\ncall f, ();\nret;\n}\n");
  ASSERT_NE(c.program, nullptr) << c.error;
  EXPECT_EQ(c.program->functions[1].local_total, 256u) << "twice 100 bytes, each with a gap and rounded up to 128";
}

TEST(Compile, AnErrorNamesTheFunctionAndTheLineAndFreesTheVariables) {
  memory::DeviceMemory memory;
  const ptx::Module module =
      testing::parsed(".extern .func g ();\n.visible .global .b32 x;\n.entry good()\n{\nret;\n}\n.entry bad()\n{\ncall g, ();\nret;\n}\n");
  const testing::FakeHandlers handlers;
  const auto result = compile({&module, 1}, memory, 0, {}, program::RegisterPlaces::kShared, handlers);
  const auto* error = std::get_if<program::LoadError>(&result);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->function, "bad");
  EXPECT_EQ(error->ptx_line, 12);
  EXPECT_THAT(error->message, HasSubstr("kernel bad: 'call' calls 'g', which nothing in the program defines"));
}

}  // namespace compile_test
}  // namespace lockstep::compile
