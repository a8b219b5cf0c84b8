// Tests of all passes together.
#include "simulator/compile/compile.h"

#include <gmock/gmock.h>

#include "simulator/compile/testing.h"

namespace lockstep::compile {
namespace compile_test {

using testing::Compiled;
using ::testing::HasSubstr;

TEST(Compile, AKernelKnowsItsParametersItsLimitsAndItsSharedMemory) {
  const Compiled c(
      ".shared .align 8 .b8 s[24];\n.visible .entry k(.param .u64 x, .param .u32 n)\n.maxntid "
      "128\n{\n.reg .b32 r<2>;\nmov.u32 r1, s;\nret;\n}\n");
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
  const Compiled c(
      ".func f()\n{\n.local .b8 a[100];\nret;\n}\n.entry k()\n{\n.local .b8 b[100];\ncall f, "
      "();\nret;\n}\n");
  ASSERT_NE(c.program, nullptr) << c.error;
  EXPECT_EQ(c.program->functions[1].local_total, 256u)
      << "twice 100 bytes, each with a gap and rounded up to 128";
}

TEST(Compile, AnErrorNamesTheFunctionAndTheLineAndFreesTheVariables) {
  memory::DeviceMemory memory;
  const ptx::Module module = testing::parsed(
      ".extern .func g ();\n.visible .global .b32 x;\n.entry good()\n{\nret;\n}\n.entry "
      "bad()\n{\ncall g, ();\nret;\n}\n");
  const testing::FakeHandlers handlers;
  const auto result =
      compile({&module, 1}, memory, 0, {}, program::RegisterPlaces::kShared, handlers);
  const auto* error = std::get_if<program::LoadError>(&result);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->function, "bad");
  EXPECT_EQ(error->ptx_line, 12);
  EXPECT_THAT(error->message,
              HasSubstr("kernel bad: 'call' calls 'g', which nothing in the program defines"));
}

// A text with an instruction without a row and one without a lowering. `l` calls a function through
// a pointer, which may be any function whose address is taken.
constexpr const char* kPartly = R"(
.func bad()
{
istypep.unheard;
}
.func between()
{
call bad, ();
ret;
}
.func fine()
{
ret;
}
.entry a()
{
call between, ();
ret;
}
.entry b()
{
call fine, ();
barrier.cluster.arrive;
ret;
}
.extern .func __cudaCDP2GetErrorName();
.entry c()
{
barrier.cluster.arrive;
call __cudaCDP2GetErrorName, ();
ret;
}
.entry d()
{
.reg .b64 x;
P: .callprototype _ ();
mov.b64 x, between;
call x, (), P;
ret;
}
)";

TEST(Compile, AnUnknownInstructionRefusesWhatMayReachIt) {
  memory::DeviceMemory memory;
  const ptx::Module module = testing::parsed(kPartly);
  const testing::FakeHandlers handlers;
  const auto result =
      compile({&module, 1}, memory, 0, {}, program::RegisterPlaces::kShared, handlers);
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<program::Program>>(result))
      << std::get<program::LoadError>(result).message;
  const program::Program& p = *std::get<std::unique_ptr<program::Program>>(result);
  const auto why = [&](const char* name) -> std::string {
    for (const program::Function& f : p.functions) {
      if (f.name == name) return f.refusal ? f.refusal->function + ": " + f.refusal->message : "";
    }
    return "none";
  };
  EXPECT_THAT(why("bad"),
              HasSubstr("bad: PTX line 7, in bad: unknown instruction 'istypep.unheard'"));
  EXPECT_EQ(why("between"), "") << "of functions only what is wrong in them";
  EXPECT_EQ(why("fine"), "");
  EXPECT_THAT(why("a"), HasSubstr("bad: PTX line 7"));
  EXPECT_EQ(why("b"), "");
  EXPECT_THAT(
      why("c"),
      HasSubstr(
          "c: PTX line 33, kernel c: 'call' calls '__cudaCDP2GetErrorName' of the device runtime"));
  EXPECT_THAT(why("d"), HasSubstr("bad: PTX line 7"));
  EXPECT_TRUE(p.cluster_barriers) << "of b";
  // A refused function leaves no operations.
  for (const program::Origin& o : p.origins) EXPECT_NE(p.functions[o.function].name, "c");
  EXPECT_EQ(p.use_begin.size(), p.ops.size() + 1);
  EXPECT_EQ(p.transfers.size(), p.ops.size());
}

TEST(Compile, ClusterBarriersOfARefusedKernelCountForNothing) {
  memory::DeviceMemory memory;
  std::string text = kPartly;
  text.erase(text.find("barrier.cluster.arrive;"), 23);
  const ptx::Module module = testing::parsed(text);
  const testing::FakeHandlers handlers;
  const auto result =
      compile({&module, 1}, memory, 0, {}, program::RegisterPlaces::kShared, handlers);
  EXPECT_FALSE(std::get<std::unique_ptr<program::Program>>(result)->cluster_barriers);
}

}  // namespace compile_test
}  // namespace lockstep::compile
