// Builds the messages with which launchers refuse arguments. Each check is one call; the first
// error becomes the result.
//
//   ArgumentCheck check("stencil_1d");
//   check.number("n", n, 0, kMostElements);
//   check.block(shape.block);
//   check.enumerator("variant", variant, StencilVariant::kReadOnly);
//   if (n > 0) {
//     check.array("x", x, alignof(float));
//     check.array("y", y, alignof(float));
//     check.apart("x", x, n * sizeof(float), "y", y, n * sizeof(float));
//   }
//   return check.status();
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernels/launch_status.h"

namespace lockstep::kernels {

class ArgumentCheck {
 public:
  explicit ArgumentCheck(const char* who) : who_(who) {}

  bool ok() const { return why_.empty(); }
  LaunchStatus status() const { return ok() ? LaunchStatus{} : refused(who_, why_); }

  void require(bool met, const char* otherwise) {
    if (ok() && !met) why_ = otherwise;
  }
  void require(bool met, std::string otherwise) {
    if (ok() && !met) why_ = std::move(otherwise);
  }
  // The same with a function that makes the message, which takes longer than the check.
  template <class Otherwise, class = std::invoke_result_t<Otherwise>>
  void require(bool met, Otherwise otherwise) {
    if (ok() && !met) why_ = otherwise();
  }

  template <class T>
  void number(const char* name, T value, std::common_type_t<T> least, std::common_type_t<T> most) {
    if (!ok() || (value >= least && value <= most)) return;
    const bool bounded = most < std::numeric_limits<T>::max();
    why_ = std::string(name) + " is " + std::to_string(value) + "; it must be " +
           std::to_string(least) + (bounded ? " ... " + std::to_string(most) : " or more");
  }

  // Checks the number of threads per block.
  void block(int threads, int most = 1024) {
    require(threads >= 1 && threads <= most, [&] {
      return "the block is " + std::to_string(threads) + " threads; it must be 1 ... " +
             std::to_string(most);
    });
  }

  // The enumeration has the values from 0 to `last`.
  template <class E>
  void enumerator(const char* name, E value, E last) {
    require(value <= last, [&] {
      return std::string(name) + " " + std::to_string(static_cast<int>(value)) + " does not exist";
    });
  }

  // Checks an array that has elements.
  void array(std::string_view name, const void* p, std::size_t alignment) {
    require(p != nullptr, [&] { return std::string(name) + " is null, but there are elements"; });
    require(address(p) % alignment == 0, [&] {
      return std::string(name) + " is not aligned to " + std::to_string(alignment) + " bytes";
    });
  }

  // Checks that two arrays, both with elements, do not overlap. Adds nothing to an address, because
  // arrays may lie at the end of the address space.
  void apart(std::string_view a_name, const void* a, std::uint64_t a_bytes, std::string_view b_name,
             const void* b, std::uint64_t b_bytes) {
    const bool a_first = address(a) <= address(b);
    require(a_first ? address(b) - address(a) >= a_bytes : address(a) - address(b) >= b_bytes, [&] {
      return std::string(a_name) + " and " + std::string(b_name) +
             " overlap; a thread would read what another has already written";
    });
  }

 private:
  static std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

  const char* const who_;
  std::string why_;
};

}  // namespace lockstep::kernels
