// A broken launcher for each mistake of launchers.h, of any family, and what its laws reject it
// for.
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

// A row of the table for a family: a broken launcher, and the labels that its laws reject it for.
template <class Launcher>
void add(Mutants<Launcher>& mutants, std::string name, std::string change, Launcher* launch,
         Labels rejected_for, Labels on_silicon, std::string simulator_only = "") {
  mutants.push_back({std::move(name), std::move(change), launch, std::move(rejected_for),
                     std::move(on_silicon), std::move(simulator_only)});
}

// The mistakes for one launcher. `Family` has the launcher, make<broken>(), an argument and the
// last value that it may have whatever the case; and perhaps another for the refusal of that.
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
  // Where the launcher copies too, its kernel may overtake the copy.
  const Labels elsewhere = {"law", "finding:race"};
  // Arrays of one case after another may lie where those before lay.
  // Of another shape, or outside of what there is.
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

// Families of one launcher, and of several.
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

// What every launcher owes is judged before, and by more cases than, what the family alone
// promises: it is what these mistakes break.
template <class Implementation>
properties::Laws<Implementation> batteries_first(properties::Laws<Implementation> laws) {
  const auto first =
      std::ranges::find(laws, "WorksOnItsStream", &properties::Law<Implementation>::name);
  std::for_each(first, laws.end(),
                [](auto& law) { law.options.cost = std::max(law.options.cost / 5, 1); });
  std::rotate(laws.begin(), first, laws.end());
  return laws;
}

}  // namespace lockstep::known_bad
