// A launcher's contract as data: the range of each argument, the shape of each array, and the pairs
// of arrays that may not overlap.
//
// A family states it once, for the arguments of one case:
//
//   Call<Stencil> stencil_call(const StencilCase& c) {
//     Call<Stencil> call("stencil_1d");
//     auto& [x, n, y, shape] =
//         call.arguments(nullptr, c.n, nullptr, StencilShape{.block = c.block});
//     call.integer("n", {0, kMaxElements}, n);
//     call.integer("block", {1, 1024}, shape.block);
//     call.input("x", x, {.count = c.n}, {c.x_offset, c.poison}, [&c] { return c.x(); });
//     call.output<float>("y", y, {.count = c.n}, {c.y_offset, c.poison});
//     call.apart("x", "y");
//     return call;
//   }
//
// From it follow the launch of a legal case, run(), and every mistake that the launcher must
// refuse: mistakes() names them ("block:1025", "x:null", "y:misaligned_by_2", "y:begins_in_x"),
// make() makes one. Refused<stencil_call, Case> is a case for all of them.
//
// It repeats the launcher's header and does not use the launcher's own checks: each tests the
// other.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "harness/device/device_array.h"
#include "harness/property/argument.h"
#include "harness/property/compare.h"
#include "harness/property/field.h"
#include "harness/property/refusal.h"

namespace lockstep {

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

  // Arrays, in device memory under the memory contract. `contents` gives a vector of the elements,
  // those before and after the footprint's count among them, and is asked when the array is made.
  template <class P, class Contents>
  void input(std::string name, P*& at, Footprint footprint, const Layout& layout,
             Contents contents) {
    filled(std::move(name), Role::kInput, at, footprint, layout, std::move(contents));
  }
  template <class P, class Contents>
  void in_out(std::string name, P*& at, Footprint footprint, const Layout& layout,
              Contents contents) {
    filled(std::move(name), Role::kInOut, at, footprint, layout, std::move(contents));
  }
  template <class T, class P>
  void output(std::string name, P*& at, Footprint footprint, const Layout& layout) {
    const std::int64_t room =
        std::max(footprint.room, footprint.before + footprint.count + footprint.after);
    array<T>(name, Role::kOutput, at, footprint, [=] {
      auto made = std::make_shared<detail::HeldDeviceArray<T>>(
          DeviceArray<T>::output(name, room, layout), std::vector<T>());
      const T* const data = made->array.data() + footprint.before;
      return std::pair<std::shared_ptr<detail::HeldArray>, const void*>(std::move(made), data);
    });
  }
  // The host's memory: as many elements as the footprint has room for, the first of them what
  // `contents` gives.
  template <class T, class Contents>
  void host(std::string name, T*& at, Footprint footprint, Contents contents) {
    using Element = std::remove_const_t<T>;
    const std::int64_t room = std::max(footprint.room, footprint.count);
    array<Element>(name, Role::kInOut, at, footprint, [room, contents = std::move(contents)] {
      std::vector<Element> elements = contents();
      elements.resize(room);
      auto made = std::make_shared<detail::HeldHostArray<Element>>(std::move(elements));
      const Element* const data = made->array.data();
      return std::pair<std::shared_ptr<detail::HeldArray>, const void*>(std::move(made), data);
    });
  }

  // The two arrays may not share a byte.
  void apart(std::string_view one, std::string_view other);
  // The product of these integers, all above 0, is at most `most`: two of them alone, where the
  // others are 1, must be taken up to that, and must not be taken for less. Each by itself is at
  // most what stands for it in `each`, if anything does.
  void product(std::vector<std::string> names, Whole most, std::vector<Whole> each = {});
  // What several arguments make together, such as a sum, and the most that this may be. `set` gives
  // the arguments a value of it, with which nothing else is wrong.
  void together(std::string name, Whole most, std::function<void(std::int64_t)> set) {
    together_.push_back({std::move(name), most, std::move(set)});
  }
  // No array reaches further with this integer, of however large a value: they stay where they are.
  void reaches_no_further(std::string_view name) {
    integers_[&integer_named(name) - integers_.data()].extends = false;
  }
  // The array's pieces lie as far apart, or as far from where it begins, as an argument says, of
  // which each value in `legal` goes with the case. `place` gives the arguments one, and returns
  // where the pieces then lie. The array's footprint has nothing around it.
  void spread(std::string_view array, std::string name, Range legal,
              std::function<std::vector<Piece>(std::int64_t)> place);
  // Rows of `columns` elements that begin `stride` apart, an integer that counts `unit` bytes; 0:
  // elements.
  template <std::integral T>
  void rows(std::string_view array, std::int64_t rows, std::int64_t columns, std::string name,
            Range legal, T& stride, std::int64_t unit = 0) {
    if (rows < 2 || columns < 1) return;
    const auto elements = [unit,
                           bytes = static_cast<std::int64_t>(array_named(array).element_bytes)](
                              std::int64_t v) { return unit == 0 ? v : v * unit / bytes; };
    spread(array, std::move(name), std::move(legal),
           [rows, columns, elements, &stride,
            now = static_cast<std::int64_t>(stride)](std::int64_t value) {
             std::vector<Piece> pieces;
             for (std::int64_t i = 0; i < rows; ++i)
               pieces.push_back({i * elements(now), columns, i * elements(value)});
             stride = static_cast<T>(value);
             return pieces;
           });
  }
  // Results do not depend on this integer: with each value that goes with the case, also one far
  // from its own, or with each of `values`, a launch gives what it gives with the case's.
  void immaterial(std::string_view name, std::vector<Whole> values = {}) {
    immaterial_.push_back({integer_named(name).name, std::move(values)});
  }
  // Where this integer is larger, to at most `most`, these arrays are longer and the grid is: a
  // block for each `block` of what it counts. Both ends of the arrays hold what the case's do; the
  // first and the last block leave there what they leave in the case, if the integer is larger by a
  // multiple of `period` (0: of `block`). `also` sets what else follows from the value.
  void lengthens(std::string_view name, std::int64_t block, Whole most, std::vector<Line> lines,
                 std::function<void(std::int64_t)> also = {}, std::int64_t period = 0) {
    lengthenings_.push_back({integer_named(name).name, block, period == 0 ? block : period, most,
                             std::move(lines), std::move(also)});
  }
  // The launcher fills this in whenever it answers success, whatever there is to do. `text` names
  // all of its members.
  template <class T>
  void reports(std::string name, T*& at, std::function<std::string(const T&)> text) {
    static_assert(std::is_trivially_copyable_v<T>);
    auto memory = std::make_shared<T>();
    reports_.push_back({std::move(name),
                        [&at, memory](unsigned char junk) {
                          std::memset(static_cast<void*>(memory.get()), junk, sizeof *memory);
                          at = memory.get();
                        },
                        [memory, text = std::move(text)] { return text(*memory); }});
  }
  // Anything else that must be refused; `make` changes the arguments.
  void mistake(std::string name, std::function<void()> make) {
    named_.push_back({std::move(name), std::move(make)});
  }
  // Anything else that must be taken: several arguments at once, such as sizes whose product 32
  // bits do not hold.
  void promise(std::string name, std::function<void()> make) {
    promised_.push_back({std::move(name), std::move(make)});
  }
  // Of each kernel that the launcher launches, as far as the header promises it: the threads of a
  // block, where not 0, and how many blocks the grid has. Blocks that come in clusters may be more,
  // up to whole clusters.
  struct Grid {
    std::int64_t threads = 0;
    std::int64_t least_blocks = 1, most_blocks = std::numeric_limits<std::int64_t>::max();
  };
  void grid(const Grid& grid) { grid_ = grid; }
  // Each of these values of an enumeration (none: each legal one) launches a kernel of its own,
  // though results may be the same.
  void own_kernels(std::string_view name, std::vector<Whole> values = {}) {
    const IntegerArgument& argument = integer_named(name);
    if (values.empty()) {
      for (Whole v = argument.legal.least; v <= argument.legal.most; ++v) values.push_back(v);
    }
    own_kernels_.push_back({argument.name, std::move(values)});
  }
  // What the launcher does depends on this property of the device (cudaDeviceAttr), and on no other
  // that is not named.
  void reads(cudaDeviceAttr property) { properties_read_.push_back(property); }
  // The launcher works while its stream is captured, unless it says otherwise.
  enum class Capture : std::uint8_t {
    kPossible,  // its work becomes a graph
    kRefused,   // CUDA refuses it: the launcher waits for the device, or allocates
  };
  void capture(Capture capture) { capture_ = capture; }
  // The device holds one copy of something that the launcher writes, and the header asks callers to
  // order the calls that meet there. Others may be made by two host threads at once.
  void ordered_by_callers() { ordered_by_callers_ = true; }

  // ---- What follows.

  const std::string& launcher() const { return launcher_; }
  const std::vector<IntegerArgument>& integers() const { return integers_; }
  const std::vector<ArrayArgument>& arrays() const { return arrays_; }
  const std::vector<std::pair<std::size_t, std::size_t>>& pairs_apart() const { return apart_; }
  const std::vector<Spread>& spreads() const { return spreads_; }
  const std::vector<Immaterial>& immaterial_arguments() const { return immaterial_; }
  const std::vector<Lengthening>& lengthenings() const { return lengthenings_; }
  const std::vector<Report>& reported() const { return reports_; }
  // std::logic_error when there is none of that name.
  const IntegerArgument& integer_named(std::string_view name) const;
  const ArrayArgument& array_named(std::string_view name) const;
  Capture capture() const { return capture_; }
  const std::vector<Immaterial>& values_with_own_kernels() const { return own_kernels_; }
  const std::vector<int>& properties_read() const { return properties_read_; }
  bool is_ordered_by_callers() const { return ordered_by_callers_; }
  const Grid& grid() const { return grid_; }

  // Makes the arrays; inside a running case. `null_where_empty`: what has no elements stays null.
  void allocate(bool null_where_empty = false);
  // The arrays hold what they held when they were made.
  void require_untouched(const Site& site) const;
  // The names of all mistakes that the launcher must refuse in this case. No spaces.
  std::vector<std::string> mistakes() const;
  // Commits one of them, after allocate(). Throws std::logic_error for another name.
  void make(std::string_view mistake);
  // The names of what the launcher must take besides the legal case itself, and the arguments for
  // one of them, after allocate(): an integer at an end of its range, an array right beside one
  // that it must be apart from. Arrays are then where nothing is, so that the call must not run: it
  // is for a stream that is being captured.
  std::vector<std::string> promises() const;
  void make_promise(std::string_view promise);

  // The device array behind an argument; std::logic_error when there is none of that name and type.
  template <class T>
  DeviceArray<T> take(std::string_view name) {
    auto* const held = dynamic_cast<detail::HeldDeviceArray<T>*>(array_named(name).held.get());
    if (!held)
      throw std::logic_error(launcher_ + ": '" + std::string(name) +
                             "' is no such array, or not made yet");
    return std::move(held->array);
  }

 private:
  struct Change {
    std::string name;
    std::function<void()> make;
  };
  std::vector<Change> all_mistakes() const;
  std::vector<Change> all_promises() const;
  void move_far_apart() const;

  template <class T, class P, class Make>
  void array(std::string name, Role role, P*& at, Footprint footprint, Make make) {
    if (footprint.alignment == 0) footprint.alignment = alignof(T);
    arrays_.push_back({std::move(name), role, footprint, sizeof(T), typeid(T).hash_code(), &at,
                       std::move(make), nullptr});
  }

  template <class P, class Contents>
  void filled(std::string name, Role role, P*& at, const Footprint& footprint, const Layout& layout,
              Contents contents) {
    using T = typename std::decay_t<decltype(contents())>::value_type;
    array<T>(name, role, at, footprint, [=, contents = std::move(contents)] {
      std::vector<T> host = contents();
      DeviceArray<T> array = role == Role::kInput ? DeviceArray<T>::input(name, host, layout)
                                                  : DeviceArray<T>::in_out(name, host, layout);
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
  struct Product {
    std::vector<std::string> names;
    Whole most;
    std::vector<Whole> each;
  };
  // Two factors, where the others are 1.
  struct Factors {
    std::string name;
    std::function<void()> set;
    Whole product;
  };
  // On either side of the most that a product may be.
  std::vector<Factors> last_factors(const Product& product) const;
  std::vector<Product> products_;
  struct Together {
    std::string name;
    Whole most;
    std::function<void(std::int64_t)> set;
  };
  std::vector<Together> together_;
  std::vector<Spread> spreads_;
  std::vector<Immaterial> immaterial_, own_kernels_;
  std::vector<Lengthening> lengthenings_;
  std::vector<Report> reports_;
  std::vector<Change> named_, promised_;
  std::vector<int> properties_read_;
  Grid grid_;
  Capture capture_ = Capture::kPossible;
  bool ordered_by_callers_ = false;
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
requires(
    sizeof...(Rest) > 0 ||
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
  bool of_cuda = false;  // the launcher hands on what CUDA answered
  bool ok() const { return error == cudaSuccess; }
};

// A call and what it launches, for laws that need none of its types. Contract and implementation
// must outlive it.
struct BoundCall {
  Contract* contract;
  bool takes_stream;
  std::function<Answer(cudaStream_t)>
      launch;  // the stream is ignored where the launcher takes none
  std::function<std::function<void()>()> keep;  // gives the arguments their present values again
  std::vector<Variable> variables;
};

// The contract of one launcher with the arguments of one case, which must outlive it.
// `Implementation` is what a law judges: a std::function with the launcher's signature, or a struct
// whose members are pointers to launchers.
template <class Implementation>
class Call : public Contract {
 public:
  using Judged = Implementation;
  using Contract::Contract;

  // The launcher's arguments but the stream, in its own order, as a tuple of references to what
  // launch() hands over.
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
    return hold<Launcher>([launcher](const Implementation& f) { return f.*launcher; },
                          std::forward<Values>(values)...);
  }

  // A variable of the implementation that the launcher reads or writes: what it holds before the
  // launch of the case, and how the host reads and writes all of it.
  template <class Contents, class Read, class Write>
  void variable(std::string name, Contents contents, Read read, Write write) {
    using T = typename std::decay_t<decltype(contents())>::value_type;
    variables_.push_back([=](const Implementation& f) {
      return Variable{name, [contents] { return detail::bytes_of(contents()); },
                      [read, &f] { return detail::bytes_of(read(f)); },
                      [write, &f](const Bytes& bytes) { write(f, detail::elements_of<T>(bytes)); }};
    });
  }

  Answer launch(const Implementation& f, cudaStream_t stream) const { return launch_(f, stream); }
  // Gives the arguments their present values again.
  std::function<void()> keep() const { return keep_(); }

  BoundCall bind(const Implementation& f) {
    BoundCall bound = {this,
                       takes_stream_,
                       [this, &f](cudaStream_t stream) { return launch_(f, stream); },
                       keep_,
                       {}};
    for (const auto& variable : variables_) bound.variables.push_back(variable(f));
    return bound;
  }

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
      Answer answer = {status.error, status.message};
      if constexpr (requires { status.of_cuda; }) answer.of_cuda = status.of_cuda;
      return answer;
    };
    takes_stream_ = Signature::kStream;
    keep_ = [held] { return [held, kept = *held] { *held = kept; }; };
    return *held;
  }

  std::function<Answer(const Implementation&, cudaStream_t)> launch_;
  std::function<std::function<void()>()> keep_;
  std::vector<std::function<Variable(const Implementation&)>> variables_;
  bool takes_stream_ = false;
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

template <class Implementation>
std::vector<std::string> promises_of(const Calls<Implementation>& calls) {
  std::vector<std::string> all;
  for (const auto& call : calls) {
    for (const std::string& name : call.promises()) all.push_back(prefix_of(calls, call) + name);
  }
  return all;
}

// In the place of a mistake or a promise: each of them, one after the other.
inline constexpr const char* kEach = "each";

// `names` or kEach, which is what is drawn; it shrinks toward the front.
Domain<std::string> each_or_one_of(std::vector<std::string> names);

}  // namespace detail

// A legal case whose launchers are called with each mistake in the arguments of one of them; a
// counterexample shrinks to one mistake. kCalls: Call or Calls of a `const Case&`.
template <auto kCalls, class Case>
struct Refused : Case {
  std::string mistake = detail::kEach;

  static auto calls(const Case& c) { return detail::as_calls(kCalls(c)); }

  static void fields(Refused& c, FieldVisitor& field) {
    Case::fields(c, field);
    field("mistake", c.mistake, detail::each_or_one_of(detail::mistakes_of(calls(c))));
  }
  // Which mistakes there are is a matter of the case: a null array is none where there are no
  // elements.
  void normalise() {
    if constexpr (detail::HasNormalise<Case>) Case::normalise();
    const std::vector<std::string> all = detail::mistakes_of(calls(*this));
    if (std::ranges::find(all, mistake) == all.end()) mistake = detail::kEach;
  }
};

// A legal case whose launchers are called with arguments at the ends of what they must take; the
// same way.
template <auto kCalls, class Case>
struct Promised : Case {
  std::string promise = detail::kEach;

  static auto calls(const Case& c) { return detail::as_calls(kCalls(c)); }

  static void fields(Promised& c, FieldVisitor& field) {
    Case::fields(c, field);
    field("promise", c.promise, detail::each_or_one_of(detail::promises_of(calls(c))));
  }
  void normalise() {
    if constexpr (detail::HasNormalise<Case>) Case::normalise();
    const std::vector<std::string> all = detail::promises_of(calls(*this));
    if (std::ranges::find(all, promise) == all.end()) promise = detail::kEach;
  }
};

namespace detail {

// Requires that the launcher of `call` refuses each of these mistakes: with a message of its own,
// before any operation on the device, and without a write to any array.
void require_refusals(const BoundCall& call, const std::vector<std::string>& mistakes);
// Those of `names` that the case asks for.
std::vector<std::string> asked_for(std::vector<std::string> names, const std::string& prefix,
                                   const std::string& which);

}  // namespace detail

// The law of such a case.
template <auto kCalls, class Case, class Implementation>
void require_refusal(const Implementation& f, const Refused<kCalls, Case>& c) {
  auto calls = Refused<kCalls, Case>::calls(c);
  for (auto& call : calls)
    detail::require_refusals(
        call.bind(f),
        detail::asked_for(call.mistakes(), detail::prefix_of(calls, call), c.mistake));
}

}  // namespace lockstep
