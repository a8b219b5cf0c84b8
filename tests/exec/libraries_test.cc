// The simulated cuBLAS and cuBLASLt under `lockstep exec`, and libraries that are not simulated.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "tests/exec/run.h"

namespace lockstep {
namespace {

constexpr const char* kBlas = "tests/exec/blas";

// The line of the library call at which every mistake is reported.
std::string line_of_the_call() {
  std::ifstream source("tests/exec/programs/blas.cu");
  std::string line;
  for (int number = 1; std::getline(source, line); ++number) {
    if (line.ends_with("// here")) return "blas.cu:" + std::to_string(number);
  }
  return "no such line";
}

TEST(Cublas, ComputesWhatPlainLoopsCompute) {
  for (const char* options : {"", "--schedule=5 ", "--check=none "}) {
    const Outcome o = run("exec " + std::string(options) + "-- " + kBlas);
    EXPECT_EQ(o.status, 0) << options << o.out << o.err;
    EXPECT_EQ(o.out, "PASSED\n") << options;
    EXPECT_TRUE(has(o.err, "0 errors, 0 for information, 0 suppressed")) << options << o.err;
  }
}

TEST(Cublas, RefusesArgumentsAsItsManualHasIt) {
  const Outcome o = run(std::string("exec -- ") + kBlas + " arguments");
  EXPECT_EQ(o.out, "PASSED\n") << o.err;
  EXPECT_EQ(o.status, 86) << "what is not simulated is an error";
  for (const char* part :
       {"api-error: cublasSgemm answered CUBLAS_STATUS_INVALID_VALUE (an invalid value was used as "
        "an argument): a size is negative",
        "the leading dimension of A, 3, is less than its 4 rows", "alpha or beta is a null pointer",
        "refused: cublasSsbmv answered CUBLAS_STATUS_NOT_SUPPORTED",
        "refused: cublasGemmEx answered CUBLAS_STATUS_NOT_SUPPORTED",
        "cublasDestroy answered CUBLAS_STATUS_NOT_INITIALIZED"})
    EXPECT_TRUE(has(o.err, part)) << part << "\n" << o.err;
  EXPECT_TRUE(has(o.err, ": 2 errors, ")) << "with beta 0, C is not read\n" << o.err;
}

// One line names each library and what to do. A query of the program itself for a private table of
// the driver is no finding.
TEST(Libraries, ThatAreNotSimulatedAreNamedWhenTheyAreCalled) {
  const Outcome o = run("exec -- tests/exec/calls_vendor");
  EXPECT_EQ(o.out, "PASSED\n") << o.err;
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_TRUE(
      has(o.err,
          "libcusolver.so.12 is called. Its kernels are machine code, which the simulated GPU "
          "does not run: its calls fail. Check the program's own kernels without "
          "libcusolver.so.12.\n"))
      << o.err;
  EXPECT_EQ(o.err.find("is called"), o.err.rfind("is called")) << o.err;
  EXPECT_TRUE(has(o.err, "0 errors, 0 for information")) << o.err;
}

struct Wrong {
  const char *what, *finding;
};
class CublasFinds : public testing::TestWithParam<Wrong> {};

TEST_P(CublasFinds, TheMistakeAtItsCall) {
  const Outcome o = run(std::string("exec -- ") + kBlas + " " + GetParam().what);
  EXPECT_EQ(o.status, 86) << o.out << o.err;
  EXPECT_TRUE(has(o.err, GetParam().finding)) << o.err;
  EXPECT_TRUE(has(o.err, line_of_the_call())) << line_of_the_call() << "\n" << o.err;
  EXPECT_TRUE(has(o.err, ": 1 error, 0 for information")) << o.err;
}

INSTANTIATE_TEST_SUITE_P(
    Exec, CublasFinds,
    testing::Values(
        Wrong{"too-long",
              "out-of-bounds: A of cublasSgemm in stream 3 has 1084 bytes at the start of "
              "cudaMalloc #1 (1024 bytes) and ends 60 bytes past its end"},
        Wrong{"unordered", "which cublasSgemm in stream 3 writes: nothing orders the two"},
        Wrong{"unordered-read", "race: "},
        Wrong{"unordered-after", "which cublasSgemm in stream 3 reads: nothing orders the two"},
        Wrong{"unordered-copy", "which cublasSgemm in stream 3 reads: nothing orders the two"},
        Wrong{
            "pinned",
            "race: cublasSgemm in stream 3 writes 1024 bytes at the start of pinned allocation #4 "
            "(1024 bytes), which the host reads: nothing orders the two"},
        Wrong{"overlap",
              "race: C of cublasSgemm in stream 3 overlaps A, which the call reads: nothing orders "
              "the two"},
        Wrong{"unwritten",
              "uninitialised: A of cublasSgemm in stream 3 has 1024 bytes that nobody has written"},
        Wrong{"freed", "use-after-free: A of cublasSgemm in stream 3"},
        Wrong{"graph", "use-after-free: A of cublasSgemm in a graph launched in stream 3"},
        Wrong{"workspace", "use-after-free: the workspace of cublasSgemm in stream 3"},
        Wrong{"host", "is host memory where device memory is meant"},
        Wrong{"misaligned", "misaligned: B of cublasSgemm in stream 3"}),
    [](const auto& info) {
      std::string name = info.param.what;
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

TEST(Cublas, AResultOfTheHostIsNotThereWhereTheCallFails) {
  const Outcome o = run(std::string("exec -- ") + kBlas + " dot");
  EXPECT_EQ(o.status, 1) << o.out << o.err;
  EXPECT_TRUE(has(o.out, "the function failed to launch on the GPU")) << o.out;
  EXPECT_TRUE(has(o.err, "out-of-bounds: x of cublasSdot in stream 3 has 1028 bytes")) << o.err;
  EXPECT_TRUE(has(o.err, ": 1 error, 0 for information")) << o.err;
}

TEST(Curand, NumbersHaveTheirDistributions) {
  const Outcome o = run("exec -- tests/exec/random");
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_EQ(o.out, "PASSED\n");
  EXPECT_TRUE(has(o.err, "0 errors, 0 for information, 0 suppressed")) << o.err;
}

TEST(Curand, WhatIsWrongIsFoundAtItsCall) {
  const Outcome o = run("exec -- tests/exec/random too-many");
  EXPECT_EQ(o.status, 1) << o.out << o.err;
  EXPECT_TRUE(
      has(o.err,
          "out-of-bounds: outputPtr of curandGenerateUniform in the legacy default stream has "
          "160004 bytes at the start of cudaMalloc #1 (160000 bytes) and ends 4 bytes past "
          "its end"))
      << o.err;
  EXPECT_TRUE(has(o.err, "random.cc:")) << o.err;
  const Outcome wrong = run("exec -- tests/exec/random wrong");
  EXPECT_EQ(wrong.out, "PASSED\n") << wrong.err;
  EXPECT_EQ(wrong.status, 86) << "what is not simulated is an error";
  for (const char* part : {"refused: curandCreateGenerator answered CURAND_STATUS_TYPE_ERROR",
                           "CURAND_STATUS_LENGTH_NOT_MULTIPLE", "CURAND_STATUS_NOT_INITIALIZED"})
    EXPECT_TRUE(has(wrong.err, part)) << part << "\n" << wrong.err;
}

TEST(Cufft, TransformsAreThoseOfTheDefinition) {
  // The program's only work is calls of a library.
  const Outcome o = run("exec --require-kernels -- tests/exec/fft");
  EXPECT_EQ(o.status, 0) << o.out << o.err;
  EXPECT_EQ(o.out, "PASSED\n");
  EXPECT_TRUE(has(o.err,
                  "72 calls of simulated libraries on a simulated sm_90: 0 errors, 0 for "
                  "information, 0 suppressed"))
      << o.err;
}

TEST(Cufft, RefusesArgumentsAsItsManualHasIt) {
  const Outcome o = run("exec -- tests/exec/fft arguments");
  EXPECT_EQ(o.out, "PASSED\n") << o.err;
  EXPECT_EQ(o.status, 86) << "what is not simulated is an error";
  for (const char* part :
       {"cufftPlan1d answered CUFFT_INVALID_SIZE", "cufftPlan1d answered CUFFT_INVALID_TYPE",
        "cufftExecC2C answered CUFFT_INVALID_PLAN", "cufftExecC2C answered CUFFT_NO_WORKSPACE",
        "cufftExecR2C answered CUFFT_INVALID_TYPE",
        "refused: cufftXtSetGPUs answered CUFFT_NOT_SUPPORTED", ": 1 error, "})
    EXPECT_TRUE(has(o.err, part)) << part << "\n" << o.err;
}

class CufftFinds : public testing::TestWithParam<Wrong> {};

TEST_P(CufftFinds, TheMistakeAtItsCall) {
  const Outcome o = run(std::string("exec -- tests/exec/fft ") + GetParam().what);
  EXPECT_EQ(o.status, 86) << o.out << o.err;
  EXPECT_TRUE(has(o.err, GetParam().finding)) << o.err;
  EXPECT_TRUE(has(o.err, "fft.cc:")) << o.err;
  EXPECT_TRUE(has(o.err, ": 1 error, 0 for information")) << o.err;
}

INSTANTIATE_TEST_SUITE_P(
    , CufftFinds,
    testing::Values(
        Wrong{"too-small",
              "out-of-bounds: odata of cufftExecC2C in the legacy default stream has 256 bytes at "
              "the start of cudaMalloc #2 (248 bytes) and ends 8 bytes past its end"},
        Wrong{"unwritten", "uninitialised: idata of cufftExecR2C"},
        Wrong{"race", "race: cufftExecC2C in stream 4"}, Wrong{"overlap", "race: "},
        Wrong{"area", "out-of-bounds: the work area of cufftExecC2C"}),
    [](const auto& info) {
      std::string name = info.param.what;
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

// Programs start whatever functions they link: a function that is not simulated fails when called.
TEST(Cublas, HasEveryNameOfNvidias) {
  for (const auto& [library, names] :
       {std::pair{"libcublas.so.13", "exports.txt"}, {"libcublasLt.so.13", "lt_exports.txt"}}) {
    std::istringstream listed(contents(std::string("simulator/libraries/cublas/") + names));
    const Outcome o = shell(std::string("nm -D --defined-only simulator/") + library);
    std::set<std::string> exported, expected;
    std::istringstream lines(o.out);
    for (std::string address, kind, name; lines >> address >> kind >> name;)
      if (kind == "T") exported.insert(name);
    for (std::string line; std::getline(listed, line);) {
      if (!line.starts_with("#")) expected.insert(line.substr(0, line.find(' ')) + "@@" + library);
    }
    EXPECT_GT(expected.size(), 100u);
    EXPECT_EQ(exported, expected) << o.err;
  }
  // Triton looks up names of cublasLt in a handle of cublas.
  EXPECT_NE(shell("readelf -d simulator/libcublas.so.13").out.find("[libcublasLt.so.13]"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
