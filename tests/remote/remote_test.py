#!/usr/bin/python3
"""What a shared cache and a remote execution engine do with kernels and their tests: builds of a
small workspace with the project's own rules and .bazelrc, by the machine's own Bazel, against a
cache and an engine that live in this process.

A *machine* here is a Bazel server with an output base of its own and an nvidia-smi with given
answers.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.getcwd(), "tests/remote"))
try:
    import executor
except ImportError as missing:
    sys.exit(
        "%s. The engine of this test needs Debian's package: apt-get install python3-grpcio" %
        missing
    )
import http_cache

SCRATCH = os.environ["TEST_TMPDIR"]
# The toolkit that this build has found: under another HOME, one that ./lockstep has fetched is not
# found again.
with open(sys.argv[1]) as stamp:
    TOOLKIT = stamp.readline().strip()
WORKSPACE = os.path.join(SCRATCH, "workspace")
KINDS = {"CppCompile", "CudaCompile", "CppLink", "TestRunner"}
SIMULATED, SILICON = "//:sample_test", "//:sample_gpu_test"
H100 = "GPU-cab9fa05, NVIDIA H100 80GB HBM3, 580.159.04"
LOAD = 'load("@rules_cc//cc:cc_library.bzl", "cc_library")\n'
failures = []


def expect(what, actual, expected):
    print("%s: %s" % ("ok" if actual == expected else "FAILED", what))
    if actual != expected:
        print("  expected: %s\n  actual:   %s" % (expected, actual))
        failures.append(what)


def make_workspace():
    """The project's rules, WORKSPACE and .bazelrc; the sample; the simulated GPU as it was
    built."""
    for path in [".bazelrc", "WORKSPACE", "bazel", "simulator/libcudart.so.13"]:
        at = os.path.join(WORKSPACE, path)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, at)
    for name in ["sample.cu", "sample.h", "sample.cc"]:
        shutil.copy(os.path.join("tests/remote/workspace", name), WORKSPACE)
    shutil.copy("tests/remote/workspace/sample.BUILD", os.path.join(WORKSPACE, "BUILD"))
    for package, text in {
            "bazel/setup": 'exports_files(["toolkit.txt"])\n',
            # What kernel_test adds to every test.
            "bazel/gtest": LOAD +
                'cc_library(name = "gtest", visibility = ["//visibility:public"])\n',
            "harness/ledger": LOAD +
                'cc_library(name = "main", visibility = ["//visibility:public"])\n',
            "simulator": LOAD + 'cc_library(name = "cudart", srcs = ["libcudart.so.13"], '
                'visibility = ["//visibility:public"])\n',
    }.items():
        os.makedirs(os.path.join(WORKSPACE, package), exist_ok=True)
        with open(os.path.join(WORKSPACE, package, "BUILD"), "w") as file:
            file.write(text)


class Machine:
    def __init__(self, name):
        self.name = name
        self.bazel = ["bazel", "--output_base=" + os.path.join(SCRATCH, name), "--nohome_rc",
                      "--max_idle_secs=60",
                      "--host_jvm_args=-Xmx512m"]

    def _path(self, gpu):
        """A PATH on which nvidia-smi names `gpu`, or finds none."""
        folder = os.path.join(SCRATCH, "smi-" + (gpu or "none").replace(" ", "_").replace(",", ""))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "nvidia-smi"), "w") as file:
            file.write("#!/bin/sh\n" + ('echo "%s"\n' % gpu if gpu else "exit 9\n"))
        os.chmod(os.path.join(folder, "nvidia-smi"), 0o755)
        return folder + ":/usr/local/bin:/usr/bin:/bin"

    def run(self, *command, gpu=None):
        environment = {
            "PATH": self._path(gpu), "USER": "test", "HOME": SCRATCH, "CUDA_PATH": TOOLKIT
        }
        process = subprocess.run(self.bazel + list(command), cwd=WORKSPACE, env=environment,
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return process.returncode, process.stdout

    def test(self, *options, gpu=None):
        """(exit status, the actions that were not up to date in its own output base): bazel test
        --config=gpu //..."""
        log = os.path.join(SCRATCH, "actions.json")
        status, output = self.run("test", "--config=gpu", "--noshow_progress", "--build_tests_only",
                                  "--symlink_prefix=/",
                                  "--execution_log_json_file=" + log, *options, "//...", gpu=gpu)
        print("---- %s%s\n%s" % (self.name, " with " + gpu if gpu else "", output))
        return status, read_actions(log)


class Action:
    def __init__(self, spawn):
        self.kind = spawn["mnemonic"]
        # The label of a test; of another action its message.
        self.label = re.sub(r"^Testing (//\S+).*", r"\1", spawn["progressMessage"])
        self.cached, self.runner = spawn.get("remoteCacheHit", False), spawn.get("runner")
        self.properties = {
            p["name"]: p["value"] for p in spawn.get("platform", {}).get("properties", [])
        }


def read_actions(path):
    """The execution log: JSON objects one after another."""
    with open(path) as file:
        text = file.read()
    decoder, actions, at = json.JSONDecoder(), [], 0
    while at < len(text):
        spawn, at = decoder.raw_decode(text, at)
        actions.append(Action(spawn))
        while at < len(text) and text[at].isspace():
            at += 1
    return actions


def tests_run(actions):
    """Label of every test shard that ran and was not taken from a cache."""
    return sorted(a.label for a in actions if a.kind == "TestRunner" and not a.cached)


def shared_cache(first, second):
    cache = http_cache.HttpCache()
    options = ["--config=remote-cache", "--remote_cache=" + cache.address, "--spawn_strategy=local"]

    status, actions = first.test(*options)
    expect("an empty cache: the build is green", status, 0)
    expect("an empty cache: nothing comes from it", [a.label for a in actions if a.cached], [])
    expect(
        "an empty cache: compiler, nvcc, linker and tests ran", KINDS - {a.kind for a in actions},
        set()
    )
    expect(
        "an empty cache: two shards of each test", tests_run(actions),
        [SILICON] * 2 + [SIMULATED] * 2,
    )
    expect("an empty cache: it then holds every result", cache.results(), len(actions))

    status, again = second.test(*options)
    expect("another machine: green", status, 0)
    expect("another machine: the same actions", sorted((a.kind, a.label) for a in again),
           sorted((a.kind, a.label) for a in actions))
    expect(
        "another machine: all of them come from the cache",
        [a.label for a in again if not a.cached], []
    )

    # What ran without a GPU, green as it was, is not taken for a result of the machine that has
    # one.
    status, actions = second.test(*options, gpu=H100)
    expect("a GPU appears: its tests run", tests_run(actions), [SILICON] * 2)
    expect(
        "a GPU appears: nothing else does", {a.kind for a in actions if not a.cached},
        {"TestRunner"}
    )
    status, actions = second.test(*options, gpu=H100.replace("580.159.04", "590.10"))
    expect("another driver: the GPU's tests run", tests_run(actions), [SILICON] * 2)
    status, actions = first.test(*options, gpu=H100)
    expect(
        "the same GPU on another machine: their results come from the cache", tests_run(actions), []
    )
    expect(
        "the same GPU on another machine: and they were looked up", [a.label for a in actions],
        [SILICON] * 2
    )
    cache.close()


def remote_execution(machine):
    engine = executor.Executor({"a CPU": {}, "an H100": {"Pool": "gpu-h100", "gpu": "sm75"}})
    options = ["--config=remote", "--remote_executor=" + engine.address, "--jobs=2"]
    machine.run("clean")
    status, actions = machine.test(*options, "--repo_env=LOCKSTEP_GPU_POOL=gpu-h100")
    expect("an engine: green", status, 0)
    expect(
        "an engine: compiler, nvcc, linker and tests ran", KINDS - {a.kind for a in actions}, set()
    )
    expect("an engine: nothing ran here", {a.runner for a in actions}, {"remote"})
    expect("an engine: every action ran once", len(engine.ran), len(actions))
    expect(
        "an engine: the GPU was asked for by its tests alone",
        sorted(a.label for a in actions if a.properties), [SILICON] * 2
    )
    expect(
        "an engine: and they alone ran there",
        [worker for worker, _ in engine.ran].count("an H100"), 2,
    )
    expect("an engine: nothing was refused", engine.refused, [])

    before = len(engine.ran)
    status, actions = machine.test(*options, "--strategy=TestRunner=remote")
    expect("no such pool: red", status != 0, True)
    expect("no such pool: the tests for a GPU ran nowhere", len(engine.ran), before)
    expect(
        "no such pool: they asked for theirs", engine.refused[:1],
        [{"Pool": "gpu-sm75", "gpu": "sm75"}],
    )
    engine.close()


def main():
    make_workspace()
    first, second = Machine("first"), Machine("second")
    try:
        shared_cache(first, second)
        first.run("shutdown")
        remote_execution(second)
    finally:
        for machine in [first, second]:
            machine.run("shutdown")
    print("%d failed" % len(failures))
    return 1 if failures else 0


sys.exit(main())
