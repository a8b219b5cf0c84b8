#!/bin/bash
# ./lockstep bundle in an artificial checkout, on a fake machine that has everything, with a fake
# Bazel.
set -u
source bazel/tests/assert.sh
checkout=$TEST_TMPDIR/checkout
tools=$TEST_TMPDIR/tools
mkdir -p "$checkout/bazel/setup" "$tools"
cp -L lockstep "$checkout"
cp -L bazel/repositories.bzl "$checkout/bazel"
cp -L bazel/setup/* "$checkout/bazel/setup"
printf '#!/bin/bash\nprintf "%%s=installed\\n" "${@:3}"\n' > "$tools/dpkg-query"
cat > "$tools/bazel" << 'CODE'
#!/bin/bash
echo "$*" > "$TEST_TMPDIR/asked"
[[ $BAZEL_STATUS == 0 ]] || exit "$BAZEL_STATUS"
mkdir -p bazel-bin made/lockstep-bundle
echo a suite > made/lockstep-bundle/suite
tar -C made -cf bazel-bin/bundle.tar lockstep-bundle
chmod -w bazel-bin/bundle.tar
CODE
chmod +x "$tools"/*
export HOME=$TEST_TMPDIR CUDA_PATH=/named/by/hand PATH=$tools:/usr/bin:/bin \
  TMPDIR=$TEST_TMPDIR/scratch
export GIT_CEILING_DIRECTORIES=$TEST_TMPDIR
mkdir -p "$TMPDIR"
archive=$checkout/lockstep-out/lockstep-bundle.tar.xz

output=$(BAZEL_STATUS=0 "$checkout/lockstep" bundle 2> "$TEST_TMPDIR/errors")
expect "status" "$? $(cat "$TEST_TMPDIR/errors")" "0 "
expect_match "Bazel is asked for every architecture" "$(cat "$TEST_TMPDIR/asked")" \
  '--config=bundle //:bundle$'
expect_match "it says where the archive is" "$output" "^$archive \([0-9]+ MB\)$"
expect_match "and what to do with it" "$output" 'lockstep-bundle/lockstep run$'
expect "what Bazel built and the commit" "$(tar -tf "$archive" | grep -v '/$' | sort | xargs)" \
  "lockstep-bundle/COMMIT lockstep-bundle/suite"
expect "no checkout of Git: no commit" "$(tar -xOf "$archive" lockstep-bundle/COMMIT)" ""
expect "nothing is left behind" "$(ls "$TMPDIR")" ""

rm "$archive"
output=$(BAZEL_STATUS=1 "$checkout/lockstep" bundle 2>&1)
expect "a build that fails" "$? $output" "1 lockstep: the build failed; there is no bundle."
expect "makes no archive" "$([[ -e $archive ]] && echo one || echo none)" none
# A disk without room for the archive: half of it must not look like an archive.
echo "an earlier one" > "$archive"
printf '%s\n' '#!/bin/bash' 'head -c 10 "$3" > "$4"' 'echo "install: no space left on device" >&2' \
  'exit 1' > "$tools/install"
chmod +x "$tools/install"
output=$(BAZEL_STATUS=0 "$checkout/lockstep" bundle 2>&1)
expect "a full disk" $? 1
expect_match "is named" "$output" "no space left on device"
expect_match "with what it means" "$output" "lockstep-bundle.tar.xz cannot be written"
expect "the earlier archive is there still, and nothing else" \
  "$(ls "$checkout/lockstep-out") $(cat "$archive")" "lockstep-bundle.tar.xz an earlier one"
rm "$tools/install"

output=$("$checkout/lockstep" bundle --fast 2>&1)
expect "an option" "$? $output" "2 lockstep: bundle takes no options"
finish
