#!/bin/bash
# packages/pack.py: equal contents must give equal bytes at any time and place, and the system's own
# tools must read the archives.
set -u
source bazel/tests/assert.sh
pack=$PWD/packages/pack.py
cd "$TEST_TMPDIR" || exit 1

# made FOLDER: creates a folder with contents of new times and modes, and prints their
# listing.
made() {
  mkdir -p "$1"
  echo 0.2.0 > "$1/VERSION"
  printf '#!/bin/sh\necho @VERSION@\n' > "$1/command"
  echo 'version @VERSION@' > "$1/some.pc"
  echo 'about @VERSION@' > "$1/page.md"
  cp -L /bin/true "$1/tool"
  echo 'def main(): pass' > "$1/init"
  printf '%s\t%s\n' share/doc/lockstep/page.md "$1/page.md" bin/lockstep "$1/command" \
    lib/pkgconfig/some.pc "$1/some.pc" \
    libexec/lockstep/tool "$1/tool" share/lockstep/python/lockstep/__init__.py "$1/init" \
    > "$1/listing"
}
(umask 022; made first)
(umask 077; made second; find second -type f -exec touch -d 2001-02-03 {} +;
  sort -r -o second/listing second/listing)
for kind in tar xz deb wheel; do
  (umask 022; "$pack" "$kind" first/VERSION first/listing "first.$kind")
  expect "$kind: packed" $? 0
  (umask 077; TZ=Asia/Tokyo LC_ALL=C "$pack" "$kind" second/VERSION second/listing "second.$kind")
  expect "$kind: the same bytes" "$(sha256sum < "first.$kind")" "$(sha256sum < "second.$kind")"
done
echo more >> first/page.md
"$pack" tar first/VERSION first/listing other.tar
expect "other contents, other bytes" "$(cmp -s first.tar other.tar && echo same || echo other)" \
  other

expect "xz: of the tar" "$(xz -dc first.xz | sha256sum)" "$(sha256sum < first.tar)"
tar -xf first.tar
expect "a program runs" "$(lockstep-0.2.0/bin/lockstep)" "@VERSION@"
expect "the version where it is stated" "$(cat lockstep-0.2.0/lib/pkgconfig/some.pc)" \
  "version 0.2.0"
expect "and nowhere else" "$(cat lockstep-0.2.0/share/doc/lockstep/page.md)" "about @VERSION@"
expect "modes" "$(stat -c %a lockstep-0.2.0/bin lockstep-0.2.0/bin/lockstep \
  lockstep-0.2.0/lib/pkgconfig/some.pc | xargs)" "755 755 644"
expect "of root, and old" "$(tar -tvf first.tar --utc | awk '{ print $2, $4 }' | sort -u)" \
  "root/root 1970-01-01"

expect "dpkg: its fields" "$(dpkg-deb --field first.deb Package Version Architecture | xargs)" \
  "Package: lockstep Version: 0.2.0 Architecture: amd64"
expect "dpkg: its files" \
  "$(dpkg-deb --contents first.deb | awk '{ print $1, $2, $6 }' | grep bin/lockstep)" \
  "-rwxr-xr-x root/root ./usr/bin/lockstep"
dpkg-deb --raw-extract first.deb unpacked
expect "dpkg: sums" "$(cd unpacked && md5sum --quiet -c DEBIAN/md5sums && echo right)" right

expect "wheel: its files" \
  "$(/usr/bin/python3 -m zipfile -l first.wheel | awk 'NR > 1 { print $1 }' | xargs)" \
  "lockstep/prefix/bin/lockstep lockstep/prefix/lib/pkgconfig/some.pc \
lockstep/prefix/libexec/lockstep/tool lockstep/prefix/share/doc/lockstep/page.md \
lockstep/__init__.py lockstep-0.2.0.dist-info/METADATA lockstep-0.2.0.dist-info/WHEEL \
lockstep-0.2.0.dist-info/entry_points.txt lockstep-0.2.0.dist-info/RECORD"
finish
