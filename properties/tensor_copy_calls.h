// The calls of the tensor copies' launchers for a case, with their contracts.
#pragma once

#include <functional>

#include "harness/property/contract.h"
#include "properties/tensor_copy.h"
#include "properties/tensor_copy_case.h"

namespace lockstep::properties {

struct CopyContents {
  std::function<ByteList()> tensor, images;  // the launcher's inputs
  CopyPlaces at;
};

Call<TensorCopy> load_call(const TensorCopyCase& c, const CopyContents& contents);
Call<TensorCopy> multicast_call(const TensorCopyCase& c, const CopyContents& contents);
Call<TensorCopy> store_call(const TensorCopyCase& c, const CopyContents& contents);
Call<TensorCopy> reduce_call(const TensorCopyCase& c, const CopyContents& contents);

// `count` images; small: integers with exact sums.
ByteList images_of(const TensorCopyCase& c, std::int64_t count, bool small);
// With the case's own places.
CopyContents load_contents(const TensorCopyCase& c);
CopyContents store_contents(const TensorCopyCase& c, bool small = false);

// The calls of all launchers that accept the case. Only loads may go beyond the tensor by columns,
// and not every tile can be reduced.
Calls<TensorCopy> calls_of(const SmallTensorCopyCase& drawn);
// The calls of the launchers that support im2col, for larger cases.
Calls<TensorCopy> column_calls_of(const TensorStoreCase& drawn);

}  // namespace lockstep::properties
