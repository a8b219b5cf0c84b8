#!/bin/bash
# Unpacks the package in a folder and builds examples/{sums,cmake_family} with it, by CMake, nvcc
# and g++ only. Each project must fail with its planted bug and pass without it. $1: the toolkit's
# stamp, whose first line is its folder.
set -u
source bazel/tests/assert.sh
toolkit=$(head -1 "$1")
# One host thread for each simulated GPU: two take a fifth more processor time.
export CUDACXX=$toolkit/bin/nvcc CUDA_PATH=$toolkit HOME=$TEST_TMPDIR TMPDIR=$TEST_TMPDIR \
  LOCKSTEP_HOST_THREADS=1 PATH=/usr/bin:/bin
# As QUICK_NVCC_COPTS of bazel/copts.bzl: nvcc parses less of <cmath>, three times a file.
export NVCC_APPEND_FLAGS=-D_GLIBCXX_BITS_SPECFUN_H
unset TEST_TARGET TEST_TOTAL_SHARDS TEST_SHARD_INDEX TEST_SHARD_STATUS_FILE TESTBRIDGE_TEST_ONLY \
  XML_OUTPUT_FILE TEST_PREMATURE_EXIT_FILE
unset TEST_SRCDIR RUNFILES_DIR TEST_UNDECLARED_OUTPUTS_DIR TEST_WARNINGS_OUTPUT_FILE \
  TEST_INFRASTRUCTURE_FAILURE_FILE LOCKSTEP_DEVICE LOCKSTEP_SCHEDULE
cp -rL examples "$TEST_TMPDIR/examples"
version=$(cat VERSION)

expect "MODULE.bazel's version is VERSION's" \
  "$(sed -nE 's/^    version = "([^"]+)",.*/\1/p' MODULE.bazel)" "$version"
expect "CHANGELOG.md begins with it" "$(grep -m1 '^## ' CHANGELOG.md)" "## $version"

tar -xf packages/packages.tar -C "$TEST_TMPDIR"
prefix=$TEST_TMPDIR/lockstep-$version
expect "its version" "$("$prefix/bin/lockstep" --version)" "lockstep $version"
expect "its folder" "$("$prefix/bin/lockstep" --prefix)" "$prefix"
for example in cmake_family sums/{CMakeLists.txt,sums.cu,sums.h,sums_test.cc}; do
  expect "its example $example" "$(diff -r "$TEST_TMPDIR/examples/$example" \
    "$prefix/share/doc/lockstep/examples/$example" && echo same)" same
done
expect_match "its header" "$(cat "$prefix/include/lockstep/version.h")" \
  "LOCKSTEP_VERSION \"$version\""

# Libraries of every Debian 12 installation, and those in the package itself.
readonly THERE="ld-linux-x86-64.so.2 libc.so.6 libcuda.so.1 libcudart.so.13 libgcc_s.so.1 \
libcublasLt.so.13 libm.so.6 libstdc++.so.6"
elf_files=0
while read -r file; do
  needed=$(readelf -d "$file" 2> /dev/null | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
  [[ $needed ]] || continue
  elf_files=$((elf_files + 1))
  for library in $needed; do
    expect "${file#"$prefix/"} needs $library" \
      "$([[ " $THERE " == *" $library "* ]] && echo there)" there
  done
done < <(find "$prefix/bin" "$prefix/libexec" "$prefix/lib/lockstep" -type f)
expect "its programs and libraries were looked at" "$((elf_files >= 6))" 1

expect "pkg-config finds it" \
  "$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion lockstep lockstep-harness |
  xargs)" "$version $version"
cat > "$TEST_TMPDIR/count.cc" << 'CODE'
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  std::puts(properties.name);
}
CODE
# shellcheck disable=SC2046
g++ "$TEST_TMPDIR/count.cc" -isystem "$toolkit/include" \
  $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs lockstep) \
  -o "$TEST_TMPDIR/count"
expect "a program linked with its flags" "$("$TEST_TMPDIR/count")" "Lockstep simulated GPU (sm_90)"

# Options of the C++ compiler: unoptimised, because optimisation takes longer than it saves here;
# otherwise as in ../../.bazelrc.
cat > "$TEST_TMPDIR/compile" << 'CODE'
#!/bin/bash
exec "${@/#-O2/-O0}" --param=ggc-min-heapsize=1000000
CODE
chmod +x "$TEST_TMPDIR/compile"

# build PROJECT OPTION...: configures and builds the project with these options; its output is in
# $log.
log=$TEST_TMPDIR/log
build() {
  local project=$1
  shift
  {
    cmake -S "$TEST_TMPDIR/examples/$project" -B "$TEST_TMPDIR/$project" \
      -DCMAKE_PREFIX_PATH="$prefix" \
      -DCMAKE_CXX_COMPILER_LAUNCHER="$TEST_TMPDIR/compile" "$@" &&
      cmake --build "$TEST_TMPDIR/$project" --parallel 2
  } > "$log" 2>&1 || cat "$log"
}

# same_compilers FROM PROJECT: copies CMake's results about the compilers from FROM to PROJECT,
# which saves seconds.
same_compilers() {
  local from=$TEST_TMPDIR/$1 to=$TEST_TMPDIR/$2
  mkdir -p "$to/CMakeFiles"
  cp -r "$from"/CMakeFiles/[0-9]* "$to/CMakeFiles"
  grep -E '^CMAKE_(HOME_DIRECTORY|CACHE.*|GENERATOR|PLATFORM_INFO_INITIALIZED|C.*_COMPILER):' \
    "$from/CMakeCache.txt" |
    sed "s#=$from\$#=$to#; s#/examples/$1\$#/examples/$2#" > "$to/CMakeCache.txt"
}

# tests PROJECT OPTION...: runs the project's tests with these options of ctest; prints the number
# of passed tests, and writes the output to $log.
tests() {
  (cd "$TEST_TMPDIR/$1" && ctest --output-on-failure "${@:2}") > "$log" 2>&1
  grep -E '^[0-9]+% tests passed' "$log"
}

build sums -DPLANTED_BUG=ON
expect "sums with its planted bug" "$(tests sums)" \
  "20% tests passed, 4 tests failed out of 5"
expect_match "the race is reported, with its line" "$(cat "$log")" 'sums\.cu:18 \(ld\.shared'
grep -A12 -m1 'race' "$log"
expect_match "and is in the report" "$(cat "$TEST_TMPDIR/sums/sums.sarif")" \
  '"ruleId": ?"race"'
build sums -DPLANTED_BUG=OFF
expect "sums repaired" "$(tests sums)" "100% tests passed, 0 tests failed out of 5"
cat "$log"

# A program linked with simulated libraries: their calls count as kernels.
mkdir "$TEST_TMPDIR/examples/spectrum"
cp tests/package/spectrum.cc "$TEST_TMPDIR/examples/spectrum"
cat > "$TEST_TMPDIR/examples/spectrum/CMakeLists.txt" << CODE
cmake_minimum_required(VERSION 3.20)
project(spectrum LANGUAGES CXX)
find_package(Lockstep REQUIRED)
enable_testing()
add_executable(spectrum spectrum.cc)
target_include_directories(spectrum SYSTEM PRIVATE "$toolkit/include")
target_link_libraries(
  spectrum PRIVATE Lockstep::cufft Lockstep::cublas Lockstep::cublasLt Lockstep::curand)
lockstep_add_test(NAME spectrum TARGET spectrum)
CODE
same_compilers sums spectrum
build spectrum
expect "a program with simulated libraries" "$(tests spectrum)" \
  "100% tests passed, 0 tests failed out of 1"
cat "$log"

(cd "$TEST_TMPDIR/examples/cmake_family" &&
  "$prefix/bin/lockstep" new --namespace=solids cube) > "$log"
expect "lockstep new, in cmake_family" $? 0
cp -r "$TEST_TMPDIR"/examples/cmake_family/{filled_in/.,cube/}
same_compilers sums cmake_family
build cmake_family -DPLANTED_BUG=ON
expect "cmake_family with its planted bug" "$(tests cmake_family -L lockstep)" \
  "0% tests passed, 2 tests failed out of 2"
expect_match "the elements that nobody wrote are reported" "$(cat "$log")" \
  'still holding the poison \(never written\)'
grep -m1 -B1 -A1 'still holding the poison' "$log"
# A replay line, pasted into another shell in another folder, shows the same failure.
replay=$(grep -m1 '^ *replay: ' "$log" | sed 's/^ *replay: *//')
expect_match "a replay line names the test's program" "$replay" 'cube_test.* .--case='
expect "the replay line's exit status" \
  "$(cd / && env -i PATH=/usr/bin:/bin bash -c "$replay" > "$log" 2>&1; echo $?)" 1
expect_match "and what it shows" "$(cat "$log")" 'still holding the poison \(never written\)'
expect_match "of one case" "$(cat "$log")" '1 planned: 0 pass, 1 fail'
build cmake_family -DPLANTED_BUG=OFF
expect "cmake_family repaired, and each of its properties" "$(tests cmake_family)" \
  "100% tests passed, 0 tests failed out of 18"
cat "$log"
cmake --build "$TEST_TMPDIR/cmake_family" --target conformance > "$log" 2>&1
expect "its conformance" "$? $(tail -2 "$log" | head -1)" "0 Every ledger closes and all is green."
expect_match "its passport states the version" \
  "$(cat "$TEST_TMPDIR/cmake_family/conformance/passport.json")" "\"version\": \"$version\""
expect_match "and the suite" "$(cat "$TEST_TMPDIR/cmake_family/conformance/passport.json")" \
  '"family": "cube"'
"$prefix/bin/lockstep" diff "$TEST_TMPDIR"/cmake_family/conformance{,} > "$log" 2>&1
expect "diff of it with itself" $? 0
# `lockstep run` finds the target, names it, and builds what has changed.
run_in() {  # FOLDER WORD...: its output, and its exit status on a line of its own
  (cd "$1" && "$prefix/bin/lockstep" "${@:2}" 2>&1; echo $?)
}
project=$TEST_TMPDIR/cmake_family
rm "$project/cube/cube_test"
run_in "$project" run --quick --out="$TEST_TMPDIR/found" > "$log"
expect_match "lockstep run names the conformance target" "$(head -1 "$log")" \
  "^lockstep: conformance target conformance of $project\$"
expect "builds it and runs it" "$(tail -2 "$log" | head -1) $(tail -1 "$log")" \
  "Every ledger closes and all is green. 0"
cp "$project"/lockstep-suites/{conformance,nightly}.tsv
expect "of several targets it runs none" "$(run_in "$project" run)" \
  "lockstep: several conformance targets are in $project:
  conformance
  nightly
Name one: --target=conformance, or in lockstep.toml below [run]: target = \"conformance\"
2"
printf '%s\n' '[run]' 'target = "conformance"' > "$project/lockstep.toml"
expect_match "but the one that lockstep.toml names" \
  "$(run_in "$project" list --names | xargs)" \
  "conformance target conformance of .* cube cube_test 0\$"
rm "$project/lockstep.toml"
mkdir "$TEST_TMPDIR/empty"
expect "lockstep run without a project" "$(run_in "$TEST_TMPDIR/empty" run)" \
  "lockstep: no conformance target in $TEST_TMPDIR/empty: it is no workspace of Bazel's, has no\
 CMakeLists.txt, and no build folder of CMake's. Type the command in the folder of your project.\
 --manifest=FILE names a list of suites in place of a target
2"

# Every command named in the installed pages must be a command of the installed program.
commands=$("$prefix/bin/lockstep" --help | sed -nE 's/^    ([a-z-]+) .*/\1/p')
named=$(cd "$prefix/share/doc/lockstep" &&
  grep -ohE '(`|^|\$ |&& )lockstep [a-z]+' README.md guide/*.md | sed 's/.* //' | sort -u)
expect "pages name commands" "$(($(wc -l <<< "$named") >= 8))" 1
for command in $named; do
  expect "lockstep $command exists" "$(grep -cx "$command" <<< "$commands")" 1
done

# A family in a user's project.
mkdir "$TEST_TMPDIR/project"
cd "$TEST_TMPDIR/project" || exit 1
expect "lockstep new" "$("$prefix/bin/lockstep" new dot_product > "$log"; echo $?)" 0
expect "its files" "$(find dot_product -type f | wc -l)" 12
expect "without a placeholder left" "$(grep -rciE 'family_?name' dot_product | grep -cv ':0$')" 0
expect "again: refused" "$("$prefix/bin/lockstep" new dot_product 2>&1; echo $?)" \
  "lockstep: dot_product exists already; nothing was written
2"
expect "a namespace that cannot be" \
  "$("$prefix/bin/lockstep" new --namespace=std::x dot 2>&1; echo $?; ls)" \
  "lockstep: 'std::x' is taken: it is of the C++ library or of Lockstep
2
dot_product"
# As in a wheel, in which Python starts the command.
{
  sleep 0.2
  PYTHONPATH=$prefix/share/lockstep/python PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 -m lockstep new piped 2> "$TEST_TMPDIR/errors"
} | true
expect "a reader that has gone" "$(cat "$TEST_TMPDIR/errors"; find piped -type f | wc -l)" 12
expect "another name that cannot be" \
  "$("$prefix/bin/lockstep" new ../dot > /dev/null 2>&1; echo $?)" 2
expect "CMake refuses a test of no target" \
  "$(printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(p LANGUAGES CXX)' \
      "find_package(Lockstep $version REQUIRED)" 'lockstep_add_test(NAME t TARGET none)' \
      > CMakeLists.txt
    cmake -S . -B b -DCMAKE_PREFIX_PATH="$prefix" 2>&1 | grep -c "there is no target 'none'")" 1
# refused CALL...: prints CMake's error for a project with these calls.
refused() {
  {
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(p LANGUAGES CXX)' \
      "find_package(Lockstep $version REQUIRED)" 'enable_testing()' 'add_custom_target(t)' "$@"
  } > CMakeLists.txt
  cmake -S . -B b -DCMAKE_PREFIX_PATH="$prefix" 2>&1 | tr -s ' \n' ' '
}
expect_match "CMake refuses a check that there is none of, and names the others" \
  "$(refused 'lockstep_add_test(NAME n TARGET t CHECKS racs bounds)')" \
  "lockstep_add_test\(NAME n\): lockstep: --check: there is no check 'racs'; did you mean races\? \
The checks are all, none, bounds, initialisation, races"
expect_match "also to take away" "$(refused 'lockstep_add_test(NAME n TARGET t CHECKS -racs)')" \
  "there is no check 'racs'"
expect_match "and of an emulated program" "$(refused 'lockstep_emulate(t CHECKS racs)')" \
  "lockstep_emulate\(t\): lockstep: --check: there is no check 'racs'"
expect_match "a device" "$(refused 'lockstep_add_test(NAME n TARGET t DEVICE sm90)')" \
  "there is no device 'sm90'; did you mean sm_90\?"
expect_match "an option" "$(refused 'lockstep_add_test(NAME n TARGET t OPTIONS --no-such)')" \
  "exec has no option --no-such"
expect_match "a keyword" "$(refused 'lockstep_add_test(NAME n TARGET t CHECK races)')" \
  "does not know: CHECK;races"
expect_match "a keyword of an emulated program" "$(refused 'lockstep_emulate(t CHECK races)')" \
  "does not know: CHECK;races"
expect_match "a keyword without a value" \
  "$(refused 'lockstep_add_test(NAME n TARGET t CHECKS DEVICE sm_90)')" \
  "no value is given for CHECKS"
expect_match "a time limit" "$(refused 'lockstep_add_test(NAME n TARGET t TIMEOUT soon)')" \
  "TIMEOUT soon is no number of seconds"
expect_match "a choice of GPU tests" \
  "$(refused 'set(LOCKSTEP_GPU_TESTS MAYBE)' 'lockstep_add_test(NAME n TARGET t)')" \
  "LOCKSTEP_GPU_TESTS is 'MAYBE'; it may be AUTO, ON or OFF"
expect_match "a suite of no target" "$(refused 'lockstep_add_suite(NAME n TARGET none)')" \
  "there is no target 'none'"
expect_match "a conformance of more than one name" "$(refused 'lockstep_conformance(c d)')" \
  "needs the name of the target alone"
expect_match "but not what only the build knows" \
  "$(refused 'lockstep_add_test(NAME n TARGET t CHECKS races DEVICE sm_80' \
    'REPORT $<CONFIG>.json OPTIONS --report $<CONFIG>.txt)' 'message(STATUS "taken")')" "taken"
expect "CMake refuses another version" \
  "$(printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(p LANGUAGES NONE)' \
      'find_package(Lockstep 99 REQUIRED)' > CMakeLists.txt
    cmake -S . -B c -DCMAKE_PREFIX_PATH="$prefix" 2>&1 | grep -c 'requested version "99"')" 1
times > "$log"
echo "processor time of all that it ran: $(tail -1 "$log")"
finish
