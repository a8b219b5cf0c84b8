"""A remote execution engine for tests: one process, everything in memory, on loopback.

An action goes to the first worker whose properties are exactly those that the action asks for, the
strictest of the rules that engines have; where there is none it is refused. A worker runs it in a
fresh folder with the declared inputs and nothing else.
"""
import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import tempfile

import grpc
import reapi as api

_SHA256 = 1
_FAILED_PRECONDITION = 9
_CHUNK = 1 << 20


class Executor:
    """workers: name -> properties. `ran` lists (worker, program) of every action that was
    executed; `refused` the properties that no worker has."""

    def __init__(self, workers):
        self.workers = workers
        self.ran, self.refused = [], []
        self.blobs, self.results = {hashlib.sha256(b"").hexdigest(): b""}, {}
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        package = "build.bazel.remote.execution.v2."
        for service, methods in {
                package + "Capabilities": [
                    ("GetCapabilities", self._capabilities, api.GetCapabilitiesRequest, "11")
                ],
                package + "ActionCache": [
                    ("GetActionResult", self._result, api.GetActionResultRequest, "11"),
                    (
                        "UpdateActionResult", self._update_result, api.UpdateActionResultRequest,
                        "11",
                    )],
                package + "ContentAddressableStorage": [
                    ("FindMissingBlobs", self._missing, api.FindMissingBlobsRequest, "11"),
                    ("BatchUpdateBlobs", self._update_blobs, api.BatchUpdateBlobsRequest, "11"),
                    ("BatchReadBlobs", self._read_blobs, api.BatchReadBlobsRequest, "11")],
                package + "Execution": [("Execute", self._execute, api.ExecuteRequest, "1n")],
                "google.bytestream.ByteStream": [
                    ("Read", self._read, api.ReadRequest, "1n"),
                    ("Write", self._write, api.WriteRequest, "n1"),
                    (
                        "QueryWriteStatus", lambda *_: api.QueryWriteStatusResponse(),
                        api.QueryWriteStatusRequest, "11",
                    )],
        }.items():
            shape = {"11": grpc.unary_unary_rpc_method_handler,
                     "1n": grpc.unary_stream_rpc_method_handler,
                     "n1": grpc.stream_unary_rpc_method_handler}
            handlers = {name: shape[kind](method, request.FromString,
                                          lambda answer: answer.SerializeToString())
                        for name, method, request, kind in methods}
            self.server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(service, handlers),)
            )
        self.address = "grpc://127.0.0.1:%d" % self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()

    def close(self):
        self.server.stop(None)

    # ---- cache

    def _put(self, blob):
        digest = hashlib.sha256(blob).hexdigest()
        self.blobs[digest] = blob
        return api.Digest(hash=digest, size_bytes=len(blob))

    def _capabilities(self, request, context):
        return api.ServerCapabilities(
            cache_capabilities=api.CacheCapabilities(
                digest_function=[_SHA256], max_batch_total_size_bytes=4 << 20,
                action_cache_update_capabilities=api.UpdateCapabilities(update_enabled=True)),
            execution_capabilities=api.ExecutionCapabilities(
                digest_function=_SHA256, exec_enabled=True
            ),
            low_api_version=api.SemVer(major=2), high_api_version=api.SemVer(major=2))

    def _missing(self, request, context):
        return api.FindMissingBlobsResponse(
            missing_blob_digests=[d for d in request.blob_digests if d.hash not in self.blobs])

    def _update_blobs(self, request, context):
        return api.BatchUpdateBlobsResponse(
            responses=[api.BlobStatus(digest=self._put(blob.data)) for blob in request.requests])

    def _read_blobs(self, request, context):
        return api.BatchReadBlobsResponse(
            responses=[api.Blob(digest=d, data=self.blobs[d.hash]) for d in request.digests])

    def _read(self, request, context):
        blob = self.blobs.get(request.resource_name.split("/")[-2])
        if blob is None:
            context.abort(grpc.StatusCode.NOT_FOUND, request.resource_name)
        for start in range(request.read_offset, max(len(blob), 1), _CHUNK):
            yield api.ReadResponse(data=blob[start:start + _CHUNK])

    def _write(self, requests, context):
        return api.WriteResponse(
            committed_size=self._put(b"".join(r.data for r in requests)).size_bytes
        )

    def _result(self, request, context):
        if request.action_digest.hash not in self.results:
            context.abort(grpc.StatusCode.NOT_FOUND, "this action was not executed yet")
        return self.results[request.action_digest.hash]

    def _update_result(self, request, context):
        self.results[request.action_digest.hash] = request.action_result
        return request.action_result

    # ---- execution

    def _execute(self, request, context):
        digest = request.action_digest.hash
        response = api.ExecuteResponse()
        if digest in self.results and not request.skip_cache_lookup:
            response.result.CopyFrom(self.results[digest])
            response.cached_result = True
        else:
            action = api.Action.FromString(self.blobs[digest])
            command = api.Command.FromString(self.blobs[action.command_digest.hash])
            wanted = {
                p.name: p.value for p in (command.platform.properties or action.platform.properties)
            }
            worker = next((name for name, has in self.workers.items() if has == wanted), None)
            if worker is None:
                self.refused.append(wanted)
                response.status.code = _FAILED_PRECONDITION
                response.status.message = "no worker has exactly the properties %s" % wanted
            else:
                self.ran.append((worker, command.arguments[0]))
                response.result.CopyFrom(self._run(action, command))
                if response.result.exit_code == 0 and not action.do_not_cache:
                    self.results[digest] = response.result
        operation = api.Operation(name=digest, done=True)
        operation.response.Pack(response)
        yield operation

    def _run(self, action, command):
        root = tempfile.mkdtemp()
        try:
            self._lay_out(action.input_root_digest, root)
            folder = os.path.join(root, command.working_directory)
            for path in [*command.output_files, *command.output_directories, *command.output_paths]:
                os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            process = subprocess.run(
                list(command.arguments), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                env={
                    v.name: v.value for v in command.environment_variables
                }, timeout=action.timeout.seconds or 300)
            result = api.ActionResult(exit_code=process.returncode,
                                      stdout_digest=self._put(process.stdout),
                                      stderr_digest=self._put(process.stderr))
            for path in [*command.output_files, *command.output_directories, *command.output_paths]:
                self._collect(os.path.join(folder, path), path, result)
            return result
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def _lay_out(self, digest, folder):
        os.makedirs(folder, exist_ok=True)
        directory = api.Directory.FromString(self.blobs[digest.hash])
        for file in directory.files:
            with open(os.path.join(folder, file.name), "wb") as out:
                out.write(self.blobs[file.digest.hash])
            os.chmod(os.path.join(folder, file.name), 0o555 if file.is_executable else 0o444)
        for link in directory.symlinks:
            os.symlink(link.target, os.path.join(folder, link.name))
        for below in directory.directories:
            self._lay_out(below.digest, os.path.join(folder, below.name))

    def _collect(self, at, path, result):
        if os.path.isdir(at):
            tree = api.Tree()
            tree.root.CopyFrom(self._directory(at, tree))
            result.output_directories.add(
                path=path, tree_digest=self._put(tree.SerializeToString())
            )
        elif os.path.isfile(at):
            result.output_files.add(
                path=path, digest=self._file(at), is_executable=os.access(at, os.X_OK)
            )

    def _file(self, at):
        with open(at, "rb") as file:
            return self._put(file.read())

    def _directory(self, at, tree):
        directory = api.Directory()
        for name in sorted(os.listdir(at)):
            below = os.path.join(at, name)
            if os.path.isdir(below):
                child = self._directory(below, tree)
                tree.children.append(child)
                directory.directories.add(name=name, digest=self._put(child.SerializeToString()))
            else:
                directory.files.add(
                    name=name, digest=self._file(below), is_executable=os.access(below, os.X_OK)
                )
        return directory
