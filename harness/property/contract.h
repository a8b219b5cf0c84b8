// A launcher's contract as data: what each argument may be, what each array is, and who may not overlap whom.
//
// A family says it once, for the arguments of one case:
//
//   Call<Stencil> stencil_call(const StencilCase& c) {
//     Call<Stencil> call("stencil_1d");
//     auto& [x, n, y, shape] = call.arguments(nullptr, c.n, nullptr, StencilShape{.block = c.block});
//     call.integer("n", {0, kMaxElements}, n);
//     call.integer("block", {1, 1024}, shape.block);
//     call.input("x", x, {.count = c.n}, {c.x_offset, c.poison}, [&c] { return c.x(); });
//     call.output<float>("y", y, {.count = c.n}, {c.y_offset, c.poison});
//     call.apart("x", "y");
//     return call;
//   }
//
// From that follow the launch of a legal case, run(), and every mistake that the launcher must refuse: mistakes() names
// them ("block:1025", "x:null", "y:misaligned_by_2", "y:begins_in_x"), make() commits one. Refused<stencil_call, Case>
// is a case for all of them.
//
// It repeats what the launcher's header says and knows nothing of the launcher's own checks: one tests the other.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/compare.h"
#include "harness/property/field.h"
#include "harness/property/refusal.h"

namespace lockstep {

// Any integer of up to 64 bits, signed or not, and its neighbours.
__extension__ using Whole = __int128;

// What an integer argument may be: from `least` to `most`, both legal, in steps; or, where `only` is not empty, one of
// those, in ascending order.
struct Range {
  Whole least = 0, most = 0, step = 1;
  std::vector<Whole> only = {};
  bool contains(Whole value) const;
};

// An integer argument or an enumeration, in all the places that hold it.
struct IntegerArgument {
  struct Place {
    void* at;
    std::size_t bytes;
  };
  std::string name;
  Range legal;
  Whole type_least, type_most;
  std::vector<Place> places;

  void set(Whole value) const;  // within the type
  // Values of its type next to the legal ones, then far from them, that a launcher must refuse; no duplicates.
  std::vector<Whole> refused() const;
};

// Of an array: what the launcher may touch, in elements of the device array. With a count of 0 there is no work for the
// array, and it may be null.
struct Footprint {
  std::int64_t count = 0;              // from where the argument points
  std::int64_t before = 0, after = 0;  // and around that
  std::int64_t room = 0;               // of an output: elements that are there, where those are more
  std::size_t alignment = 0;           // bytes; 0: the element type's
};

namespace detail {

// The array that stands behind an argument while a call lives.
struct HeldArray {
  virtual ~HeldArray() = default;
  virtual void require_untouched(const Site& site) const = 0;
};

template <class T>
struct HeldDeviceArray final : HeldArray {
  HeldDeviceArray(DeviceArray<T> array, std::vector<T> first) : array(std::move(array)), first(std::move(first)) {}
  // An input's bytes are looked at when the case ends.
  void require_untouched(const Site& site) const override {
    if (role == Role::kOutput) lockstep::require_untouched(site, array);
    if (role == Role::kInOut) require_bitwise_equal(site, array, first);
  }
  Role role = Role::kOutput;
  DeviceArray<T> array;
  std::vector<T> first;  // of an array that goes in and out
};

template <class T>
struct HeldHostArray final : HeldArray {
  explicit HeldHostArray(std::size_t count) : array(count) {}
  void require_untouched(const Site& site) const override {
    if (array != std::vector<T>(array.size()))
      fail_at(site, Reason::kLaw, "nothing may be written, but an array of the host was");
  }
  std::vector<T> array;
};

}  // namespace detail

struct ArrayArgument {
  std::string name;
  Role role;
  Footprint footprint;
  std::size_t element_bytes = 1;
  void* place;  // the pointer
  // Makes the array for a legal case, and where the argument then points.
  std::function<std::pair<std::shared_ptr<detail::HeldArray>, const void*>()> make;
  std::shared_ptr<detail::HeldArray> held;

  std::uintptr_t get() const;
  void set(std::uintptr_t address) const;
  std::uintptr_t begin() const;  // of the bytes that the launcher may touch
  std::uintptr_t end() const;
};

class Contract {
 public:
  explicit Contract(std::string launcher) : launcher_(std::move(launcher)) {}

  // ---- What a family says.

  template <std::integral T, std::same_as<T>... More>
  void integer(std::string name, Range legal, T& at, More&... more) {
    integers_.push_back({std::move(name),
                         std::move(legal),
                         std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max(),
                         {{&at, sizeof at}, {&more, sizeof more}...}});
  }
  // An enumeration without gaps, from 0 to `last`.
  template <class E>
  requires std::is_enum_v<E>
  void choice(std::string name, E last, E& at) {
    using T = std::underlying_type_t<E>;
    integer(std::move(name), {0, static_cast<T>(last)}, reinterpret_cast<T&>(at));
  }

  // Arrays, in device memory under the memory contract. `contents` gives a vector of the elements, those before and
  // after the footprint's count among them, and is asked when the array is made.
  template <class P, class Contents>
  void input(std::string name, P*& at, Footprint footprint, const Layout& layout, Contents contents) {
    filled(std::move(name), Role::kInput, at, footprint, layout, std::move(contents));
  }
  template <class P, class Contents>
  void in_out(std::string name, P*& at, Footprint footprint, const Layout& layout, Contents contents) {
    filled(std::move(name), Role::kInOut, at, footprint, layout, std::move(contents));
  }
  template <class T, class P>
  void output(std::string name, P*& at, Footprint footprint, const Layout& layout) {
    const std::int64_t room = std::max(footprint.room, footprint.before + footprint.count + footprint.after);
    array<T>(name, Role::kOutput, at, footprint, [=] {
      auto made =
          std::make_shared<detail::HeldDeviceArray<T>>(DeviceArray<T>::output(name, room, layout), std::vector<T>());
      const T* const data = made->array.data() + footprint.before;
      return std::pair<std::shared_ptr<detail::HeldArray>, const void*>(std::move(made), data);
    });
  }
  // `count` elements of the host's memory, all 0.
  template <class T>
  void host(std::string name, T*& at, std::int64_t count) {
    using Element = std::remove_const_t<T>;
    array<Element>(name, Role::kInOut, at, {.count = count}, [count] {
      auto made = std::make_shared<detail::HeldHostArray<Element>>(count);
      const Element* const data = made->array.data();
      return std::pair<std::shared_ptr<detail::HeldArray>, const void*>(std::move(made), data);
    });
  }

  // The two arrays may not share a byte.
  void apart(std::string_view one, std::string_view other);
  // Anything else that must be refused; `make` changes the arguments.
  void mistake(std::string name, std::function<void()> make) { named_.push_back({std::move(name), std::move(make)}); }

  // ---- What follows.

  const std::string& launcher() const { return launcher_; }
  const std::vector<IntegerArgument>& integers() const { return integers_; }
  const std::vector<ArrayArgument>& arrays() const { return arrays_; }
  const std::vector<std::pair<std::size_t, std::size_t>>& pairs_apart() const { return apart_; }

  // Makes the arrays; inside a running case. `null_where_empty`: what has no elements stays null.
  void allocate(bool null_where_empty = false);
  // The arrays hold what they held when they were made.
  void require_untouched(const Site& site) const;
  // The names of all mistakes that the launcher must refuse in this case. No spaces.
  std::vector<std::string> mistakes() const;
  // Commits one of them, after allocate(). Throws std::logic_error for another name.
  void make(std::string_view mistake);

  // The device array behind an argument; std::logic_error when there is none of that name and type.
  template <class T>
  DeviceArray<T> take(std::string_view name) {
    auto* const held = dynamic_cast<detail::HeldDeviceArray<T>*>(array_named(name).held.get());
    if (!held) throw std::logic_error(launcher_ + ": '" + std::string(name) + "' is no such array, or not made yet");
    return std::move(held->array);
  }

 private:
  struct Mistake {
    std::string name;
    std::function<void()> make;
  };
  std::vector<Mistake> all_mistakes() const;
  const ArrayArgument& array_named(std::string_view name) const;

  template <class T, class P, class Make>
  void array(std::string name, Role role, P*& at, Footprint footprint, Make make) {
    if (footprint.alignment == 0) footprint.alignment = alignof(T);
    arrays_.push_back({std::move(name), role, footprint, sizeof(T), &at, std::move(make), nullptr});
  }

  template <class P, class Contents>
  void filled(std::string name, Role role, P*& at, const Footprint& footprint, const Layout& layout,
              Contents contents) {
    using T = typename std::decay_t<decltype(contents())>::value_type;
    array<T>(name, role, at, footprint, [=, contents = std::move(contents)] {
      std::vector<T> host = contents();
      DeviceArray<T> array =
          role == Role::kInput ? DeviceArray<T>::input(name, host, layout) : DeviceArray<T>::in_out(name, host, layout);
      if (role == Role::kInput) host.clear();
      auto made = std::make_shared<detail::HeldDeviceArray<T>>(std::move(array), std::move(host));
      made->role = role;
      const T* const data = made->array.data() + footprint.before;
      return std::pair<std::shared_ptr<detail::HeldArray>, const void*>(std::move(made), data);
    });
  }

  std::string launcher_;
  std::vector<IntegerArgument> integers_;
  std::vector<ArrayArgument> arrays_;
  std::vector<std::pair<std::size_t, std::size_t>> apart_;  // of arrays_
  std::vector<Mistake> named_;
};

namespace detail {

// The parameters of a launcher as a tuple of values, without the stream that comes last.
template <class Values, class... Parameters>
struct WithoutStream;
template <class... Values>
struct WithoutStream<std::tuple<Values...>> {
  using Tuple = std::tuple<Values...>;
  static constexpr bool kStream = false;
};
template <class... Values>
struct WithoutStream<std::tuple<Values...>, cudaStream_t> {
  using Tuple = std::tuple<Values...>;
  static constexpr bool kStream = true;
};
template <class... Values, class First, class... Rest>
requires(sizeof...(Rest) > 0 ||
         !std::same_as<First, cudaStream_t>) struct WithoutStream<std::tuple<Values...>, First, Rest...>
    : WithoutStream<std::tuple<Values..., std::decay_t<First>>, Rest...> {
};

template <class Launcher>
struct SignatureOf;
template <class Result, class... Parameters>
struct SignatureOf<Result(Parameters...)> : WithoutStream<std::tuple<>, Parameters...> {};
template <class Signature>
struct SignatureOf<std::function<Signature>> : SignatureOf<Signature> {};

}  // namespace detail

// What a launcher answered.
struct Answer {
  cudaError_t error = cudaSuccess;
  std::string message;
  bool ok() const { return error == cudaSuccess; }
};

// The contract of one launcher with the arguments of one case, which must outlive it. `Implementation` is what a law
// judges: a std::function with the launcher's signature, or a struct whose members are pointers to launchers.
template <class Implementation>
class Call : public Contract {
 public:
  using Judged = Implementation;
  using Contract::Contract;

  // The launcher's arguments but the stream, in its own order, as a tuple of references to what launch() hands over.
  template <class... Values>
  auto& arguments(Values&&... values) requires requires {
    typename detail::SignatureOf<Implementation>::Tuple;
  }
  {
    return hold<Implementation>([](const Implementation& f) -> const Implementation& { return f; },
                                std::forward<Values>(values)...);
  }
  template <class Owner, class Launcher, class... Values>
  auto& arguments(Launcher* Owner::*launcher, Values&&... values) {
    return hold<Launcher>([launcher](const Implementation& f) { return f.*launcher; }, std::forward<Values>(values)...);
  }

  Answer launch(const Implementation& f, cudaStream_t stream) const { return launch_(f, stream); }
  // Gives the arguments their present values again.
  std::function<void()> keep() const { return keep_(); }

  // A legal launch: makes the arrays, launches, and waits for the device.
  Call&& run(const Implementation& f) && {
    allocate();
    const Site site = {__FILE__, __LINE__, launcher().c_str()};
    detail::require_success(site, launch(f, nullptr));
    detail::require_success(site, cudaDeviceSynchronize());
    return std::move(*this);
  }

 private:
  template <class Launcher, class Find, class... Values>
  auto& hold(Find find, Values&&... values) {
    using Signature = detail::SignatureOf<Launcher>;
    auto held = std::make_shared<typename Signature::Tuple>(std::forward<Values>(values)...);
    launch_ = [find, held](const Implementation& f, cudaStream_t stream) -> Answer {
      const auto status = std::apply(
          [&](const auto&... argument) {
            if constexpr (Signature::kStream) {
              return find(f)(argument..., stream);
            } else {
              return find(f)(argument...);
            }
          },
          *held);
      return {status.error, status.message};
    };
    keep_ = [held] { return [held, kept = *held] { *held = kept; }; };
    return *held;
  }

  std::function<Answer(const Implementation&, cudaStream_t)> launch_;
  std::function<std::function<void()>()> keep_;
};

// The launchers of a family that share a case.
template <class Implementation>
using Calls = std::vector<Call<Implementation>>;

namespace detail {

template <class Implementation>
Calls<Implementation> as_calls(Call<Implementation> call) {
  Calls<Implementation> calls;
  calls.push_back(std::move(call));
  return calls;
}
template <class Implementation>
Calls<Implementation> as_calls(Calls<Implementation> calls) {
  return calls;
}

// A mistake's name among several launchers: "tile_map.n:-1".
template <class Implementation>
std::string prefix_of(const Calls<Implementation>& calls, const Contract& call) {
  return calls.size() > 1 ? call.launcher() + "." : "";
}

template <class Implementation>
std::vector<std::string> mistakes_of(const Calls<Implementation>& calls) {
  std::vector<std::string> all;
  for (const auto& call : calls) {
    for (const std::string& name : call.mistakes()) all.push_back(prefix_of(calls, call) + name);
  }
  return all;
}

// In the place of a mistake: each of them, one after the other.
inline constexpr const char* kEach = "each";

// `names` or kEach, which is what is drawn; it shrinks toward the front.
Domain<std::string> each_or_one_of(std::vector<std::string> names);

}  // namespace detail

// A legal case whose launchers are called with each mistake in the arguments of one of them; a counterexample shrinks
// to one mistake. kCalls: Call or Calls of a `const Case&`.
template <auto kCalls, class Case>
struct Refused : Case {
  std::string mistake = detail::kEach;

  static auto calls(const Case& c) { return detail::as_calls(kCalls(c)); }

  static void fields(Refused& c, FieldVisitor& field) {
    Case::fields(c, field);
    field("mistake", c.mistake, detail::each_or_one_of(detail::mistakes_of(calls(c))));
  }
  // Which mistakes there are is a matter of the case: a null array is none where there are no elements.
  void normalise() {
    if constexpr (detail::HasNormalise<Case>) Case::normalise();
    const std::vector<std::string> all = detail::mistakes_of(calls(*this));
    if (std::ranges::find(all, mistake) == all.end()) mistake = detail::kEach;
  }
};

// The law of such a case: the launcher refuses with a sentence, and no array is written.
template <auto kCalls, class Case, class Implementation>
void require_refusal(const Implementation& f, const Refused<kCalls, Case>& c) {
  auto calls = Refused<kCalls, Case>::calls(c);
  for (auto& call : calls) {
    const std::string prefix = detail::prefix_of(calls, call);
    std::vector<std::string> names = call.mistakes();
    if (c.mistake != detail::kEach) std::erase_if(names, [&](const auto& name) { return prefix + name != c.mistake; });
    if (names.empty()) continue;
    call.allocate();
    const auto restore = call.keep();
    std::string what;
    Site site = {__FILE__, __LINE__, nullptr};
    for (const std::string& name : names) {
      what = call.launcher() + " with " + name;
      site.what = what.c_str();
      call.make(name);
      require_refused(site, call.launch(f, nullptr));
      restore();
    }
    call.require_untouched(site);
  }
}

}  // namespace lockstep
