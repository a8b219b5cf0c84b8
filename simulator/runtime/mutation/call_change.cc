#include "simulator/runtime/mutation/call_change.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace lockstep::runtime {
namespace {

constexpr std::size_t kElement = 4;  // bytes: of what is copied the type is not known

constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kWords = {{
    {"grid-x+1", "the grid has one block more in x"},
    {"grid-x-1", "the grid has one block fewer in x"},
    {"grid-y+1", "the grid has one block more in y"},
    {"grid-y-1", "the grid has one block fewer in y"},
    {"grid-z+1", "the grid has one block more in z"},
    {"grid-z-1", "the grid has one block fewer in z"},
    {"block-exchanged", "the block's dimensions change places"},
    {"shared-4", "the block has 4 bytes of dynamic shared memory fewer"},
    {"default-stream", "the stream is the default one"},
    {"removed", "the call is left out"},
    {"bytes+4", "4 bytes more"},
    {"bytes-4", "4 bytes fewer"},
    {"second-time-removed", "the call is left out from its second time on"},
    {"error-swallowed", "the launch's error is swallowed"},
    {"wait-removed", "the wait is left out"},
    {"recorded-earlier", "the event is recorded before the stream's last operation"},
    {"other-stream", "another stream takes its place"},
    {"edge-removed", "the first edge is left out"},
}};

// The sizes of a copy or fill: bytes a row.
std::size_t* width_of(Work& work) {
  if (auto* copy = std::get_if<CopyWork>(&work)) return &copy->box.extent.width;
  if (auto* fill = std::get_if<FillWork>(&work)) return &fill->rows.width;
  return nullptr;
}

std::size_t unit_of(const Work& work) {
  const auto* fill = std::get_if<FillWork>(&work);
  return fill == nullptr || fill->rows.elementSize == 0 ? 1 : fill->rows.elementSize;
}

unsigned* dimension(dim3& d, char name) { return name == 'x' ? &d.x : name == 'y' ? &d.y : &d.z; }

}  // namespace

bool changes_order(const std::string& change) {
  return change == "wait-removed" || change == "recorded-earlier" || change == "other-stream" ||
         change == "edge-removed";
}

std::vector<std::string> changes_of(const char* api_name, cudaStream_t stream, cudaStream_t other,
                                    const Work& work) {
  std::vector<std::string> changes;
  if (stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread)
    changes.emplace_back("default-stream");
  if (other != nullptr) changes.emplace_back("other-stream");
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    dim3 grid = kernel->request.grid;
    for (const char d : {'x', 'y', 'z'}) {
      const unsigned blocks = *dimension(grid, d);
      if (d == 'x' || blocks > 1) changes.push_back(std::string("grid-") + d + "+1");
      if (blocks > 1) changes.push_back(std::string("grid-") + d + "-1");
    }
    const dim3 block = kernel->request.block;
    if (block.x != block.y) changes.emplace_back("block-exchanged");
    if (kernel->request.dynamic_shared >= kElement) changes.emplace_back("shared-4");
    return changes;
  }
  const bool moves =
      std::holds_alternative<CopyWork>(work) || std::holds_alternative<FillWork>(work);
  if (moves) {
    Work copy = work;
    changes.emplace_back("bytes+4");
    if (*width_of(copy) * unit_of(work) > kElement) changes.emplace_back("bytes-4");
  }
  if (moves || std::holds_alternative<WaitWork>(work) || std::holds_alternative<RecordWork>(work))
    changes.emplace_back("removed");
  if (moves && std::strstr(api_name, "ToSymbol") != nullptr)
    changes.emplace_back("second-time-removed");
  return changes;
}

bool change_call(const std::string& change, int times, cudaStream_t other, cudaStream_t& stream,
                 Work& work) {
  if (change == "removed") return false;
  if (change == "second-time-removed") return times < 2;
  if (change == "default-stream" || change == "other-stream") {
    if (change == "default-stream" || other != nullptr)
      stream = change == "default-stream" ? nullptr : other;
    if (auto* kernel = std::get_if<KernelWork>(&work)) kernel->request.stream = stream;
    return true;
  }
  if (auto* kernel = std::get_if<KernelWork>(&work)) {
    LaunchRequest& request = kernel->request;
    if (change.starts_with("grid-"))
      *dimension(request.grid, change[5]) += change.ends_with("+1") ? 1u : ~0u;
    if (change == "block-exchanged") std::swap(request.block.x, request.block.y);
    if (change == "shared-4" && request.dynamic_shared >= kElement)
      request.dynamic_shared -= kElement;
    return request.grid.x != 0 && request.grid.y != 0 &&
           request.grid.z != 0;  // of a grid without blocks nothing runs
  }
  std::size_t* const width = width_of(work);
  if (width == nullptr) return true;
  const std::size_t by = std::max<std::size_t>(1, kElement / unit_of(work));
  *width = change == "bytes+4" ? *width + by : *width - std::min(*width, by);
  return *width != 0;
}

std::string words_of(const std::string& change) {
  const auto it = std::find_if(kWords.begin(), kWords.end(),
                               [&](const auto& entry) { return entry.first == change; });
  return it == kWords.end() ? change : std::string(it->second);
}

}  // namespace lockstep::runtime
