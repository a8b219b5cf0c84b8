// Counts the words of a text with thrust: sorts hashes, reduces equal ones, and removes
// duplicates.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include <map>

#include "program.h"

namespace thrust_words {

PROGRAM(thrust_words, 1) {
  const int n = 5000;
  std::vector<unsigned> words(n);
  Random random(111);
  for (unsigned& w : words) w = random.below(1 + random.below(1500)) * 2654435761u;
  std::map<unsigned, int> expected;
  for (const unsigned w : words) ++expected[w];

  thrust::device_vector<unsigned> d_words(words), keys(n);
  thrust::device_vector<int> counts(n);
  if (mistake != 1) thrust::sort(d_words.begin(), d_words.end());
  const auto ends =
      thrust::reduce_by_key(d_words.begin(), d_words.end(), thrust::constant_iterator<int>(1),
                            keys.begin(), counts.begin());
  const size_t distinct = ends.first - keys.begin();
  thrust::device_vector<unsigned> d_unique(d_words.size());
  const size_t unique =
      thrust::unique_copy(d_words.begin(), d_words.end(), d_unique.begin()) - d_unique.begin();
  std::vector<unsigned> got(distinct);
  std::vector<int> got_counts(distinct);
  thrust::copy(keys.begin(), ends.first, got.begin());
  thrust::copy(counts.begin(), ends.second, got_counts.begin());
  bool right = distinct == expected.size() && unique == distinct;
  for (size_t i = 0; right && i < distinct; ++i)
    right = (i == 0 || got[i - 1] < got[i]) && expected[got[i]] == got_counts[i];
  return verdict(right, "%zu different words, %zu expected, %zu by unique", distinct,
                 expected.size(), unique);
}

}  // namespace thrust_words
