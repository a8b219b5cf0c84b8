#include "simulator/compile/linker.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "simulator/compile/testing.h"

namespace lockstep::compile {
namespace linker_test {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

struct Linked {
  std::vector<ptx::Module> modules;
  memory::DeviceMemory memory;
  program::Program program;
  program::ManagedVariables managed;
  std::unique_ptr<Linker> linker;
  std::string error;

  explicit Linked(const std::vector<std::string>& texts) {
    for (const std::string& t : texts) modules.push_back(testing::parsed(t));
    linker = std::make_unique<Linker>(modules, memory, 0, managed);
    error = linker->link(program).value_or("");
  }
  const Symbol* find(std::uint32_t module, const std::string& name) const {
    return linker->find(module, nullptr, name);
  }
};

TEST(Linker, AVisibleNameIsKnownInEveryModuleAndAnotherInItsOwn) {
  const Linked l(
      {".visible .global .b32 x = 5;\n.global .b32 mine = 1;\n", ".global .b32 mine = 2;\n"});
  ASSERT_EQ(l.error, "");
  EXPECT_EQ(l.linker->address(*l.find(0, "x")), l.linker->address(*l.find(1, "x")));
  EXPECT_NE(l.linker->address(*l.find(0, "mine")), l.linker->address(*l.find(1, "mine")));
  EXPECT_EQ(l.find(0, "nothing"), nullptr);
}

TEST(Linker, InitialisesVariablesAndAddressesInThem) {
  const Linked l({".visible .global .b32 x = 5;\n.visible .global .u64 p = x;\n"});
  ASSERT_EQ(l.error, "");
  const memory::Allocation* p = l.program.variables.at("p");
  std::uint64_t value = 0;
  std::memcpy(&value, l.memory.host(*p, p->base), 8);
  EXPECT_EQ(value, l.program.variables.at("x")->base);
}

TEST(Linker, ANameThatNothingDefinesIsAnErrorByName) {
  EXPECT_THAT(
      Linked({".extern .global .align 4 .b8 missing[4];\n.visible .global .u64 p = missing;\n"})
          .error,
      HasSubstr("'missing'"));
}

TEST(Linker, KnowsWhatAFunctionMayCallAndWhichSharedVariablesItReaches) {
  const Linked l(
      {".shared .b8 a[16];\n.shared .b8 b[16];\n"
       ".func leaf()\n{\n.reg .b32 r<2>;\nmov.u32 r1, b;\nret;\n}\n"
       ".func loop()\n{\ncall loop, ();\nret;\n}\n"
       ".entry k()\n{\n.reg .b32 r<2>;\nmov.u32 r1, a;\ncall leaf, ();\nret;\n}\n"});
  ASSERT_EQ(l.error, "");
  ASSERT_EQ(l.linker->functions().size(), 3u);
  EXPECT_THAT(l.linker->callees_of()[2], UnorderedElementsAre(0u, 2u));
  std::vector<std::string> reached;
  for (const std::uint32_t v : l.linker->shared_of()[2])
    reached.push_back(l.linker->shared()[v].name);
  EXPECT_THAT(reached, UnorderedElementsAre("a", "b"));
  EXPECT_TRUE(l.linker->recursive(1));
  EXPECT_FALSE(l.linker->recursive(2));
}

TEST(Linker, LaysSharedVariablesOutWithGapsBetweenThem) {
  const Linked l(
      {".shared .align 4 .b8 a[4];\n.shared .align 4 .b8 b[4];\n.entry k()\n{\n.reg .b32 "
       "r<3>;\nmov.u32 r1, a; mov.u32 r2, b;\nret;\n}\n"});
  const auto& shared = l.linker->shared();
  EXPECT_GE(shared[0].begin, program::kSharedStart);
  EXPECT_GE(shared[1].begin, shared[0].begin + 4 + program::kSharedGap);
}

// The start of dynamic shared memory for each kernel, by name. On an H100 it is 1,024 plus
// `behind`, the size of the static variables rounded up to the declaration's alignment.
std::map<std::string, std::uint32_t> dynamic_shared_of(const Linked& l) {
  EXPECT_EQ(l.error, "");
  std::map<std::string, std::uint32_t> all;
  for (std::uint32_t f = 0; f < l.linker->functions().size(); ++f)
    all[l.linker->functions()[f].function->name] = l.linker->dynamic_shared(f);
  return all;
}

TEST(Linker, DynamicSharedMemoryIsAlignedAsOnAGpuAndNoBetter) {
  struct Layout {
    int static_bytes, static_alignment, alignment, behind;
  };
  for (const Layout& layout :
       {Layout{8, 8, 16, 16}, Layout{5, 1, 16, 16}, Layout{17, 1, 16, 32}, Layout{100, 1, 16, 112},
        Layout{4000, 4, 16, 4000}, Layout{8, 8, 128, 128}, Layout{5, 1, 256, 256},
        Layout{8, 8, 1024, 1024}, Layout{5, 1, 2048, 2048}}) {
    const auto text = [](int n) { return std::to_string(n); };
    const Linked l({".extern .shared .align " + text(layout.alignment) +
                    " .b8 dynamic[];\n.shared .align " + text(layout.static_alignment) +
                    " .b8 fixed[" + text(layout.static_bytes) +
                    "];\n.entry both()\n{\n.reg .b32 r<3>;\nmov.u32 r1, fixed; mov.u32 r2, "
                    "dynamic;\nret;\n}\n.entry without()\n{\n.reg .b32 r<3>;\nmov.u32 r2, "
                    "dynamic;\nret;\n}\n"});
    auto begin = dynamic_shared_of(l);
    EXPECT_EQ(begin["without"], 1024u) << layout.alignment;
    const std::uint32_t grain = static_cast<std::uint32_t>(std::max(layout.alignment, 1024));
    EXPECT_EQ(begin["both"] % grain, (1024u + static_cast<std::uint32_t>(layout.behind)) % grain)
        << layout.static_bytes << " bytes, aligned to " << layout.alignment;
    EXPECT_GE(begin["both"],
              1024u + static_cast<std::uint32_t>(layout.static_bytes) + program::kSharedGap);
  }
}

// A function has one address for it, for all callers.
TEST(Linker, KernelsThatCallOneFunctionHaveDynamicSharedMemoryAtOnePlace) {
  const std::string use = ".func use()\n{\n.reg .b32 r<2>;\nmov.u32 r1, dynamic;\nret;\n}\n",
                    kernels =
                        ".entry eight()\n{\n.reg .b32 r<2>;\nmov.u32 r1, a;\ncall use, "
                        "();\nret;\n}\n.entry twenty()\n{\n.reg .b32 r<2>;\nmov.u32 r1, "
                        "b;\ncall use, ();\nret;\n}\n.entry alone()\n{\n.reg .b32 "
                        "r<2>;\nmov.u32 r1, a;\nmov.u32 r1, dynamic;\nret;\n}\n";
  const Linked l(
      {".extern .shared .align 16 .b8 dynamic[];\n.shared .b8 a[8];\n.shared .b8 "
       "b[20];\n" +
       use + kernels});
  auto begin = dynamic_shared_of(l);
  EXPECT_EQ(begin["eight"], begin["twenty"]);
  EXPECT_EQ(begin["eight"], begin["use"]);
  EXPECT_EQ(begin["eight"] % 1024, 0u) << "which accuses nobody of too little alignment";
  EXPECT_EQ(begin["alone"] % 1024, 16u);
}

TEST(Linker, SixtyFourKilobytesOfConstantsIsTheLimit) {
  EXPECT_EQ(Linked({".const .b8 c[65536];\n"}).error, "");
  EXPECT_THAT(Linked({".const .b8 c[65536];\n.const .b8 d[1];\n"}).error,
              HasSubstr("have 65537 bytes; there are 65536"));
}

}  // namespace linker_test
}  // namespace lockstep::compile
