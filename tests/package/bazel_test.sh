#!/bin/bash
# Builds examples/sums with the system's Bazel, in a workspace without .bazelrc: it must pass, fail
# with its planted bug, and pass with a family made by `lockstep new`. Arguments: $1, this
# checkout's WORKSPACE. $2, `installed` for the package unpacked in a folder, or `built` for this
# checkout as the repository @lockstep. $3, the toolkit's stamp, whose first line is its folder.
set -u
source bazel/tests/assert.sh
checkout=$(dirname "$(readlink -f "$1")")
CUDA_PATH=$(head -1 "$3")
export CUDA_PATH HOME=$TEST_TMPDIR PATH=/usr/local/bin:/usr/bin:/bin
log=$TEST_TMPDIR/log
tar -xf packages/packages.tar -C "$TEST_TMPDIR"
prefix=$TEST_TMPDIR/lockstep-$(cat VERSION)
workspace=$TEST_TMPDIR/workspace
cp -r "$checkout/examples/sums" "$workspace"
cd "$workspace" || exit 1

if [[ $2 == installed ]]; then
  sed -i "s#/usr/share/lockstep/bazel#$prefix/share/lockstep/bazel#" WORKSPACE
else
  cat > WORKSPACE << CODE
workspace(name = "somebodys_kernels")

local_repository(
    name = "lockstep",
    path = "$checkout",
)

load("@lockstep//bazel:repositories.bzl", "lockstep_repositories")

lockstep_repositories()
CODE
fi

in_bazel() {
  bazel --output_base="$TEST_TMPDIR/output" --nohome_rc --max_idle_secs=60 \
    --host_jvm_args=-Xmx800m --host_jvm_args=-XX:TieredStopAtLevel=1 "$1" \
    --nosandbox_debug --noshow_progress --jobs=2 ${DISK_CACHE:+"--disk_cache=$DISK_CACHE"} \
    "${@:2}" < /dev/null > "$log" 2>&1
}
clean_up() {
  bazel --output_base="$TEST_TMPDIR/output" --nohome_rc shutdown > /dev/null 2>&1
  chmod -R u+w "$TEST_TMPDIR/output"
  rm -rf "$TEST_TMPDIR/output"
}
trap clean_up EXIT

# A program linked with simulated libraries.
mkdir spectrum
cp "$checkout/tests/package/spectrum.cc" spectrum/
cat > spectrum/BUILD << 'CODE'
cc_test(
    name = "spectrum_test",
    srcs = ["spectrum.cc"],
    deps = [
        "@lockstep//simulator:cublas",
        "@lockstep//simulator:cufft",
        "@lockstep//simulator:curand",
    ],
)
CODE

in_bazel test //...
expect "the example is green" "$?" 0
cat "$log"
expect_match "its test ran" "$(cat "$log")" '^//:sums_test +PASSED'
expect_match "and one with simulated libraries" "$(cat "$log")" \
  '^//spectrum:spectrum_test +PASSED'
expect "the test for silicon is left out where there is none" "$(grep -c sums_gpu_test "$log")" 0
if [[ $2 == installed ]]; then
  in_bazel aquery 'mnemonic("CppCompile|CudaCompile", deps(//:sums_test))'
  expect "nothing of Lockstep is compiled" \
    "$(sed -nE 's/^  Target: //p' "$log" | grep -v '^@bazel_tools' | sort -u | xargs)" \
    "//:sums //:sums_test_objects"
fi

in_bazel test --define planted_bug=yes --test_output=errors //:sums_test
expect "with its planted bug it is red" "$?" 3
expect_match "and says why" "$(cat "$log")" 'Sums.OfSmallArrays: fail: finding:'
grep '^\[ LEDGER \]' "$log"

in_bazel run //:conformance -- --out="$TEST_TMPDIR/conformance"
expect "its conformance is green" "$?" 0
tail -8 "$log"
expect_match "with a passport" "$(cat "$TEST_TMPDIR/conformance/passport.json")" '"family": "sums"'
expect_match "and a report" "$(head -c 200 "$TEST_TMPDIR/conformance/report.html")" \
  '<!doctype html>|<!DOCTYPE html>'

"$prefix/bin/lockstep" new cube --namespace solids > "$log"
expect "lockstep new" $? 0
if [[ $2 == built ]]; then
  in_bazel test //cube:cube_test //cube:cube_known_bad_test
  expect "a family that is not filled in is red" "$?" 3
fi
cp -r "$checkout/examples/cmake_family/filled_in/." cube/
sed -i 's#":sums_test"#"//cube:cube_test", ":sums_test"#' BUILD.bazel
in_bazel test //...
expect "filled in it is green" "$?" 0
cat "$log"
expect "its tests ran" "$(grep -cE '^//cube:cube(_known_bad)?_test +PASSED' "$log")" 2
# `lockstep run` queries Bazel for the target, names it and starts it. (With the PATH of the other
# calls: all would be compiled again under another.)
mkdir "$TEST_TMPDIR/bin"
cat > "$TEST_TMPDIR/bin/bazel" << CODE
#!/bin/bash
command=\$1
shift
[[ \$command == query ]] || set -- --nosandbox_debug --noshow_progress --jobs=2 \
  ${DISK_CACHE:+"--disk_cache=$DISK_CACHE"} "\$@"
PATH=$PATH exec $(command -v bazel) --output_base=$TEST_TMPDIR/output --nohome_rc \
  --max_idle_secs=60 --host_jvm_args=-Xmx800m --host_jvm_args=-XX:TieredStopAtLevel=1 \
  "\$command" "\$@"
CODE
chmod +x "$TEST_TMPDIR/bin/bazel"
(cd cube && PATH=$TEST_TMPDIR/bin:$PATH "$prefix/bin/lockstep" run --suite=cube \
  --out="$TEST_TMPDIR/conformance") > "$log" 2>&1
expect "lockstep run, its conformance" "$?" 0
expect "names the target" "$(grep '^lockstep: ' "$log")" \
  "lockstep: conformance target //:conformance of $workspace"
tail -8 "$log"
PATH=$TEST_TMPDIR/bin:$PATH "$prefix/bin/lockstep" list --names --target=//:conformance > "$log" \
  2> "$TEST_TMPDIR/errors"
expect_match "lockstep list" "$? $(xargs < "$log")" "^0 cube .*cube_test sums .*sums_test\$"
in_bazel build //:conformance_bundle
expect "its bundle is packed" "$?" 0
mkdir "$TEST_TMPDIR/elsewhere"
tar -xf bazel-bin/conformance_bundle.tar -C "$TEST_TMPDIR/elsewhere"
(cd "$TEST_TMPDIR/elsewhere" &&
  env -i PATH=/usr/bin:/bin lockstep-bundle/lockstep run --device=simulator) > "$log" 2>&1
expect "and runs without Bazel" "$? $(tail -1 "$log")" "0 Every ledger closes and all is green."
tail -10 "$log"
finish
