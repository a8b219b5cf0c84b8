#!/bin/bash
# How the bundle's packing changes files, and the behaviour of its entry script, with a fake
# program.
set -u
source bazel/tests/assert.sh
cd bazel || exit 1
scratch=$(mktemp -d "$TEST_TMPDIR/bundle.XXXXXX")

# A fake conform that prints its arguments.
cat > "$scratch/conform" <<'SCRIPT'
#!/bin/sh
echo "$* | ${RUNFILES_DIR##*/} | $LOCKSTEP_COMMIT |" \
  "${LOCKSTEP_COMMAND##*/} | ${LD_LIBRARY_PATH%%:*}"
SCRIPT
chmod +x "$scratch/conform"
cp "$(type -P true)" "$scratch/true"
printf '%s\t%s\n' lockstep/harness/conform/conform "$scratch/conform" \
  lockstep/tests/true "$scratch/true" \
  cuda/harness/silicon/libcudart.so.13 "$scratch/true" > "$scratch/listing"
pack() { ./bundle_pack.sh "$1" bundle_entry.sh bundle_readme.txt /usr/bin/gcc "$scratch/listing"; }

pack "$scratch/a.tar"
expect "packing succeeds" "$?" 0
touch "$scratch/true"
pack "$scratch/b.tar"
expect "the archive depends on contents alone" "$(sha256sum < "$scratch/b.tar")" \
  "$(sha256sum < "$scratch/a.tar")"

tar -xf "$scratch/a.tar" -C "$scratch"
top=$scratch/lockstep-bundle
expect "one folder" "$(tar -tf "$scratch/a.tar" | cut -d/ -f1 | sort -u)" lockstep-bundle
for file in lockstep README.txt lib/libstdc++.so.6 lib/libgcc_s.so.1 \
  runfiles/lockstep/tests/true; do
  expect "$file is there" "$([[ -s $top/$file ]] && echo yes)" yes
done
expect "programs may be executed" "$("$top/runfiles/lockstep/tests/true" && echo yes)" yes
expect "NVIDIA's library goes as it is" \
  "$(cmp "$scratch/true" "$top/runfiles/cuda/harness/silicon/libcudart.so.13" && echo yes)" yes

# The fake is a script, which packing does not mark as a program.
chmod +x "$top/runfiles/lockstep/harness/conform/conform"
echo 0123abcd > "$top/COMMIT"
run() { (cd "$scratch" && lockstep-bundle/lockstep "$@" 2>&1); }
expect "a bundle runs on the GPU by default" "$(run run --cases=5)" \
  "run --device=gpu --cases=5 | runfiles | 0123abcd | lockstep run | $top/lib"
expect "or on the device of --device" "$(run run --device=simulator)" \
  "run --device=simulator | runfiles | 0123abcd | lockstep run | $top/lib"
expect_match "list" "$(run list)" '^list  *\|'
expect_match "help" "$(run help)" 'Exit status: 0 all green'
run frobnicate > /dev/null
expect "an unknown command is wrong usage" "$?" 2
rm "$top/runfiles/lockstep/harness/conform/conform"
expect_match "half an archive is reported" "$(run run)" 'unpack the whole archive'
run run > /dev/null
expect "with a status of its own" "$?" 3
finish
