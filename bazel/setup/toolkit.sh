# shellcheck shell=bash
# Sourced by ../../lockstep: fetches the CUDA toolkit as NVIDIA's PyPI wheels if the machine has
# none. ../toolkit.bzl searches the same places and requires the same files.

readonly TOOLKIT_LIST=$ROOT/bazel/setup/toolkit.txt
readonly FETCHED_TOOLKIT=$HOME/.cache/lockstep/cuda-13.0

# Prints the lines of toolkit.txt without comments: wheel, version, file.
toolkit_lines() {
  sed -e 's/#.*//' -e '/^ *$/d' "$TOOLKIT_LIST"
}

# Whether the folder $1 is a complete toolkit.
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

# Prints the folders that may hold a toolkit, one per line.
toolkit_candidates() {
  command -v nvcc > /dev/null && dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")"
  echo /usr/local/cuda
  echo "$FETCHED_TOOLKIT"
}

# Fetches the wheels, and moves the toolkit to its place once it is complete.
fetch_toolkit() {
  local wheels scratch prefix
  mapfile -t wheels < <(toolkit_lines | awk '{ print $1 "==" $2 }' | sort -u)
  say "No CUDA toolkit found: fetching NVIDIA's wheels (about 105 MB) into $FETCHED_TOOLKIT"
  printf '    %s\n' "${wheels[@]}" >&2
  mkdir -p "$(dirname "$FETCHED_TOOLKIT")"
  scratch=$(mktemp -d "$(dirname "$FETCHED_TOOLKIT")/fetch.XXXXXX")
  # The wheels require each other without versions, and pip would mix releases: so each is pinned,
  # and fetched without dependencies.
  if ! python3 -m pip install \
    --quiet --no-input --disable-pip-version-check --no-cache-dir --only-binary=:all: --no-deps \
    --target "$scratch" "${wheels[@]}" < /dev/null >&2; then
    rm -rf "$scratch"
    die "pip could not fetch the wheels (see above). Install CUDA 13.0 by other means" \
      "and set CUDA_PATH to its folder."
  fi
  prefix=$scratch/nvidia/cu13
  chmod +x "$prefix"/bin/* "$prefix"/nvvm/bin/*
  [[ -e $prefix/lib64 ]] || ln -s lib "$prefix/lib64"  # where nvcc searches for libraries
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

# Whether there is no toolkit. A toolkit named by the user is not checked here: if it is incomplete,
# Bazel names what is missing.
toolkit_is_missing() {
  local candidate
  [[ -z ${CUDA_PATH:-}${CUDA_HOME:-} ]] || return 1
  while read -r candidate; do
    is_whole_toolkit "$candidate" && return 1
  done < <(toolkit_candidates)
  return 0
}

# Prints the packages needed to fetch a toolkit, if that is necessary.
toolkit_packages() {
  if toolkit_is_missing && ! python3 -m pip --version > /dev/null 2>&1; then echo python3-pip; fi
}

require_toolkit() {
  if toolkit_is_missing; then fetch_toolkit; fi
}
