#!/bin/bash
# The set-up step on fake machines: nothing is installed or fetched.
set -u
source bazel/tests/assert.sh
readonly ROOT=$PWD EXIT_SETUP=3
export HOME=$TEST_TMPDIR/home
say() { echo "lockstep: $*" >&2; }
die() { say "$*"; exit "$EXIT_SETUP"; }
source bazel/setup/packages.sh
source bazel/setup/toolkit.sh

# A machine on which dpkg knows only the packages $INSTALLED, and apt-get and pip print their
# arguments.
tools=$TEST_TMPDIR/tools
mkdir -p "$tools" "$HOME"
cat > "$tools/dpkg-query" << 'CODE'
#!/bin/bash
for word in "${@:3}"; do
  if [[ " $INSTALLED " == *" $word "* ]]; then
    echo "$word=installed"
  elif [[ $word == removed ]]; then
    echo "$word=config-files"
  else
    status=1
  fi
done
exit ${status:-0}
CODE
printf '#!/bin/bash\necho "apt-get $*" >> "$TEST_TMPDIR/asked"\n' > "$tools/apt-get"
chmod +x "$tools"/*
export PATH=$tools:/usr/bin:/bin

expect_match "bazel/repositories.bzl names GoogleTest's packages" "$(library_packages | xargs)" \
  "libgtest-dev libgmock-dev"
expect "and as many as there are in it, each once" "$(library_packages | wc -l)" \
  "$(library_packages | sort -u | wc -l)"
expect "a blank never gets into a package's name" "$(library_packages | grep -c ' ')" 0

export INSTALLED="zip file"
expect "what is missing" "$(set -e; missing_packages zip g++ removed file | xargs)" "g++ removed"
expect "and nothing, when all is there" "$(missing_packages zip file)" ""
rm -f "$TEST_TMPDIR/asked"
(require_packages zip file) 2> /dev/null
expect "nothing missing: nothing asked" \
  "$([[ -e $TEST_TMPDIR/asked ]] && echo asked || echo nothing)" nothing
if ((EUID == 0)); then
  (require_packages zip g++) 2> /dev/null
  expect_match "as root it is installed" "$(cat "$TEST_TMPDIR/asked")" \
    "install --yes --no-install-recommends g\+\+"
else
  output=$( (require_packages zip g++) 2>&1)
  expect "without root it is refused" $? "$EXIT_SETUP"
  expect_match "with the command" "$output" "sudo apt-get install --no-install-recommends g\+\+"
fi

# A complete toolkit, with all files in the list.
whole=$TEST_TMPDIR/whole
while read -r _ _ places; do
  place=${places%%|*}
  mkdir -p "$whole/$(dirname "$place")"
  touch "$whole/${place%'*'}"
  [[ $place != *'*' ]] || chmod +x "$whole/${place%'*'}"
done < <(set -f; toolkit_lines)
is_whole_toolkit "$whole"
expect "a whole toolkit" $? 0
cp -a "$whole" "$TEST_TMPDIR/spare"
chmod -x "$whole/nvvm/bin/cicc"
is_whole_toolkit "$whole"
expect "a program that may not be executed" $? 1
chmod +x "$whole/nvvm/bin/cicc"
mv "$whole/lib64" "$whole/lib"
is_whole_toolkit "$whole"
expect "the library in another of its places" $? 0
rm -r "$whole/lib"
is_whole_toolkit "$whole"
expect "no library" $? 1
is_whole_toolkit "$TEST_TMPDIR/none"
expect "no toolkit" $? 1
expect "six wheels, each at one version" \
  "$(toolkit_lines | awk '{ print $1, $2 }' | sort -u | awk '{ print $1 }' | sort | uniq -c |
  awk '{ print $1 }' | xargs)" "1 1 1 1 1 1"

toolkit_candidates() { printf '%s\n' /no/such/folder "$TEST_TMPDIR/candidate"; }
unset CUDA_PATH CUDA_HOME
toolkit_is_missing
expect "no candidate is whole" $? 0
mv "$TEST_TMPDIR/spare" "$TEST_TMPDIR/candidate"
toolkit_is_missing
expect "one is" $? 1
rm -r "$TEST_TMPDIR/candidate"
CUDA_PATH=/named/by/hand toolkit_is_missing
expect "one named by hand is left to Bazel" $? 1
printf '#!/bin/bash\nexit "$PIP_STATUS"\n' > "$tools/python3"
chmod +x "$tools/python3"
expect "fetching needs pip" "$(PIP_STATUS=1 toolkit_packages)" python3-pip
expect "which may be there" "$(PIP_STATUS=0 toolkit_packages)" ""

# The entry script itself, in a checkout without a build.
checkout=$TEST_TMPDIR/checkout
mkdir -p "$checkout/bazel/setup"
cp -L lockstep WORKSPACE VERSION "$checkout"
cp -L bazel/setup/* "$checkout/bazel/setup"
cd "$checkout" || exit 1
output=$(./lockstep frobnicate 2>&1)
expect "an unknown command" "$? $output" \
  "2 lockstep: there is no command frobnicate; ./lockstep --help lists the commands"
output=$(./lockstep new 2>&1)
expect "a family without a name" "$? $output" \
  "2 lockstep: new needs the name of a family, such as dot_product, and nothing else"
output=$(./lockstep 2>&1)
expect "no command" $? 2
expect_match "--help, which nothing need be built for" "$(./lockstep --help)" \
  "^usage: ./lockstep COMMAND"
expect_match "of a command likewise" "$(./lockstep run --help)" "^usage: ./lockstep COMMAND"
expect "--version" "$(./lockstep --version)" "lockstep $(cat VERSION)"
finish
