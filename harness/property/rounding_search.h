// Inputs on which a chain of roundings and its neighbours have different results.
//
// A header states in which order its kernel rounds. A neighbour of that chain has another
// product fused, a reciprocal in place of a division, another rounding mode, or a sum in another
// order. On most inputs it gives the same bits, or bits within the error bound. The search tries
// inputs on the host until each neighbour differs from the stated chain on one of them. On these
// inputs the kernel must give the stated bits.
//
//   const RoundingSearch<Terms, float> search(
//       stated, {{"the product rounded by itself", unfused}, ...});
//   const auto found = search.find(bits, sample);   // one input for each neighbour
//   ... launches the kernel on them ...
//   search.require(found, actual);
//
// If a neighbour agrees with the chain on every try, the case fails. Either the two are the same
// chain, or `sample` does not reach the inputs on which they differ; the law would then claim more
// than it checks. A kernel with the stated chain has that chain's error, so its budget
// (harness/property/compare.h) is within what the chain allows.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/ledger/verdict.h"
#include "harness/property/case.h"
#include "harness/property/field.h"

namespace lockstep {

// Whether the bits are equal or both are NaN; host and device make different NaNs.
template <class T>
bool same_result(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  }
  using Bytes = std::array<unsigned char, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

// `Result` is a plain value: a float, a double, a pixel.
template <class Input, class Result>
class RoundingSearch {
 public:
  using Chain = std::function<Result(const Input&)>;
  struct Neighbour {
    std::string name;  // "the product rounded by itself"
    Chain chain;
  };
  struct Found {
    Input input;
    std::size_t neighbour;  // the neighbour whose result differs from the stated chain's
  };

  RoundingSearch(Chain stated, std::vector<Neighbour> neighbours)
      : stated_(std::move(stated)), neighbours_(std::move(neighbours)) {}

  const std::vector<Neighbour>& neighbours() const { return neighbours_; }
  Result stated(const Input& input) const { return stated_(input); }
  const std::string& name_of(const Found& found) const { return neighbours_[found.neighbour].name; }

  // Returns one input for each neighbour, in their order. `sample` makes a random input from a
  // Bits&. Throws std::logic_error if a neighbour agrees with the chain on `tries` inputs.
  template <class Sample>
  std::vector<Found> find(Bits& bits, Sample&& sample, int tries = 20000) const {
    std::vector<Found> found;
    for (std::size_t k = 0; k < neighbours_.size(); ++k) {
      int left = tries;
      for (bool apart = false; !apart; --left) {
        if (left == 0) {
          throw std::logic_error(fmt::format("on {} inputs the stated chain and '{}' agree", tries,
                                             neighbours_[k].name));
        }
        Input input = sample(bits);
        apart = !same_result(stated_(input), neighbours_[k].chain(input));
        if (apart) found.push_back({std::move(input), k});
      }
    }
    return found;
  }

  // The names of the neighbours with this result for this input; empty: none.
  std::string resembled(const Input& input, const Result& result) const {
    std::string names;
    for (const Neighbour& n : neighbours_) {
      if (same_result(n.chain(input), result))
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", n.name);
    }
    return names;
  }

  // Requires that the kernel's results for the found inputs, in their order, are those of the
  // stated chain. Otherwise fails the case and names the neighbours with the observed result.
  // `text` converts a result to text.
  template <class Text>
  void require(const std::vector<Found>& found, const std::vector<Result>& actual,
               Text&& text) const {
    if (actual.size() != found.size())
      throw std::logic_error("a result for each input that was found");
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Result wanted = stated_(found[i].input);
      if (same_result(actual[i], wanted)) continue;
      const std::string like = resembled(found[i].input, actual[i]);
      fail_case(
          {Reason::kMismatch, "",
           fmt::format("an input where the stated roundings and '{}' differ gives {}, and the "
                       "stated ones give {}; {}",
                       name_of(found[i]), text(actual[i]), text(wanted),
                       like.empty() ? "no neighbour known here gives the same"
                                    : "the same as with " + like)});
    }
  }
  void require(const std::vector<Found>& found, const std::vector<Result>& actual) const {
    require(found, actual, [](const Result& r) { return fmt::format("{:a}", r); });
  }

 private:
  Chain stated_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace lockstep
