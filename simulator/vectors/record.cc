// Executes every form of the table on the GPU of this machine and writes what came out.
//
//   record [--ptxas=PATH] [--write-modules=DIRECTORY] [OUTPUT]
//
// The recording goes to golden/instructions/. Without --ptxas the driver compiles. With --write-modules nothing runs: the PTX of all modules is
// written there instead.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "simulator/vectors/recording.h"
#include "simulator/vectors/vectors.h"

namespace {

using lockstep::vectors::kBlock;
using lockstep::vectors::kThreads;
using lockstep::vectors::VectorForm;

// Kernels a module: compilation takes more than proportional time beyond.
constexpr std::size_t kPerModule = 200;

void must(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "record: %s: %s\n", what.c_str(), cudaGetErrorString(error));
  std::exit(1);
}

// Machine code from ptxas, or the text itself for the driver to compile.
std::string compiled(const std::string& text, const std::string& ptxas) {
  if (ptxas.empty()) return text;
  const std::string base = "record-module";
  std::ofstream(base + ".ptx") << text;
  const std::string command = ptxas + " -arch=sm_90 -o " + base + ".cubin " + base + ".ptx";
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "record: failed: %s\n", command.c_str());
    std::exit(1);
  }
  std::ifstream in(base + ".cubin", std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

std::string describe_device() {
  cudaDeviceProp p;
  must(cudaGetDeviceProperties(&p, 0), "no GPU");
  int driver = 0;
  must(cudaDriverGetVersion(&driver), "no driver");
  if (p.major != 9 || p.minor != 0) {
    std::fprintf(stderr, "record: the kernels are for compute capability 9.0, this GPU has %d.%d\n", p.major, p.minor);
    std::exit(1);
  }
  return std::string(p.name) + ", compute capability 9.0, driver for CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
}

lockstep::vectors::RecordedForm run(const VectorForm& form, cudaLibrary_t library, void* in, void* out) {
  const auto inputs = lockstep::vectors::inputs_of(form);
  std::vector<std::uint64_t> outputs(kThreads * form.outputs.size());
  cudaKernel_t kernel;
  must(cudaLibraryGetKernel(&kernel, library, form.entry.c_str()), form.name);
  if (!inputs.empty()) must(cudaMemcpy(in, inputs.data(), 8 * inputs.size(), cudaMemcpyHostToDevice), form.name);
  must(cudaMemset(out, 0, 8 * outputs.size()), form.name);
  void* arguments[] = {&in, &out};
  must(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(kThreads / kBlock), dim3(kBlock), arguments, 0, nullptr), form.name);
  must(cudaDeviceSynchronize(), form.name);
  must(cudaMemcpy(outputs.data(), out, 8 * outputs.size(), cudaMemcpyDeviceToHost), form.name);
  return {lockstep::vectors::digest(inputs), lockstep::vectors::pack(form, outputs)};
}

}  // namespace

int main(int argc, char** argv) {
  std::string ptxas, modules, output;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a.rfind("--ptxas=", 0) == 0)
      ptxas = a.substr(8);
    else if (a.rfind("--write-modules=", 0) == 0)
      modules = a.substr(16);
    else if (a.rfind("-", 0) != 0 && output.empty())
      output = a;
    else {
      std::fprintf(stderr, "usage: record [--ptxas=PATH] [--write-modules=DIRECTORY] [OUTPUT]\n");
      return 2;
    }
  }
  const std::vector<VectorForm> forms = lockstep::vectors::vector_forms();
  const auto module_at = [&](std::size_t i) { return std::span(forms).subspan(i, std::min(kPerModule, forms.size() - i)); };
  if (!modules.empty()) {
    for (std::size_t i = 0; i < forms.size(); i += kPerModule) {
      std::ofstream(modules + "/" + std::to_string(i / kPerModule) + ".ptx") << lockstep::vectors::module_text(module_at(i));
    }
    return 0;
  }
  if (output.empty()) {
    std::fprintf(stderr, "record: where to?\n");
    return 2;
  }
  lockstep::vectors::Recording recording;
  recording.device = describe_device();
  void *in = nullptr, *out = nullptr;
  must(cudaMalloc(&in, std::size_t{kThreads} * 64 * 8), "no memory");
  must(cudaMalloc(&out, std::size_t{kThreads} * 64 * 8), "no memory");
  for (std::size_t i = 0; i < forms.size(); i += kPerModule) {
    const std::string code = compiled(lockstep::vectors::module_text(module_at(i)), ptxas);
    cudaLibrary_t library;
    must(cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), "module " + std::to_string(i / kPerModule));
    for (const VectorForm& form : module_at(i)) recording.forms[form.name] = run(form, library, in, out);
    must(cudaLibraryUnload(library), "unloading");
  }
  lockstep::vectors::write_recording(output, recording);
  std::printf("%zu forms recorded on %s\n", recording.forms.size(), recording.device.c_str());
}
