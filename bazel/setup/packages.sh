# shellcheck shell=bash
# Sourced by ../../lockstep: installs the Debian packages that Lockstep's build needs.

# Bazel itself (with a compiler and a JDK), the compiler of tests (bazel/clang.bzl), the tool that
# Bazel needs to pack a test's outputs, the remote engine of //tests:remote_test, the coverage
# reader in //tests:exec_test, and the build tools for the projects of //tests/package. libdw1
# provides host lines in findings. The last three are for the Python package and //tests/python.
readonly BUILD_PACKAGES=(bazel-bootstrap g++ clang-19 zip file xz-utils python3-grpcio lcov cmake
                         pkg-config libdw1 python3-numpy python3-pytest python3-hypothesis)

# The libraries: bazel/repositories.bzl names the packages of each.
library_packages() {
  sed -nE 's/^ *debian = "([^"]+)".*/\1/p' "$ROOT/bazel/repositories.bzl" | tr ' ' '\n'
}

# Prints those of the packages $@ that are not installed, one per line.
missing_packages() {
  local package installed
  installed=$(dpkg-query --show --showformat='${Package}=${db:Status-Status}\n' \
    "$@" 2> /dev/null) || true  # for the packages that it knows
  for package; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package=installed"$'\n'* ]] || echo "$package"
  done
}

# Runs apt-get without questions. Copies messages about installed packages and errors to stderr.
apt() {
  DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Use-Pty=0 "$@" < /dev/null |
    sed --unbuffered -E -e '/^(Selecting previously|Preparing to unpack|Unpacking)/d' \
      -e '/^(\(Reading database|Processing triggers)/d' >&2
}

# Installs the packages $@, or prints the command to type and exits.
install_packages() {
  local command="apt-get install --no-install-recommends $*"
  if ((EUID != 0)); then
    say "These packages are missing, and installing them needs root. Run"
    say "    sudo $command"
    say "and then this command again."
    exit "$EXIT_SETUP"
  fi
  say "Installing with $command"
  # The package lists may be absent (a fresh machine) or name versions that the mirror no longer
  # has. If one of several sources does not respond, continue.
  if ! apt-get --simulate install --no-install-recommends "$@" > /dev/null 2>&1; then
    apt update || say "apt-get update had errors (see above); trying all the same."
  fi
  apt install --yes --no-install-recommends "$@" && return
  say "Once more, with fresh package lists."
  apt update || true
  apt install --yes --no-install-recommends "$@" || die "$command failed (see above)."
}

# Installs those of the packages $@ that are missing. On a system without dpkg, Bazel's repository
# rules name missing files instead.
require_packages() {
  command -v dpkg-query > /dev/null || return 0
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
}
