#!/bin/bash
# Installs each package in a fresh Debian 12 without compiler, CUDA and Bazel. A program
# copied there, linked with the shared and with the static runtime, has a race that must be
# found. Needs root and a Debian mirror. The system is kept in $LOCKSTEP_DEBIAN if that is
# set.
set -u
source bazel/tests/assert.sh
readonly MOST_SECONDS=20
version=$(cat VERSION)
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
((EUID == 0)) ||
  { echo "this test needs root: it makes a Debian system and changes its root into it"; exit 1; }
command -v debootstrap > /dev/null ||
  { echo "this test needs Debian's debootstrap: apt-get install debootstrap"; exit 1; }

base=${LOCKSTEP_DEBIAN:-$TEST_TMPDIR/debian}
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Suite: stable' \
  'Component: main' 2> /dev/null | grep -m1 '/debian/*$')
if [[ ! -e $base/etc/debian_version ]]; then
  debootstrap --variant=minbase bookworm "$base" \
    "${mirror:-http://deb.debian.org/debian}" > "$TEST_TMPDIR/debootstrap.log" 2>&1 ||
    { tail "$TEST_TMPDIR/debootstrap.log"; echo "no Debian system could be made"; exit 1; }
fi

# inside ROOT COMMAND: runs a shell command in the system at ROOT, with /proc and /dev, as root and
# without this environment.
inside() {
  unshare --mount --pid --fork env -i PATH="$PATH" HOME=/root DEBIAN_FRONTEND=noninteractive \
    /bin/sh -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
      exec chroot "$0" /bin/sh -c "$1"' "$1" "$2"
}

# Creates a system for one package, $root: the minimal Debian and the Debian packages
# $@.
root=
fresh() {
  [[ ! $root ]] || rm -rf --one-file-system "$root"
  root=$TEST_TMPDIR/system
  cp -a --reflink=auto "$base" "$root"
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  cp -L tests/package/planted_race_shared tests/package/planted_race_static "$root/root/"
  (($# == 0)) || inside "$root" \
    "apt-get update -qq && apt-get install -qq --no-install-recommends $*" \
    > "$TEST_TMPDIR/apt.log" 2>&1 || cat "$TEST_TMPDIR/apt.log"
  expect "no compiler, no CUDA, no Bazel" \
    "$(inside "$root" 'command -v gcc cc nvcc bazel; ls -d /usr/local/cuda 2> /dev/null')" ""
}

# finds WHAT INSTALL LOCKSTEP [SECONDS]: installs with the command INSTALL, then runs both programs
# by the command LOCKSTEP.
finds() {
  local what=$1 install=$2 lockstep=$3 most=${4:-$MOST_SECONDS} start now output status runtime
  start=$(date +%s.%N)
  output=$(inside "$root" "$install" 2>&1)
  status=$?
  expect "$what: installed" "$status $output" "0 $output"
  for runtime in shared static; do
    output=$(inside "$root" "cd /root && $lockstep exec -- ./planted_race_$runtime" 2>&1)
    status=$?
    expect "$what, $runtime runtime: the status of findings" "$status" 86
    expect_match "$what, $runtime runtime: the race" "$output" '^race: .* of 4 bytes'
    expect_match "$what, $runtime runtime: in its kernel" "$output" 'in kernel shift\(int\*\)'
    now=$(awk "BEGIN { print $(date +%s.%N) - $start }")
    echo "$what: $now s from the beginning of its installation to the race" \
      "in the program with the $runtime runtime"
    [[ $runtime == shared ]] && sed 's/^/    /' <<< "$output"
  done
  expect "$what: under $most s" "$(awk "BEGIN { print ($now < $most) }")" 1
  expect "$what: its version" "$(inside "$root" "$lockstep --version")" "lockstep $version"
  expect_match "$what: inspect" \
    "$(inside "$root" "$lockstep inspect /root/planted_race_shared" 2>&1)" \
    'which can run its kernel'
  expect "$what: new" \
    "$(inside "$root" "cd /root && $lockstep new dot > /dev/null && ls dot | wc -l")" 6
}

fresh xz-utils
cp -L packages/packages.tar.xz "$root/root/lockstep.tar.xz"
finds tar.xz "mkdir -p /opt && tar -xf /root/lockstep.tar.xz -C /opt" \
  "/opt/lockstep-$version/bin/lockstep"

fresh
cp -L packages/packages.deb "$root/root/lockstep_${version}_amd64.deb"
finds deb "dpkg -i /root/lockstep_${version}_amd64.deb" lockstep
expect_match "deb: the manual page" "$(head -2 "$root/usr/share/man/man1/lockstep.1")" \
  "LOCKSTEP 1 .*lockstep $version"
expect "deb: removed without a rest" \
  "$(inside "$root" 'dpkg --purge lockstep > /dev/null 2>&1
    find / -xdev -iname "*lockstep*" -not -path "/root/*" -not -path "/proc/*"')" ""

# Runs the commands of the container file, except FROM and COPY.
fresh
cp -L packages/packages.deb "$root/tmp/lockstep_${version}_amd64.deb"
run=$(sed -n '/^RUN/,/[^\\]$/p' packages/container/Containerfile | sed 's/^RUN //')
finds container "$run" lockstep 300  # it fetches Python and NumPy
expect_match "container: judge has its NumPy" \
  "$(inside "$root" 'touch /root/t.py; lockstep judge --task=/root/t.py /root/none.cu' 2>&1)" \
  'defines no `task`'
word=$(sed -n 's/^CMD \["\(.*\)"\]$/\1/p' packages/container/Containerfile)
expect_match "container: what it starts" "$(inside "$root" "lockstep $word")" \
  'Usage: lockstep'

fresh python3-venv python3-pip
wheel=lockstep-$version-py3-none-manylinux_2_36_x86_64.whl
cp -L packages/packages.whl "$root/root/$wheel"
finds wheel \
  "python3 -m venv /root/venv &&
   /root/venv/bin/pip install --quiet --no-deps --no-index /root/$wheel" \
  /root/venv/bin/lockstep
expect "wheel: python -m lockstep" \
  "$(inside "$root" '/root/venv/bin/python -m lockstep --version')" "lockstep $version"
rm -rf --one-file-system "$root"
finish
