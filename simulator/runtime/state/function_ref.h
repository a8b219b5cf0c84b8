// A callable that a function calls before it returns, without its type: the function is compiled
// once, not for each callable.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace lockstep::runtime {

template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  // Refers to `function`, which must outlive the reference.
  template <class Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef>)
      FunctionRef(Function&& function)
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_(call<std::remove_reference_t<Function>>) {}

  Result operator()(Arguments... arguments) const {
    return call_(function_, std::forward<Arguments>(arguments)...);
  }

 private:
  template <class Function>
  static Result call(void* function, Arguments... arguments) {
    return (*static_cast<Function*>(function))(std::forward<Arguments>(arguments)...);
  }

  void* function_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace lockstep::runtime
