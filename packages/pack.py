#!/usr/bin/python3
"""pack.py KIND VERSION LISTING ARCHIVE: packs the files of LISTING (lines of "place<TAB>file") into
a tar, xz (of a tar), deb or wheel.

An archive depends on places and contents alone. All files have the same time and belong to root,
the mode follows from place and contents, and names are sorted. ELF files are stripped of sections
that only a linker or a debugger reads.
"""
import base64
import hashlib
import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile

# The glibc of Debian 12, against which everything is linked.
GLIBC = "2.36"
SUMMARY = "CUDA kernels without a GPU: a simulated one with checks, and a conformance harness"
# The command, and pytest's plugin.
ENTRY_POINTS = (b"[console_scripts]\nlockstep = lockstep:main\n\n"
                b"[pytest11]\nlockstep = lockstep.pytest_plugin\n")
# Folders of executable files; elsewhere only scripts are executable.
PROGRAMS = ("bin/", "libexec/")


def contents(path):
    """A file's bytes, stripped if it is an ELF file."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"\x7fELF":
        return data
    with tempfile.TemporaryDirectory() as scratch:
        copy = os.path.join(scratch, "elf")
        with open(copy, "wb") as file:
            file.write(data)
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        with open(copy, "rb") as file:
            return file.read()


def read_tree(listing):
    """[(place, bytes, whether it is a program)], sorted by place."""
    tree = []
    with open(listing) as lines:
        for line in lines:
            place, path = line.rstrip("\n").split("\t")
            data = contents(path)
            tree.append((place, data, place.startswith(PROGRAMS) or data.startswith(b"#!")))
    return sorted(tree)


def in_version(tree, version):
    """The tree with @VERSION@ replaced in the few files that state it."""
    versioned = (".cmake", ".pc")
    return [(place, data.replace(b"@VERSION@", version.encode()) if place.endswith(versioned)
             else data, program)
            for place, data, program in tree]


def tar_bytes(entries):
    """A tar archive of [(name, bytes, mode)]; a folder precedes its contents."""
    out = io.BytesIO()
    made = set()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data, mode in entries:
            parts = name.split("/")
            for depth in range(1, len(parts)):
                folder = "/".join(parts[:depth])
                if folder in made or folder == ".":
                    continue
                made.add(folder)
                info = tarfile.TarInfo(folder)
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                info.uname, info.gname = "root", "root"
                tar.addfile(info)
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.uname, info.gname = len(data), mode, "root", "root"
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def xz(data):
    return lzma.compress(data, preset=6)


def mode_of(program):
    return 0o755 if program else 0o644


def tree_tar(tree, version):
    top = "lockstep-%s/" % version
    return tar_bytes([(top + place, data, mode_of(program)) for place, data, program in tree])


def write_tar(tree, version, out):
    out.write(tree_tar(tree, version))


def write_xz(tree, version, out):
    out.write(xz(tree_tar(tree, version)))


def write_deb(tree, version, out):
    """deb(5): an ar archive of a version, the control files and the data."""
    size = sum(len(data) for _, data, _ in tree)
    control = """Package: lockstep
Version: %s
Architecture: amd64
Maintainer: Lockstep <lockstep@localhost>
Installed-Size: %d
Depends: libc6 (>= %s), libgcc-s1 (>= 12), libstdc++6 (>= 12)
Recommends: libdw1
Suggests: cmake, g++, pkg-config
Section: devel
Priority: optional
Description: %s
 Runs CUDA programs on a simulated GPU that reports races, uninitialised reads and accesses out of
 bounds, judges tests by mutants, and proves kernel families against their laws.
""" % (version, (size + 1023) // 1024, GLIBC, SUMMARY)
    sums = "".join(
        "%s  usr/%s\n" % (hashlib.md5(data).hexdigest(), place) for place, data, _ in tree
    )
    control_files = [("./control", control.encode(), 0o644), ("./md5sums", sums.encode(), 0o644)]
    data_files = [("./usr/" + place, data, mode_of(program)) for place, data, program in tree]
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", xz(tar_bytes(control_files))),
        ("data.tar.xz", xz(tar_bytes(data_files))),
    ]
    out.write(b"!<arch>\n")
    for name, data in members:
        out.write(
            ("%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, "100644", len(data))).encode()
        )
        out.write(data + b"\n" * (len(data) % 2))


def write_wheel(tree, version, out):
    """PEP 427. Files below share/lockstep/python are at the top; the prefix is inside the
    package."""
    info = "lockstep-%s.dist-info/" % version
    python = "share/lockstep/python/"
    entries = []
    for place, data, program in tree:
        if place.startswith(python):
            place = place[len(python):]
        else:
            place = "lockstep/prefix/" + place
        entries.append((place, data, mode_of(program)))
    tag = "py3-none-manylinux_%s_x86_64" % GLIBC.replace(".", "_")
    metadata = ("Metadata-Version: 2.1\nName: lockstep\nVersion: %s\nSummary: %s\n"
                "Requires-Python: >=3.9\nRequires-Dist: numpy\n"
                "Provides-Extra: test\nRequires-Dist: pytest; extra == 'test'\n"
                "Requires-Dist: hypothesis; extra == 'test'\n" % (version, SUMMARY))
    wheel = "Wheel-Version: 1.0\nGenerator: lockstep\nRoot-Is-Purelib: false\nTag: %s\n" % tag
    entries += [
        (info + "METADATA", metadata.encode(), 0o644),
        (info + "WHEEL", wheel.encode(), 0o644),
        (info + "entry_points.txt", ENTRY_POINTS, 0o644),
    ]
    record = ""
    for place, data, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (place, digest, len(data))
    entries.append((info + "RECORD", (record + info + "RECORD,,\n").encode(), 0o644))
    with zipfile.ZipFile(out, "w") as wheel:
        for place, data, mode in entries:
            item = zipfile.ZipInfo(place, (1980, 1, 1, 0, 0, 0))
            item.create_system, item.external_attr = 3, (0o100000 | mode) << 16
            item.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(item, data)


def main(kind, version_file, listing, archive):
    with open(version_file) as file:
        version = file.read().strip()
    tree = in_version(read_tree(listing), version)
    with open(archive, "wb") as out:
        {
            "tar": write_tar, "xz": write_xz, "deb": write_deb, "wheel": write_wheel
        }[kind](tree, version, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
