// The part of fmt that is not templates, compiled once: Debian ships its sources as a header,
// without a static library.
//
// The templates that fmt's header declares and leaves to the library depend on its version;
// fmt.BUILD uses this file for the versions below.
#include <fmt/format-inl.h>

#if FMT_VERSION / 10000 != 9
#error "bazel/system/fmt.cc knows fmt 9, as in Debian 12. For another, define FMT_HEADER_ONLY in "
"fmt.BUILD, or extend it."
#endif

    FMT_BEGIN_NAMESPACE namespace detail {

  template FMT_API dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
  template FMT_API dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
  template FMT_API locale_ref::locale_ref(const std::locale&);
  template FMT_API std::locale locale_ref::get<std::locale>() const;
  template FMT_API thousands_sep_result<char> thousands_sep_impl(locale_ref);
  template FMT_API char decimal_point_impl(locale_ref);
  template FMT_API void buffer<char>::append(const char*, const char*);
  template FMT_API void vformat_to(buffer<char>&, string_view,
                                   basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
