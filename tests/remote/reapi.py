"""The messages of the remote execution API, version 2, as far as an executor for tests needs them.

Fields and numbers are those of build/bazel/remote/execution/v2/remote_execution.proto and, below
"from other packages", of google/longrunning/operations.proto, google/rpc/status.proto and
google/bytestream/bytestream.proto. All lie in one package here: a message's package is not part of
what is sent, but for ExecuteResponse inside an Operation.
"""
from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, message_factory

_PACKAGE = "build.bazel.remote.execution.v2"

# message: its fields as "name number type"; * before the type is repeated.
_MESSAGES = {
    "Digest": "hash 1 string, size_bytes 2 int64",
    "Property": "name 1 string, value 2 string",
    "Platform": "properties 1 *Property",
    "Duration": "seconds 1 int64",
    "Action": "command_digest 1 Digest, input_root_digest 2 Digest, timeout 6 Duration, "
              "do_not_cache 7 bool, platform 10 Platform",
    "Variable": "name 1 string, value 2 string",
    "Command": "arguments 1 *string, environment_variables 2 *Variable, output_files 3 *string, "
               "output_directories 4 *string, platform 5 Platform, working_directory 6 string, "
               "output_paths 7 *string",
    "FileNode": "name 1 string, digest 2 Digest, is_executable 4 bool",
    "DirectoryNode": "name 1 string, digest 2 Digest",
    "SymlinkNode": "name 1 string, target 2 string",
    "Directory": "files 1 *FileNode, directories 2 *DirectoryNode, symlinks 3 *SymlinkNode",
    "Tree": "root 1 Directory, children 2 *Directory",
    "OutputFile": "path 1 string, digest 2 Digest, is_executable 4 bool",
    "OutputDirectory": "path 1 string, tree_digest 3 Digest",
    "ActionResult": "output_files 2 *OutputFile, output_directories 3 *OutputDirectory, exit_code "
                    "4 int32, stdout_digest 6 Digest, stderr_digest 8 Digest",
    "ExecuteRequest": "skip_cache_lookup 3 bool, action_digest 6 Digest",
    "ExecuteResponse": "result 1 ActionResult, cached_result 2 bool, status 3 Status",
    "GetActionResultRequest": "action_digest 2 Digest",
    "UpdateActionResultRequest": "action_digest 2 Digest, action_result 3 ActionResult",
    "FindMissingBlobsRequest": "blob_digests 2 *Digest",
    "FindMissingBlobsResponse": "missing_blob_digests 2 *Digest",
    "Blob": "digest 1 Digest, data 2 bytes, status 3 Status",
    "BatchUpdateBlobsRequest": "requests 2 *Blob",
    "BlobStatus": "digest 1 Digest, status 2 Status",
    "BatchUpdateBlobsResponse": "responses 1 *BlobStatus",
    "BatchReadBlobsRequest": "digests 2 *Digest",
    "BatchReadBlobsResponse": "responses 1 *Blob",
    "GetCapabilitiesRequest": "instance_name 1 string",
    "UpdateCapabilities": "update_enabled 1 bool",
    "CacheCapabilities": "digest_function 1 *int32, action_cache_update_capabilities 2 "
                         "UpdateCapabilities, max_batch_total_size_bytes 4 int64",
    "ExecutionCapabilities": "digest_function 1 int32, exec_enabled 2 bool",
    "SemVer": "major 1 int32, minor 2 int32",
    "ServerCapabilities": "cache_capabilities 1 CacheCapabilities, execution_capabilities 2 "
                          "ExecutionCapabilities, low_api_version 4 SemVer, high_api_version 5 "
                          "SemVer",
    # from other packages
    "Status": "code 1 int32, message 2 string",
    "Operation": "name 1 string, done 3 bool, response 5 Any",
    "ReadRequest": "resource_name 1 string, read_offset 2 int64",
    "ReadResponse": "data 10 bytes",
    "WriteRequest": "resource_name 1 string, write_offset 2 int64, finish_write 3 bool, data 10 "
                    "bytes",
    "WriteResponse": "committed_size 1 int64",
    "QueryWriteStatusRequest": "resource_name 1 string",
    "QueryWriteStatusResponse": "committed_size 1 int64, complete 2 bool",
}


def _add_field(message, text):
    name, number, kind = text.split()
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if kind.startswith("*") else field.LABEL_OPTIONAL
    kind = kind.lstrip("*")
    if kind in _MESSAGES or kind == "Any":
        field.type = field.TYPE_MESSAGE
        field.type_name = ".google.protobuf.Any" if kind == "Any" else ".%s.%s" % (_PACKAGE, kind)
    else:
        field.type = getattr(field, "TYPE_" + kind.upper())


def _classes():
    file = descriptor_pb2.FileDescriptorProto(name="reapi", package=_PACKAGE, syntax="proto3")
    file.dependency.append(any_pb2.DESCRIPTOR.name)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields.split(","):
            _add_field(message, text)
    pool = descriptor_pool.Default()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return {
        name: factory.GetPrototype(pool.FindMessageTypeByName("%s.%s" % (_PACKAGE, name)))
        for name in _MESSAGES
    }


globals().update(_classes())
