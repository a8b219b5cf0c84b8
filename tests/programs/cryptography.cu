// Programs that encrypt, hash and search for primes, as one binary.
#include "aes.cu"
#include "chacha20.cu"
#include "crc32.cu"
#include "hash_table.cu"
#include "md5_search.cu"
#include "miller_rabin.cu"
#include "sha256.cu"
#include "sieve.cu"
