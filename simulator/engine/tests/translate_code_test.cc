// When machine code is made of a kernel (simulator/translate), how long it stays, and how it is
// held against the interpreter.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "simulator/engine/tests/translate_launches.h"
#include "simulator/translate/worth.h"

namespace lockstep::engine {
namespace translate_code_test {

using translated::expect_the_same;
using translated::kernel;
using translated::launched;
using translated::Launched;
using translated::Translate;

using program::Meaning;

// The program says of an addition that it is a subtraction: what a mistake in the translator is.
TEST(TranslateDeathTest, CompareStopsAtTheFirstDifference) {
  const auto planted = [](const std::string& body, isa::Opcode from, isa::Opcode to) {
    testing::Machine gpu;
    gpu.config.translate = Translate::kCompare;
    gpu.load(kernel(body));
    auto& program = const_cast<Program&>(
        static_cast<const LoadedKernel&>(*gpu.module->find_kernel("k")).program());
    for (Meaning& m : program.meanings) {
      if (m.opcode == from && m.bytes[0] == 4) m.opcode = to;
    }
    const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(256));
    gpu.launch("k", 1, 64, out);
  };
  const std::string body = "  mov.u32 %r9, 5;\n  sub.u32 %r9, %r9, %r1;\n";
  planted(body, isa::Opcode::k_sub, isa::Opcode::k_sub);
  EXPECT_DEATH(planted(body, isa::Opcode::k_sub, isa::Opcode::k_add),
               "the translation of kernel k was wrong\n"
               "  at line 20 of the PTX: .*sub.u32.*\n"
               "  by block \\(0,0,0\\) thread \\(1,0,0\\), lane 1 of its warp\n"
               ".* is 0x00000006; the interpreter's is 0x00000004");
}

const Program& program_of(const testing::Machine& gpu) {
  return static_cast<const LoadedKernel&>(*gpu.module->find_kernel("k")).program();
}

// Bytes of this process that are executable and of no file.
std::uint64_t generated_bytes() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::uint64_t sum = 0;
  while (std::getline(maps, line)) {
    EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
    unsigned long long begin = 0, end = 0, inode = 1;
    char rights[5] = "", device[16] = "";
    if (std::sscanf(line.c_str(), "%llx-%llx %4s %*x %15s %llu", &begin, &end, rights, device,
                    &inode) == 5 &&
        rights[2] == 'x' && inode == 0)
      sum += end - begin;
  }
  return sum;
}

// A kernel of some 20 operations is translated after 20 * 4000 instructions of warps.
TEST(Translate, OnTranslatesAKernelThatHasExecutedEnough) {
  testing::Machine gpu;
  gpu.config.translate = Translate::kOn;
  gpu.load(kernel("  add.u32 %r9, %r1, 1;\n"));
  const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(32 * 1024));
  const std::uint64_t before = generated_bytes();
  gpu.launch("k", 64, 32, out);
  EXPECT_EQ(generated_bytes(), before);
  // Sixteen launches together.
  for (int i = 0; i < 16 && generated_bytes() == before; ++i) gpu.launch("k", 1024, 32, out);
  EXPECT_GT(generated_bytes(), before);
  EXPECT_EQ(gpu.fetch<std::uint32_t>(out, 3), (std::vector<std::uint32_t>{1, 2, 3}));
}

// It copies: nothing but its addresses is computed.
TEST(Translate, OnLeavesAKernelThatWouldNotGain) {
  std::string copies, sums;
  for (int i = 0; i < 40; ++i) {
    copies += "  ld.global.u8 %r9, [%rd2];\n  st.global.u32 [%rd2], %r9;\n";
    sums += "  ld.global.u32 %r9, [%rd2];\n  add.u32 %r9, %r9, 1;\n";
  }
  for (const auto& [body, is_translated] : {std::pair(copies, false), std::pair(sums, true)}) {
    testing::Machine gpu;
    gpu.config.translate = Translate::kOn;
    gpu.load(kernel(body));
    const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(32 * 1024));
    const std::uint64_t before = generated_bytes();
    for (int i = 0; i < 2; ++i) gpu.launch("k", 1024, 32, out);
    EXPECT_EQ(generated_bytes() > before, is_translated);
    EXPECT_EQ(translate::worth_of(program_of(gpu), program_of(gpu).functions[0]).gains(),
              is_translated);
  }
}

// What is in a loop counts more than what is around it, and functions that are called count too.
TEST(Translate, AnEstimateCountsLoopsAndCallees) {
  const auto share = [](const std::string& text) {
    testing::Machine gpu;
    gpu.load(text);
    const Program& program = program_of(gpu);
    for (const program::Function& f : program.functions) {
      if (f.is_kernel) return translate::worth_of(program, f);
    }
    return translate::Worth();
  };
  const std::string load = "  ld.global.u8 %r9, [%rd2];\n", sum = "  add.u32 %r8, %r8, 3;\n";
  const auto loop = [](const std::string& body) {
    return "TOP:\n" + body + "  setp.lt.u32 %p1, %r8, %r9;\n  @%p1 bra TOP;\n";
  };
  const translate::Worth straight = share(kernel(load + load + load + sum + sum + sum)),
                         sums = share(kernel(load + load + load + loop(sum + sum + sum))),
                         loads = share(kernel(sum + sum + sum + loop(load + load + load)));
  EXPECT_GT(sums.share, straight.share);
  EXPECT_LT(loads.share, straight.share);
  const auto with_function = [&](const std::string& body) {
    return ".func f()\n{\n  .reg .b32 %r<9>;\n" + body + "  ret;\n}\n" + kernel("  call.uni f;\n");
  };
  const std::string one = "  add.u32 %r8, %r8, 3;\n";
  EXPECT_EQ(share(with_function(one + one)).operations, share(with_function(one)).operations + 1);
}

// Each thread makes so many turns.
std::string turns(int count) {
  return kernel(R"(
  mov.u32 %r9, 0;
  mov.u32 %r4, 0;
TOP:
  mad.lo.u32 %r9, %r9, 1664525, %r1;
  xor.b32 %r9, %r9, %r4;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, )" +
                std::to_string(count) + ";\n  @%p1 bra TOP;\n");
}

// Within a launch, and within a block: between two turns of a warp.
TEST(Translate, AKernelIsTranslatedWhileItRuns) {
  const std::string text = turns(20000);
  for (const std::uint64_t seed : {0, 1}) {
    const std::uint64_t before = generated_bytes();
    const Launched off = launched(text, Translate::kOff, 64, seed);
    EXPECT_EQ(generated_bytes(), before);
    EXPECT_EQ(off, launched(text, Translate::kOn, 64, seed));
    testing::Machine gpu;
    gpu.config.translate = Translate::kOn;
    gpu.load(text);
    gpu.launch("k", 1, 64, gpu.buffer(std::vector<std::uint32_t>(64)));
    EXPECT_GT(generated_bytes(), before);
  }
}

// One host thread translates, the others go on.
TEST(Translate, SeveralHostThreadsMeetOneTranslation) {
  std::vector<std::uint32_t> results[2];
  for (const bool on : {false, true}) {
    testing::Machine gpu;
    gpu.config.translate = on ? Translate::kOn : Translate::kOff;
    gpu.config.host_threads = 4;
    gpu.load(turns(400));
    const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(128 * 64));
    const std::uint64_t before = generated_bytes();
    EXPECT_EQ(testing::text(gpu.launch("k", 128, 64, out)), "");
    EXPECT_EQ(generated_bytes() > before, on);
    results[on ? 1 : 0] = gpu.fetch<std::uint32_t>(out, 128 * 64);
  }
  EXPECT_EQ(results[0], results[1]);
}

// The system refuses whatever makes a page executable, from now on.
void forbid_executable_pages() {
  constexpr auto kArguments = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArguments + 2 * sizeof(std::uint64_t)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(rules), rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::_Exit(2);
}

TEST(TranslateDeathTest, AKernelIsInterpretedWhereNoPageMayBecomeExecutable) {
  const auto result = [] {
    forbid_executable_pages();
    const std::uint64_t before = generated_bytes();
    testing::Machine gpu;
    gpu.config.translate = Translate::kAlways;
    gpu.load(kernel("  add.u32 %r9, %r1, 1;\n"));
    const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(128));
    for (int i = 0; i < 2; ++i) gpu.launch("k", 1, 32, out);
    const bool computed = gpu.fetch<std::uint32_t>(out, 2) == std::vector<std::uint32_t>{1, 2};
    return computed && generated_bytes() == before ? 0 : 1;
  };
  EXPECT_EXIT(std::_Exit(result()), ::testing::ExitedWithCode(0), "");
}

TEST(Translate, CodeGoesWithItsModuleAndIsNeverWritableAndExecutable) {
  testing::Machine gpu;
  gpu.config.translate = Translate::kAlways;
  const std::string text = kernel("  add.u32 %r9, %r1, 1;\n");
  const memory::Address out = gpu.buffer(std::vector<std::uint32_t>(256));
  const auto once = [&] {
    gpu.load(text);
    gpu.launch("k", 1, 32, out);
  };
  const std::uint64_t before = generated_bytes();
  once();
  const std::uint64_t of_one = generated_bytes() - before;
  EXPECT_GT(of_one, 0u);
  for (int i = 0; i < 1'000; ++i) once();
  EXPECT_EQ(generated_bytes() - before, of_one);
}

}  // namespace translate_code_test
}  // namespace lockstep::engine
