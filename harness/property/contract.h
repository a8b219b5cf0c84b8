// A launcher's contract as data: the range of each argument, the shape of each array, and the pairs
// of arrays that must not overlap.
//
// A family writes one function that states the contract for the arguments of a case:
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
// The contract determines the launch of a legal case, run(), and every mistake that the launcher
// must refuse. mistakes() returns their names ("block:1025", "x:null", "y:misaligned_by_2",
// "y:begins_in_x"), and make() makes one of them. Refused<stencil_call, Case> is a case type for
// all of them.
//
// The contract repeats the launcher's header and does not use the launcher's checks, so that each
// tests the other.
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
  explicit Contract(std::string launcher);
  Contract(Contract&&) noexcept;
  ~Contract();

  // ---- A family states its contract with these functions.

  template <std::integral T, std::same_as<T>... More>
  void integer(std::string name, Range legal, T& at, More&... more) {
    integer(std::move(name), std::move(legal), std::numeric_limits<T>::min(),
            std::numeric_limits<T>::max(), {{&at, sizeof at}, {&more, sizeof more}...});
  }
  // An enumeration with the values 0 to `last`, without gaps.
  template <class E>
  requires std::is_enum_v<E>
  void choice(std::string name, E last, E& at) {
    using T = std::underlying_type_t<E>;
    integer(std::move(name), {0, static_cast<T>(last)}, reinterpret_cast<T&>(at));
  }

  // Arrays in device memory under the memory contract. `contents` returns a vector of the elements,
  // with those before and after the footprint's count. It is called when the array is made.
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
  // An array in host memory with the footprint's room in elements. `contents` returns the first of
  // them.
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

  // The two arrays must not share a byte.
  void apart(std::string_view one, std::string_view other);
  // The product of these integers, each at least 1, must be at most `most`. The launcher must
  // accept every two of them with a product up to `most`, and refuse a larger product, while the
  // others are 1. `each` holds the largest value of each integer; default: `most`.
  void product(std::vector<std::string> names, Whole most, std::vector<Whole> each = {});
  // A quantity that depends on several arguments, such as a sum, and its largest legal value. `set`
  // gives the arguments a value of the quantity, and makes no other mistake.
  void together(std::string name, Whole most, std::function<void(std::int64_t)> set);
  // No array becomes longer with a larger value of this integer, so the arrays keep their places.
  void reaches_no_further(std::string_view name);
  // An argument decides where the pieces of the array lie: the distance between them, or from the
  // array's begin. Each value in `legal` fits the case. `place` sets the argument and returns the
  // new places of the pieces. The array's footprint has no elements before or after.
  void spread(std::string_view array, std::string name, Range legal,
              std::function<std::vector<Piece>(std::int64_t)> place);
  // An array of rows of `columns` elements. The argument `stride` is the distance of two rows in
  // units of `unit` bytes; 0: in elements.
  template <std::integral T>
  void rows(std::string_view array, std::int64_t rows, std::int64_t columns, std::string name,
            Range legal, T& stride, std::int64_t unit = 0) {
    place_rows(array, rows, columns, std::move(name), std::move(legal), unit,
               static_cast<std::int64_t>(stride),
               [&stride](std::int64_t value) { stride = static_cast<T>(value); });
  }
  // Results do not depend on this integer. With each of `values`, a launch has the same results as
  // with the value of the case. Empty: each value that fits the case, including values far from the
  // case's own.
  void immaterial(std::string_view name, std::vector<Whole> values = {});
  // A larger value of this integer, up to `most`, makes these arrays longer and the grid larger:
  // one block for each `block` units. Both ends of a longer array hold the contents of the case's
  // ends. The first and the last block must then produce the case's results there, if the increase
  // is a multiple of `period` (0: of `block`). `also` sets the arguments that depend on the value.
  void lengthens(std::string_view name, std::int64_t block, Whole most, std::vector<Line> lines,
                 std::function<void(std::int64_t)> also = {}, std::int64_t period = 0);
  // A report that the launcher writes whenever it succeeds, even without work. `text` must name all
  // members of T.
  template <class T>
  void reports(std::string name, T*& at, std::function<std::string(const T&)> text) {
    static_assert(std::is_trivially_copyable_v<T>);
    auto memory = std::make_shared<T>();
    report(
        std::move(name),
        [&at, memory](unsigned char junk) {
          std::memset(static_cast<void*>(memory.get()), junk, sizeof *memory);
          at = memory.get();
        },
        [memory, text = std::move(text)] { return text(*memory); });
  }
  // Any other mistake that the launcher must refuse. `make` changes the arguments.
  void mistake(std::string name, std::function<void()> make);
  // Any other arguments that the launcher must accept: several at once, such as sizes whose product
  // exceeds 32 bits.
  void promise(std::string name, std::function<void()> make);
  // The header's promises about the grid of each kernel that the launcher launches: the threads of
  // a block, if not 0, and the number of blocks. With clusters, the number of blocks may be rounded
  // up to whole clusters.
  struct Grid {
    std::int64_t threads = 0;
    std::int64_t least_blocks = 1, most_blocks = std::numeric_limits<std::int64_t>::max();
  };
  void grid(const Grid& grid) { grid_ = grid; }
  // Each of these values of an enumeration launches a different kernel, though results may be
  // equal. Empty: each legal value.
  void own_kernels(std::string_view name, std::vector<Whole> values = {});
  // The launcher's behaviour depends on this device property (cudaDeviceAttr). It depends on no
  // property that is not named so.
  void reads(cudaDeviceAttr property);
  // Whether the launcher works while its stream is captured. Default: kPossible.
  enum class Capture : std::uint8_t {
    kPossible,  // the work becomes a graph
    kRefused,   // CUDA refuses it, because the launcher waits for the device or allocates memory
  };
  void capture(Capture capture) { capture_ = capture; }
  // The device holds one copy of something that the launcher writes, and the header asks callers to
  // order calls that use it. Without this promise, two host threads may call the launcher at once.
  void ordered_by_callers() { ordered_by_callers_ = true; }

  // ---- Results.

  const std::string& launcher() const { return launcher_; }
  const std::vector<IntegerArgument>& integers() const { return integers_; }
  const std::vector<ArrayArgument>& arrays() const { return arrays_; }
  const std::vector<std::pair<std::size_t, std::size_t>>& pairs_apart() const { return apart_; }
  const std::vector<Spread>& spreads() const { return spreads_; }
  const std::vector<Immaterial>& immaterial_arguments() const { return immaterial_; }
  const std::vector<Lengthening>& lengthenings() const { return lengthenings_; }
  const std::vector<Report>& reported() const { return reports_; }
  // Throw std::logic_error if there is no argument of that name.
  const IntegerArgument& integer_named(std::string_view name) const;
  const ArrayArgument& array_named(std::string_view name) const;
  Capture capture() const { return capture_; }
  const std::vector<Immaterial>& values_with_own_kernels() const { return own_kernels_; }
  const std::vector<int>& properties_read() const { return properties_read_; }
  bool is_ordered_by_callers() const { return ordered_by_callers_; }
  const Grid& grid() const { return grid_; }

  // Makes the arrays, inside a running case. `null_where_empty`: an array without elements stays
  // null.
  void allocate(bool null_where_empty = false);
  // Requires that the arrays hold their first contents.
  void require_untouched(const Site& site) const;
  // The names, without spaces, of all mistakes that the launcher must refuse in this case.
  std::vector<std::string> mistakes() const;
  // A named change of the arguments. It refers to the contract, which must outlive it.
  struct Change {
    std::string name;
    std::function<void()> make;
  };
  // The mistakes, to be made after allocate(); all, or those of these names. The names stand in the
  // order of mistakes(). Throws std::logic_error for a name that is none.
  std::vector<Change> all_mistakes() const;
  std::vector<Change> mistakes_named(const std::vector<std::string>& names) const;
  // Makes one of these mistakes.
  void make(const std::string& mistake);
  // Legal arguments that the launcher must accept besides those of the case: an integer at an end
  // of its range, or an array directly beside one that it must not overlap. promises() returns
  // their names; promises_named() and make_promise() are as for mistakes. Arrays may then point to
  // unmapped addresses, so the call must not execute: use a stream that is being captured.
  std::vector<std::string> promises() const;
  std::vector<Change> promises_named(const std::vector<std::string>& names) const;
  void make_promise(const std::string& promise);

  // The device array of an argument. Throws std::logic_error if there is none of that name and
  // type.
  template <class T>
  DeviceArray<T> take(std::string_view name) {
    auto* const held = dynamic_cast<detail::HeldDeviceArray<T>*>(array_named(name).held.get());
    if (!held)
      throw std::logic_error(launcher_ + ": '" + std::string(name) +
                             "' is no such array, or not made yet");
    return std::move(held->array);
  }

 private:
  struct ElementType {
    std::size_t bytes, alignment, hash;
  };

  std::vector<Change> all_promises() const;
  // Those of `all` with these names, which stand in the order of `all`.
  std::vector<Change> named(std::vector<Change> all, const std::vector<std::string>& names,
                            const char* what) const;
  void move_far_apart() const;
  void integer(std::string name, Range legal, Whole type_least, Whole type_most,
               std::vector<IntegerArgument::Place> places);
  void place_rows(std::string_view array, std::int64_t rows, std::int64_t columns, std::string name,
                  Range legal, std::int64_t unit, std::int64_t stride,
                  std::function<void(std::int64_t)> set);
  void report(std::string name, std::function<void(unsigned char junk)> hand_over,
              std::function<std::string()> text);
  void array(std::string name, Role role, const Footprint& footprint, const ElementType& type,
             void* place, ArrayArgument::Make make);

  template <class T, class P, class Make>
  void array(std::string name, Role role, P*& at, const Footprint& footprint, Make make) {
    array(std::move(name), role, footprint, {sizeof(T), alignof(T), typeid(T).hash_code()}, &at,
          std::move(make));
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
  std::vector<std::pair<std::size_t, std::size_t>> apart_;  // indices in arrays_
  struct Product {
    std::vector<std::string> names;
    Whole most;
    std::vector<Whole> each;
  };
  // Values of two factors; the other factors are 1.
  struct Factors {
    std::string name;
    std::function<void()> set;
    Whole product;
  };
  // Factors with products just within and just above the limit.
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

// The parameter types of a launcher as a tuple of values, without a last parameter of type
// cudaStream_t.
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

// The result of a launcher.
struct Answer {
  cudaError_t error = cudaSuccess;
  std::string message;
  bool of_cuda = false;  // the launcher returns the result of a CUDA call
  bool ok() const { return error == cudaSuccess; }
};

// A call with its launch, without its types, for generic laws. Contract and implementation must
// outlive it.
struct BoundCall {
  Contract* contract;
  bool takes_stream;
  std::function<Answer(cudaStream_t)>
      launch;  // ignores the stream if the launcher has no such parameter
  std::function<std::function<void()>()>
      keep;  // keep() returns a function that restores the arguments' present values
  std::vector<Variable> variables;
};

// The contract of one launcher with the arguments of one case; the case must outlive it.
// `Implementation` is the object under test: a std::function with the launcher's signature, or a
// struct whose members are pointers to launchers.
template <class Implementation>
class Call : public Contract {
 public:
  using Judged = Implementation;
  using Contract::Contract;

  // Sets the launcher's arguments except the stream, in order. Returns a tuple of references to the
  // values that launch() passes.
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

  // A variable of the implementation that the launcher reads or writes. `contents` returns its
  // value before the launch of the case; `read` and `write` access all of it from the host.
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
  // Returns a function that restores the arguments' present values.
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

  // Runs a legal launch: makes the arrays, launches, and waits for the device.
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

// The implementation whose Call or Calls `kCalls` returns for a case.
template <auto kCalls, class Case>
using JudgedBy =
    typename decltype(as_calls(kCalls(std::declval<const Case&>())))::value_type::Judged;

// Without their types. The names of mistakes and promises have a prefix if there are several
// launchers: "tile_map." in "tile_map.n:-1".
using Contracts = std::vector<const Contract*>;
template <class Implementation>
Contracts contracts_of(const Calls<Implementation>& calls) {
  Contracts contracts;
  for (const auto& call : calls) contracts.push_back(&call);
  return contracts;
}
std::vector<std::string> mistakes_of(const Contracts& contracts);
std::vector<std::string> promises_of(const Contracts& contracts);

// The value of a `mistake` or `promise` field that selects all of them, one after the other.
inline constexpr const char* kEach = "each";

// The domain of `names` and kEach. Draws kEach; shrinks toward the front.
// Calls `names`, which must not refer to the case, only where a name is parsed, described or made
// simpler.
Domain<std::string> each_or_one_of(std::function<std::vector<std::string>()> names);
// `which` if it is kEach or one of `names`, else kEach.
std::string one_or_each(const std::function<std::vector<std::string>()>& names,
                        const std::string& which);

}  // namespace detail

// The calls of one case, bound to an implementation, without its type. The case and the
// implementation must outlive it.
struct BoundCalls {
  std::shared_ptr<void> owner;  // of the contracts
  std::vector<BoundCall> calls;
};

template <class Implementation>
BoundCalls bind_calls(Calls<Implementation> calls, const Implementation& f) {
  const auto owner = std::make_shared<Calls<Implementation>>(std::move(calls));
  BoundCalls bound = {owner, {}};
  for (auto& call : *owner) bound.calls.push_back(call.bind(f));
  return bound;
}

namespace detail {

Contracts contracts_of(const BoundCalls& calls);

}  // namespace detail

// Requires that the launchers refuse the mistake of this name, or with kEach every mistake: with a
// message of their own, before any operation on the device, and without a write to any array.
void require_refusals(const BoundCalls& calls, const std::string& mistake);
// The promises among `names` that have this name with the launcher's prefix; all for kEach.
std::vector<std::string> promises_named(const BoundCalls& calls, const BoundCall& call,
                                        const std::string& promise);

// A legal case with a mistake: the law calls its launchers with each mistake in turn, and a
// counterexample shrinks to one mistake. kCalls: a function of `const Case&` that returns a Call or
// Calls.
template <auto kCalls, class Case>
struct Refused : Case {
  std::string mistake = detail::kEach;

  static auto calls(const Case& c) { return detail::as_calls(kCalls(c)); }
  std::vector<std::string> mistakes() const {
    return detail::mistakes_of(detail::contracts_of(calls(*this)));
  }

  static void fields(Refused& c, FieldVisitor& field) {
    Case::fields(c, field);
    field("mistake", c.mistake, detail::each_or_one_of([c] { return c.mistakes(); }));
  }
  // The case determines its mistakes: a null array is no mistake if there are no elements.
  void normalise() {
    if constexpr (detail::HasNormalise<Case>) Case::normalise();
    mistake = detail::one_or_each([this] { return mistakes(); }, mistake);
  }
};

// The law of a Refused case.
template <auto kCalls, class Case, class Implementation>
void require_refusal(const Implementation& f, const Refused<kCalls, Case>& c) {
  require_refusals(bind_calls(Refused<kCalls, Case>::calls(c), f), c.mistake);
}

}  // namespace lockstep
