// Compares matrix instructions on random tiles between this machine's GPU and the simulated GPU,
// until the given number of tiles agrees or one differs.
//
//   compare [--tiles=N] [--seed=S] [--threads=T] [--ptxas=PATH] [PART ...]
//
// Each PART selects the forms whose instruction contains it; without any, the most frequent forms
// are compared. Exits with 1 if a tile differs.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "command/options.h"
#include "simulator/engine/tests/testing.h"
#include "simulator/vectors/compiled.h"
#include "simulator/vectors/matrix_forms.h"

namespace {

using lockstep::vectors::MatrixForm;

constexpr int kBatch = 4096;  // tiles for each launch

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "compare: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

std::uint32_t blocks_of(const MatrixForm& form, int tiles) {
  return static_cast<std::uint32_t>(tiles * form.lanes / lockstep::vectors::kThreadsABlock);
}

// One host thread: runs batches of one form on both devices.
class Worker {
 public:
  Worker(const MatrixForm& form, cudaKernel_t kernel) : form_(form), kernel_(kernel) {
    gpu_.config.checks = lockstep::check::kNoChecks;
    gpu_.load_text(lockstep::vectors::matrix_module({&form, 1}));
    must(cudaStreamCreate(&stream_), "a stream");
    must(cudaMalloc(&in_, 4u * kBatch * static_cast<std::size_t>(form.input_words())), "memory");
    must(cudaMalloc(&out_, 4u * kBatch * static_cast<std::size_t>(form.output_words())), "memory");
  }
  ~Worker() {
    cudaFree(in_);
    cudaFree(out_);
    cudaStreamDestroy(stream_);
  }

  // The first tile of a batch that differs, or -1.
  int compare(std::uint64_t seed) {
    const std::vector<std::uint32_t> inputs = lockstep::vectors::matrix_inputs(form_, seed, kBatch);
    std::vector<std::uint32_t> silicon(kBatch * static_cast<std::size_t>(form_.output_words()));
    must(cudaMemcpyAsync(in_, inputs.data(), 4 * inputs.size(), cudaMemcpyHostToDevice, stream_),
         "copying");
    must(cudaMemsetAsync(out_, 0, 4 * silicon.size(), stream_), "clearing");
    void* arguments[] = {&in_, &out_};
    must(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3(blocks_of(form_, kBatch)),
                          dim3(lockstep::vectors::kThreadsABlock), arguments, 0, stream_),
         "launching");
    const auto in = gpu_.buffer<std::uint32_t>(inputs);
    const auto out = gpu_.buffer<std::uint32_t>(std::vector<std::uint32_t>(silicon.size()));
    const auto outcome = gpu_.launch(form_.entry, blocks_of(form_, kBatch),
                                     lockstep::vectors::kThreadsABlock, in, out);
    if (!outcome.findings.empty()) {
      std::fprintf(stderr, "compare: %s\n", outcome.findings[0].to_string().c_str());
      std::exit(2);
    }
    const auto simulated = gpu_.fetch<std::uint32_t>(out, silicon.size());
    gpu_.memory.release(in);
    gpu_.memory.release(out);
    must(cudaMemcpyAsync(silicon.data(), out_, 4 * silicon.size(), cudaMemcpyDeviceToHost, stream_),
         "copying");
    must(cudaStreamSynchronize(stream_), form_.name.c_str());
    const auto [at, other] = std::mismatch(silicon.begin(), silicon.end(), simulated.begin());
    return at == silicon.end() ? -1
                               : static_cast<int>((at - silicon.begin()) / form_.output_words());
  }

 private:
  const MatrixForm& form_;
  cudaKernel_t kernel_;
  cudaStream_t stream_ = nullptr;
  void *in_ = nullptr, *out_ = nullptr;
  lockstep::engine::testing::Machine gpu_;
};

// The number of batches of a form with a differing tile.
long compare(const MatrixForm& form, long tiles, std::uint64_t seed, int threads,
             const std::string& ptxas) {
  const std::string code = lockstep::vectors::compiled(lockstep::vectors::matrix_module({&form, 1}),
                                                       ptxas, MatrixForm::kArchitecture);
  cudaLibrary_t library;
  must(cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
       form.name.c_str());
  cudaKernel_t kernel;
  must(cudaLibraryGetKernel(&kernel, library, form.entry.c_str()), form.name.c_str());
  const long batches = (tiles + kBatch - 1) / kBatch;
  std::atomic<long> next{0}, differ{0};
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&] {
      Worker worker(form, kernel);
      for (long n = next++; n < batches; n = next++) {
        const int tile =
            worker.compare(seed + 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(n + 1));
        if (tile < 0) continue;
        if (differ++ == 0) std::printf("  tile %d of batch %ld differs\n", tile, n);
      }
    });
  }
  for (std::thread& t : pool) t.join();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%11ld tiles %6ld differ %7.1f s  %s\n", batches * kBatch, differ.load(), seconds,
              form.name.substr(0, form.name.find(' ')).c_str());
  std::fflush(stdout);
  must(cudaLibraryUnload(library), "unloading");
  return differ;
}

}  // namespace

int main(int argc, char** argv) {
  lockstep::command::Options options(
      "Matrix instructions on random tiles, on the GPU of this machine and on the simulated one.");
  long tiles = 10'000'000;
  std::uint64_t seed = 1;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::string ptxas;
  std::vector<std::string> parts;
  options.count("--tiles", tiles, "Tiles of each form");
  options.value("--seed", seed, "Of the random numbers");
  options.count("--threads", threads, "Host threads");
  options.value("--ptxas", ptxas, "The assembler; without it the driver compiles");
  options.value("parts", parts, "Parts of instructions");
  if (const auto status = options.parse(argc, argv)) return *status;
  if (parts.empty()) {
    parts = {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ",
             "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 ",
             "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 ",
             "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 ",
             "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 ",
             "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 ",
             "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ",
             "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 "};
  }
  cudaDeviceProp p;
  must(cudaGetDeviceProperties(&p, 0), "no GPU");
  std::printf("%s, seed %llu\n", p.name, static_cast<unsigned long long>(seed));
  long differ = 0;
  const std::vector<MatrixForm> forms = lockstep::vectors::matrix_forms();
  for (const std::string& part : parts) {
    const auto form = std::find_if(forms.begin(), forms.end(),
                                   [&](const MatrixForm& f) { return f.name.starts_with(part); });
    if (form == forms.end()) {
      std::fprintf(stderr, "compare: no form begins with '%s'\n", part.c_str());
      return 2;
    }
    differ += compare(*form, tiles, seed, threads, ptxas);
  }
  return differ == 0 ? 0 : 1;
}
