// Executes every form of the table on this machine's GPU and writes the results.
//
//   record [--matrices [--whole=FILE]] [--ptxas=PATH] [--keep=RECORDING]
//     [--write-modules=DIRECTORY [--target=sm_NN]] [OUTPUT]
//
// The recording belongs in golden/instructions/. --matrices: records the matrix instructions.
// --whole: also writes the complete output of the first tiles, to investigate a difference. --keep:
// keeps the instructions of that recording, and executes only those that it lacks. Without --ptxas
// the driver compiles. --write-modules: executes nothing, and writes the PTX of all modules.
//
// The instructions are those of the GPU's compute capability: 9.0, or Blackwell's 10.0, 10.3, 11.0
// and 12.0. The matrix instructions are those of 9.0 only.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "simulator/vectors/compiled.h"
#include "simulator/vectors/matrix_forms.h"
#include "simulator/vectors/recording.h"
#include "simulator/vectors/vectors.h"

namespace {

using lockstep::vectors::kBlock;
using lockstep::vectors::kThreads;
using lockstep::vectors::MatrixForm;
using lockstep::vectors::VectorForm;
using lockstep::vectors::VectorTarget;

// Kernels of a module. Compile time grows more than proportionally beyond.
constexpr std::size_t kPerModule = 200;
// Words of a form's output that --whole keeps.
constexpr std::size_t kWholeWords = 4096;

void must(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "record: %s: %s\n", what.c_str(), cudaGetErrorString(error));
  std::exit(1);
}

cudaDeviceProp properties_of_device() {
  cudaDeviceProp p;
  must(cudaGetDeviceProperties(&p, 0), "no GPU");
  return p;
}

// The target for which this GPU's instructions are compiled.
VectorTarget target_of_device(bool matrices) {
  const cudaDeviceProp p = properties_of_device();
  const int number = 10 * p.major + p.minor;
  if (number == 90) return {};
  if (!matrices && (number == 100 || number == 103 || number == 110 || number == 120))
    return {number, 'a'};
  std::fprintf(stderr, "record: there are no kernels for compute capability %d.%d\n", p.major,
               p.minor);
  std::exit(1);
}

std::string describe_device() {
  const cudaDeviceProp p = properties_of_device();
  int driver = 0;
  must(cudaDriverGetVersion(&driver), "no driver");
  return std::string(p.name) + ", compute capability " + std::to_string(p.major) + "." +
         std::to_string(p.minor) + ", driver for CUDA " + std::to_string(driver / 1000) + "." +
         std::to_string(driver % 1000 / 10);
}

lockstep::vectors::RecordedForm run(const VectorForm& form, cudaLibrary_t library, void* in,
                                    void* out) {
  const auto inputs = lockstep::vectors::inputs_of(form);
  std::vector<std::uint64_t> outputs(kThreads * form.outputs.size());
  cudaKernel_t kernel;
  must(cudaLibraryGetKernel(&kernel, library, form.entry.c_str()), form.name);
  if (!inputs.empty())
    must(cudaMemcpy(in, inputs.data(), 8 * inputs.size(), cudaMemcpyHostToDevice), form.name);
  must(cudaMemset(out, 0, 8 * outputs.size()), form.name);
  void* arguments[] = {&in, &out};
  must(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(kThreads / kBlock),
                        dim3(kBlock), arguments, 0, nullptr),
       form.name);
  must(cudaDeviceSynchronize(), form.name);
  must(cudaMemcpy(outputs.data(), out, 8 * outputs.size(), cudaMemcpyDeviceToHost), form.name);
  return {lockstep::vectors::digest(inputs), lockstep::vectors::pack(form, outputs)};
}

lockstep::vectors::RecordedForm run(const MatrixForm& form, cudaLibrary_t library, void* in,
                                    void* out, std::ofstream* whole) {
  const std::vector<std::uint32_t> inputs = lockstep::vectors::matrix_inputs(form);
  std::vector<std::uint32_t> outputs(static_cast<std::size_t>(form.tiles * form.output_words()));
  cudaKernel_t kernel;
  must(cudaLibraryGetKernel(&kernel, library, form.entry.c_str()), form.name);
  must(cudaMemcpy(in, inputs.data(), 4 * inputs.size(), cudaMemcpyHostToDevice), form.name);
  must(cudaMemset(out, 0, 4 * outputs.size()), form.name);
  void* arguments[] = {&in, &out};
  const dim3 grid(static_cast<unsigned>(form.blocks()));
  must(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid,
                        lockstep::vectors::kThreadsABlock, arguments, 0, nullptr),
       form.name);
  must(cudaDeviceSynchronize(), form.name);
  must(cudaMemcpy(outputs.data(), out, 4 * outputs.size(), cudaMemcpyDeviceToHost), form.name);
  if (whole != nullptr) {
    *whole << form.name << "\n";
    const std::size_t words = std::min(outputs.size(), kWholeWords);
    whole->write(reinterpret_cast<const char*>(outputs.data()),
                 static_cast<std::streamsize>(4 * words));
  }
  return {lockstep::vectors::digest(std::vector<std::uint64_t>(inputs.begin(), inputs.end())),
          lockstep::vectors::tile_digests(form, outputs)};
}

std::string text_of(std::span<const VectorForm> forms, VectorTarget target) {
  return lockstep::vectors::module_text(forms, target);
}
std::string text_of(std::span<const MatrixForm> forms, VectorTarget) {
  return lockstep::vectors::matrix_module(forms);
}
std::string architecture_of(std::span<const VectorForm>, VectorTarget target) {
  return target.name();
}
std::string architecture_of(std::span<const MatrixForm>, VectorTarget) {
  return MatrixForm::kArchitecture;
}

// Visits forms in modules, each of which is compiled separately.
template <class Form, class Visit>
void each_module(const std::vector<Form>& forms, const Visit& visit) {
  for (std::size_t i = 0; i < forms.size(); i += kPerModule)
    visit(i / kPerModule, std::span(forms).subspan(i, std::min(kPerModule, forms.size() - i)));
}

template <class Form>
void write_modules(const std::vector<Form>& forms, VectorTarget target, const std::string& folder) {
  each_module(forms, [&](std::size_t n, std::span<const Form> part) {
    std::ofstream(folder + "/" + std::to_string(n) + ".ptx") << text_of(part, target);
  });
}

// `run_form`: executes one form of a library and returns its results. `recording`: existing
// results.
template <class Form, class RunForm>
void record(const std::vector<Form>& forms, const std::string& ptxas, const std::string& output,
            VectorTarget target, lockstep::vectors::Recording recording, const RunForm& run_form) {
  if (target_of_device(false).number != target.number) {
    std::fprintf(stderr, "record: what is kept is of another compute capability\n");
    std::exit(1);
  }
  const std::string device = describe_device();
  if (recording.device.empty()) recording.device = device;
  if (recording.device != device) recording.device += "; " + device;
  each_module(forms, [&](std::size_t n, std::span<const Form> part) {
    const std::string code =
        lockstep::vectors::compiled(text_of(part, target), ptxas, architecture_of(part, target));
    cudaLibrary_t library;
    must(cudaLibraryLoadData(&library, code.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
         "module " + std::to_string(n));
    for (const Form& form : part) recording.forms[form.name] = run_form(form, library);
    must(cudaLibraryUnload(library), "unloading");
  });
  lockstep::vectors::write_recording(output, recording);
  std::printf("%zu forms recorded on %s\n", recording.forms.size(), recording.device.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  std::string ptxas, modules, output, whole, kept;
  bool matrices = false;
  VectorTarget written;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--matrices")
      matrices = true;
    else if (a.rfind("--whole=", 0) == 0)
      whole = a.substr(8);
    else if (a.rfind("--ptxas=", 0) == 0)
      ptxas = a.substr(8);
    else if (a.rfind("--keep=", 0) == 0)
      kept = a.substr(7);
    else if (a.rfind("--write-modules=", 0) == 0)
      modules = a.substr(16);
    else if (std::sscanf(argv[i], "--target=sm_%d%c", &written.number, &written.suffix) > 0)
      continue;
    else if (a.rfind("-", 0) != 0 && output.empty())
      output = a;
    else {
      std::fprintf(stderr,
                   "usage: record [--matrices [--whole=FILE]] [--ptxas=PATH] [--keep=RECORDING] "
                   "[--write-modules=DIRECTORY [--target=sm_NN]] [OUTPUT]\n");
      return 2;
    }
  }
  if (modules.empty() && output.empty()) {
    std::fprintf(stderr, "record: where to?\n");
    return 2;
  }
  if (!modules.empty()) {
    matrices ? write_modules(lockstep::vectors::matrix_forms(), {}, modules)
             : write_modules(lockstep::vectors::vector_forms(written), written, modules);
    return 0;
  }
  std::vector<VectorForm> forms;
  lockstep::vectors::Recording before;
  // A kept recording is of 9.0. If it is complete, no GPU is needed.
  const VectorTarget target = kept.empty() ? target_of_device(matrices) : VectorTarget();
  if (!matrices) forms = lockstep::vectors::vector_forms(target);
  if (!kept.empty()) {
    const lockstep::vectors::Recording all = lockstep::vectors::read_recording(kept);
    before.device = all.device;
    std::erase_if(forms, [&](const VectorForm& form) {
      const auto it = all.forms.find(form.name);
      const bool known =
          it != all.forms.end() &&
          it->second.inputs == lockstep::vectors::digest(lockstep::vectors::inputs_of(form));
      if (known) before.forms.insert(*it);
      return known;
    });
    if (forms.empty()) {  // nothing to execute: no GPU is needed
      lockstep::vectors::write_recording(output, before);
      std::printf("%zu forms kept\n", before.forms.size());
      return 0;
    }
  }
  void *in = nullptr, *out = nullptr;
  constexpr std::size_t kBytes = 8u << 20;  // more than any form takes
  must(cudaMalloc(&in, kBytes), "no memory");
  must(cudaMalloc(&out, kBytes), "no memory");
  if (matrices) {
    std::ofstream whole_file;
    if (!whole.empty()) whole_file.open(whole, std::ios::binary);
    record(lockstep::vectors::matrix_forms(), ptxas, output, target, {},
           [&](const MatrixForm& form, cudaLibrary_t library) {
             return run(form, library, in, out, whole.empty() ? nullptr : &whole_file);
           });
  } else {
    record(
        forms, ptxas, output, target, std::move(before),
        [&](const VectorForm& form, cudaLibrary_t library) { return run(form, library, in, out); });
  }
}
