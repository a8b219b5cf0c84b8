# shellcheck shell=bash
# Sourced by ../../lockstep: the CUDA toolkit, fetched as NVIDIA's PyPI wheels where the machine has
# none. Where a toolkit is looked for, and what makes it whole, is the same as in ../toolkit.bzl.

readonly TOOLKIT_LIST=$ROOT/bazel/setup/toolkit.txt
readonly FETCHED_TOOLKIT=$HOME/.cache/lockstep/cuda-13.0

# The lines of toolkit.txt without comments: wheel, version, file.
toolkit_lines() {
  sed -e 's/#.*//' -e '/^ *$/d' "$TOOLKIT_LIST"
}

# Whether the folder $1 is a whole toolkit.
is_whole_toolkit() {
  local prefix=$1 places place found
  while read -r _ _ places; do
    found=
    for place in ${places//|/ }; do
      if [[ $place == *'*' ]]; then
        [[ -x $prefix/${place%'*'} ]] && found=1
      else
        [[ -e $prefix/$place ]] && found=1
      fi
    done
    [[ $found ]] || return 1
  done < <(set -f; toolkit_lines)
}

# The folders that may hold a toolkit, one a line.
toolkit_candidates() {
  command -v nvcc > /dev/null && dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")"
  echo /usr/local/cuda
  echo "$FETCHED_TOOLKIT"
}

# Fetches the wheels and puts the toolkit, once it is whole, in its place.
fetch_toolkit() {
  local wheels scratch prefix
  mapfile -t wheels < <(toolkit_lines | awk '{ print $1 "==" $2 }' | sort -u)
  say "No CUDA toolkit found: fetching NVIDIA's wheels (about 105 MB) into $FETCHED_TOOLKIT"
  printf '    %s\n' "${wheels[@]}" >&2
  mkdir -p "$(dirname "$FETCHED_TOOLKIT")"
  scratch=$(mktemp -d "$(dirname "$FETCHED_TOOLKIT")/fetch.XXXXXX")
  # The wheels ask for each other without versions, and pip would mix releases: each is pinned, and
  # none brings another.
  if ! python3 -m pip install \
    --quiet --no-input --disable-pip-version-check --no-cache-dir --only-binary=:all: --no-deps \
    --target "$scratch" "${wheels[@]}" < /dev/null >&2; then
    rm -rf "$scratch"
    die "pip could not fetch the wheels (see above). Install CUDA 13.0 by other means" \
      "and set CUDA_PATH to its folder."
  fi
  prefix=$scratch/nvidia/cu13
  chmod +x "$prefix"/bin/* "$prefix"/nvvm/bin/*
  [[ -e $prefix/lib64 ]] || ln -s lib "$prefix/lib64" # where nvcc looks for libraries
  [[ -e $prefix/lib/libcudart.so ]] ||
    ln -s libcudart.so.13 "$prefix/lib/libcudart.so" # which nvcc -cudart shared links
  if ! is_whole_toolkit "$prefix"; then
    rm -rf "$scratch"
    die "the wheels do not make a whole toolkit;" \
      "see bazel/setup/toolkit.txt for what is used of it."
  fi
  rm -rf "$FETCHED_TOOLKIT"
  mv --no-target-directory "$prefix" "$FETCHED_TOOLKIT"
  rm -rf "$scratch"
}

# Whether no toolkit is there. One named by hand is not looked at: if it is not whole, Bazel says
# what it misses.
toolkit_is_missing() {
  local candidate
  [[ -z ${CUDA_PATH:-}${CUDA_HOME:-} ]] || return 1
  while read -r candidate; do
    is_whole_toolkit "$candidate" && return 1
  done < <(toolkit_candidates)
  return 0
}

# The packages needed to fetch one, if it has to be.
toolkit_packages() {
  if toolkit_is_missing && ! python3 -m pip --version > /dev/null 2>&1; then echo python3-pip; fi
}

require_toolkit() {
  if toolkit_is_missing; then fetch_toolkit; fi
}
