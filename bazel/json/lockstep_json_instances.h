// Declares the instances of nlohmann::json that json_instances.cc compiles: a source that includes
// this header compiles neither its parser nor its serialiser nor its values. Otherwise GCC would
// compile them in each source that parses or prints JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

// EXTERN is `extern`, or empty in the source that compiles the instances.
#define LOCKSTEP_JSON_INSTANCES(EXTERN)                                                    \
  EXTERN template class nlohmann::basic_json<>;                                            \
  namespace nlohmann::detail {                                                             \
  EXTERN template class serializer<json>;                                                  \
  EXTERN template class json_sax_dom_parser<json>;                                         \
  EXTERN template class json_sax_dom_callback_parser<json>;                                \
  EXTERN template class lexer<json, iterator_input_adapter<std::string::const_iterator>>;  \
  EXTERN template class parser<json, iterator_input_adapter<std::string::const_iterator>>; \
  EXTERN template class lexer<json, iterator_input_adapter<const char*>>;                  \
  EXTERN template class parser<json, iterator_input_adapter<const char*>>;                 \
  }

LOCKSTEP_JSON_INSTANCES(extern)
