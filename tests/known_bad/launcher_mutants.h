// For each mistake of launchers.h, of any family: a broken launcher, and the labels with which the
// laws must reject it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "properties/law.h"
#include "tests/known_bad/launchers.h"
#include "tests/known_bad/mutation_test.h"

namespace lockstep::known_bad {

// Adds one mutant: a broken launcher, and the labels with which the laws must reject it.
template <class Launcher>
void add(Mutants<Launcher>& mutants, std::string name, std::string change, Launcher* launch,
         Labels rejected_for, Labels on_silicon, std::string simulator_only = "") {
  mutants.push_back({std::move(name), std::move(change), launch, std::move(rejected_for),
                     std::move(on_silicon), std::move(simulator_only)});
}

// All mutants of one launcher. `Family` provides the launcher, make<broken>(), edge(arguments) and
// kLast, the largest value of that argument that is valid in every case. few() and kLastOfFew
// replace them for the mutant that refuses too much.
template <class Family>
auto mutants_of() {
  using B = Broken<Family::kLauncher>;
  constexpr auto kEdge = [](const auto& arguments) { return Family::edge(arguments); };
  constexpr auto kLast = Family::kLast;
  constexpr auto kFew = [](const auto& arguments) {
    if constexpr (requires { Family::few(arguments); })
      return Family::few(arguments);
    else
      return Family::edge(arguments);
  };
  constexpr auto kLastOfFew = [] {
    if constexpr (requires { Family::kLastOfFew; })
      return Family::kLastOfFew;
    else
      return Family::kLast;
  }();
  using Judged = std::remove_pointer_t<decltype(Family::template make<Family::kLauncher>())>;
  Mutants<Judged> m;
  const Labels law = {"law"}, order = {"law", "mismatch", "unwritten"};
  // A launcher that also copies may have a kernel that overtakes the copy.
  const Labels elsewhere = {"law", "finding:race"};
  // Arrays of successive cases may have equal addresses. The stale arguments may have another
  // shape, or refer to freed memory.
  const Labels kept = {"mismatch",
                       "unwritten",
                       "finding:uninitialised",
                       "finding:out-of-bounds",
                       "law",
                       "cuda-error",
                       "finding:race",
                       "finding:illegal-instruction",
                       "input-changed",
                       "guard",
                       "finding:invalid-instruction"};
  const Labels stale = {"mismatch", "unwritten", "finding:uninitialised", "law"};
  add<Judged>(m, "on_the_default_stream", "ignores the stream that it is given",
              Family::template make<&B::on_the_default_stream>(), elsewhere, order);
  add<Judged>(m, "once_for_the_same_arrays", "does nothing for arrays on which it has just worked",
              Family::template make<&B::once_for_the_same_arrays>(), stale, stale);
  add<Judged>(m, "without_a_look", "does not look whether CUDA takes its launch",
              Family::template make<&B::without_a_look>(), law, law);
  add<Judged>(m, "for_one_device", "what it prepares on one device it takes for prepared on all",
              Family::template make<&B::for_one_device>(), {"cuda-error", "law"}, {},
              "it takes two devices");
  add<Judged>(m, "with_the_first_arguments",
              "keeps what it has made of the arguments for calls on the same arrays",
              Family::template make<&B::with_the_first_arguments>(), kept, kept);
  if constexpr (requires { Family::kHasMaxBlocks; }) {
    constexpr auto kMaxBlocks = [](auto& arguments) -> int& {
      return Family::max_blocks(arguments);
    };
    add<Judged>(m, "as_many_blocks_as_it_likes", "does not look at how large the grid may be",
                Family::template make<&B::template as_many_blocks_as_it_likes<kMaxBlocks>>(), law,
                law);
  }
  if constexpr (requires { Family::kHasStride; }) {
    constexpr auto kStride = [](const auto& arguments) { return Family::stride(arguments); };
    add<Judged>(
        m, "by_a_map_whatever_the_stride", "makes a map of a tensor whose stride no map holds",
        Family::template make<&B::template by_a_map_whatever_the_stride<kStride>>(), law, law);
  }
  if constexpr (requires { Family::kMostProduct; }) {
    constexpr auto kProduct = [](const auto& arguments) { return Family::product(arguments); };
    constexpr auto kMostProduct = Family::kMostProduct;
    add<Judged>(m, "product_in_32_bits", "takes arguments whose product 32 bits do not hold",
                Family::template make<&B::template product_in_32_bits<kProduct, kMostProduct>>(),
                law, law);
  }
  add<Judged>(m, "one_too_many", "takes one value more than the header promises",
              Family::template make<&B::template one_too_many<kEdge, kLast>>(), law, law);
  add<Judged>(m, "one_too_few", "refuses the last value that the header promises",
              Family::template make<&B::template one_too_few<kFew, kLastOfFew>>(), law, law);
  return m;
}

// Families with one launcher, and with several.
template <auto* kFunction>
struct One {
  static constexpr auto* kLauncher = kFunction;
  template <auto* kBroken>
  static auto* make() {
    return kBroken;
  }
};
template <class Family, auto kMember, auto* kFunction>
struct Member {
  static constexpr auto* kLauncher = kFunction;
  template <auto* kBroken>
  static const Family* make() {
    static const Family family = [] {
      Family f;
      f.*kMember = kBroken;
      return f;
    }();
    return &family;
  }
};

// The laws about launchers, which the mutants break, with more cases than in the family's suite.
template <class Implementation>
properties::Laws<Implementation> batteries(properties::Laws<Implementation> laws) {
  laws.erase(laws.begin(),
             std::ranges::find(laws, "WorksOnItsStream", &properties::Law<Implementation>::name));
  for (auto& law : laws) law.options.cost = std::max(law.options.cost / 5, 1);
  return laws;
}

}  // namespace lockstep::known_bad
