// Streams, events, memory operations of streams.
#include "tests/calls/driver/rig.h"

namespace lockstep::calls::driver {
namespace in_stream {

void create_stream(Rig& rig) {
  const std::string name = rig.number("stream");
  CUstream stream = nullptr;
  CUresult result = CUDA_SUCCESS;
  const unsigned flags = rig.random.of({0u, 1u, 1u, 2u, 99u});
  if (rig.random.chance(50)) {
    result = DRIVER(cuStreamCreate)(rig.random.chance(95) ? &stream : nullptr, flags);
    rig.answer(text("cuStreamCreate(&%s, %u)", name.c_str(), flags), result);
  } else {
    const int priority = rig.random.of({0, -1, -5, -6, 1, 100, -100});
    result = DRIVER(cuStreamCreateWithPriority)(&stream, flags, priority);
    rig.answer(text("cuStreamCreateWithPriority(&%s, %u, %d)", name.c_str(), flags, priority),
               result);
  }
  if (stream != nullptr) rig.streams.push_back({stream, name});
}

void destroy_stream(Rig& rig) {
  if (rig.random.chance(20)) {
    const auto special = rig.random.of({CUstream{nullptr}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD});
    return rig.answer(text("cuStreamDestroy(%zu)", reinterpret_cast<std::size_t>(special)),
                      DRIVER(cuStreamDestroy)(special));
  }
  Named<CUstream>* const s = rig.pick(rig.streams);
  if (s == nullptr) return;
  rig.answer(text("cuStreamDestroy(%s)", s->name.c_str()), DRIVER(cuStreamDestroy)(s->it));
  rig.remove(rig.streams, s);
}

void ask_stream(Rig& rig) {
  const auto s = rig.stream();
  switch (rig.random.below(7)) {
    case 0: {
      unsigned flags = 99;
      const CUresult result = DRIVER(cuStreamGetFlags)(s.it, &flags);
      return rig.answer(text("cuStreamGetFlags(%s)", s.name.c_str()), result, text("%u", flags));
    }
    case 1: {
      int priority = 99;
      const CUresult result = DRIVER(cuStreamGetPriority)(s.it, &priority);
      return rig.answer(text("cuStreamGetPriority(%s)", s.name.c_str()), result,
                        text("%d", priority));
    }
    case 2: {
      CUcontext c = nullptr;
      const CUresult result = DRIVER(cuStreamGetCtx)(s.it, &c);
      return rig.answer(text("cuStreamGetCtx(%s)", s.name.c_str()), result,
                        c == rig.context() ? "primary" : "another");
    }
    case 3: {
      auto status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
      const CUresult result = DRIVER(cuStreamIsCapturing)(s.it, &status);
      return rig.answer(text("cuStreamIsCapturing(%s)", s.name.c_str()), result,
                        text("%d", status));
    }
    case 4:
      return rig.answer(text("cuStreamSynchronize(%s)", s.name.c_str()),
                        DRIVER(cuStreamSynchronize)(s.it));
    case 5: {
      CUdevice d = -1;
      const CUresult result = DRIVER(cuStreamGetDevice)(s.it, &d);
      return rig.answer(text("cuStreamGetDevice(%s)", s.name.c_str()), result, text("%d", d));
    }
    default:
      rig.wait();
      return rig.answer(text("cuStreamQuery(%s), after a wait", s.name.c_str()),
                        DRIVER(cuStreamQuery)(s.it));
  }
}

void attributes(Rig& rig) {
  const auto s = rig.stream();
  const int which = rig.random.of({1, 3, 3, 8, 9, 10, 2, 99});
  CUstreamAttrValue value = {};
  if (rig.random.chance(50)) {
    const CUresult result =
        DRIVER(cuStreamGetAttribute)(s.it, static_cast<CUstreamAttrID>(which), &value);
    return rig.answer(text("cuStreamGetAttribute(%s, %d)", s.name.c_str(), which), result,
                      which == 3 ? text("%d", value.syncPolicy) : "");
  }
  const int number = rig.random.of({0, 1, 2, 4, 99});
  value.syncPolicy = static_cast<CUsynchronizationPolicy>(number);
  if (which == 1 || which == 8) return;  // windows and priorities: by the runtime's tests
  rig.answer(text("cuStreamSetAttribute(%s, %d, %d)", s.name.c_str(), which, number),
             DRIVER(cuStreamSetAttribute)(s.it, static_cast<CUstreamAttrID>(which), &value));
}

void create_event(Rig& rig) {
  const std::string name = rig.number("event");
  const unsigned flags = rig.random.of({0u, 0u, 1u, 2u, 3u, 4u, 6u, 8u, 99u});
  CUevent event = nullptr;
  const CUresult result = DRIVER(cuEventCreate)(rig.random.chance(95) ? &event : nullptr, flags);
  rig.answer(text("cuEventCreate(&%s, %u)", name.c_str(), flags), result);
  if (event != nullptr) rig.events.push_back({event, name});
}

void use_event(Rig& rig) {
  Named<CUevent>* const e = rig.pick(rig.events);
  Named<CUevent>* const f = rig.pick(rig.events);
  if (e == nullptr) {
    return rig.answer("cuEventRecord(null, 0)", DRIVER(cuEventRecord)(nullptr, nullptr));
  }
  const auto s = rig.stream();
  switch (rig.random.below(7)) {
    case 0:
    case 1: {
      const unsigned flags = rig.random.of({0u, 0u, 1u, 2u});
      return rig.answer(
          text("cuEventRecordWithFlags(%s, %s, %u)", e->name.c_str(), s.name.c_str(), flags),
          DRIVER(cuEventRecordWithFlags)(e->it, s.it, flags));
    }
    case 2: {
      const unsigned flags = rig.random.of({0u, 0u, 1u, 2u});
      return rig.answer(
          text("cuStreamWaitEvent(%s, %s, %u)", s.name.c_str(), e->name.c_str(), flags),
          DRIVER(cuStreamWaitEvent)(s.it, e->it, flags));
    }
    case 3:
      return rig.answer(text("cuEventSynchronize(%s)", e->name.c_str()),
                        DRIVER(cuEventSynchronize)(e->it));
    case 4:
      rig.wait();
      return rig.answer(text("cuEventQuery(%s), after a wait", e->name.c_str()),
                        DRIVER(cuEventQuery)(e->it));
    case 5: {
      rig.wait();
      float time = 0;
      return rig.answer(text("cuEventElapsedTime(%s, %s)", e->name.c_str(), f->name.c_str()),
                        DRIVER(cuEventElapsedTime)(&time, e->it, f->it));
    }
    default:
      if (rig.random.chance(60)) return;
      rig.answer(text("cuEventDestroy(%s)", e->name.c_str()), DRIVER(cuEventDestroy)(e->it));
      rig.remove(rig.events, e);
  }
}

// Values in memory. Each wait is for a value that memory has already, so it ends.
void memory_operation(Rig& rig) {
  const auto s = rig.stream();
  const CUdeviceptr slot = rig.slot();
  const std::string place = rig.slot_name();
  const CUdeviceptr at = slot + (rig.random.chance(90) ? 0 : rig.random.of({1u, 2u, 4u}));
  const int offset = static_cast<int>(at - slot);
  const unsigned value = static_cast<unsigned>(rig.random.below(100));
  switch (rig.random.below(5)) {
    case 0: {
      const unsigned flags = rig.random.of({0u, 0u, 1u, 2u, 99u});
      return rig.answer(text("cuStreamWriteValue32(%s, %s+%d, %u, %u)", s.name.c_str(),
                             place.c_str(), offset, value, flags),
                        DRIVER(cuStreamWriteValue32)(s.it, at, value, flags));
    }
    case 1: {
      const unsigned flags = rig.random.of({0u, 0u, 1u, 2u, 99u});
      return rig.answer(text("cuStreamWriteValue64(%s, %s+%d, %u, %u)", s.name.c_str(),
                             place.c_str(), offset, value, flags),
                        DRIVER(cuStreamWriteValue64)(s.it, at, value, flags));
    }
    case 2: {
      const unsigned flags = rig.random.of({0u, 0u, 1u, 4u, 99u});  // GEQ, EQ
      return rig.answer(text("cuStreamWaitValue32(%s, %s+%d, 0, %u)", s.name.c_str(), place.c_str(),
                             offset, flags),
                        DRIVER(cuStreamWaitValue32)(s.it, at, 0, flags));
    }
    case 3: {
      const unsigned flags = rig.random.of({0u, 0u, 1u, 99u});
      return rig.answer(text("cuStreamWaitValue64(%s, %s+%d, 0, %u)", s.name.c_str(), place.c_str(),
                             offset, flags),
                        DRIVER(cuStreamWaitValue64)(s.it, at, 0, flags));
    }
    default: {
      CUstreamBatchMemOpParams operations[2] = {};
      operations[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      operations[0].writeValue.address = at;
      operations[0].writeValue.value = value;
      operations[1].operation = rig.random.chance(80) ? CU_STREAM_MEM_OP_WAIT_VALUE_32
                                                      : static_cast<CUstreamBatchMemOpType>(99);
      operations[1].waitValue.operation = operations[1].operation;
      operations[1].waitValue.address = at;
      operations[1].waitValue.value = value;
      operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
      const unsigned count = static_cast<unsigned>(rig.random.below(3));
      const unsigned flags = rig.random.chance(90) ? 0 : 1;
      return rig.answer(text("cuStreamBatchMemOp(%s, %u, {write %s+%d %u, %d}, %u)", s.name.c_str(),
                             count, place.c_str(), offset, value, operations[1].operation, flags),
                        DRIVER(cuStreamBatchMemOp)(s.it, count, operations, flags));
    }
  }
}

void count_after(CUstream, CUresult, void* calls) { count(calls); }

void call_host(Rig& rig) {
  const auto s = rig.stream();
  const bool none = rig.random.chance(5);
  if (rig.random.chance(50)) {
    return rig.answer(text("cuLaunchHostFunc(%s, %s)", s.name.c_str(), none ? "null" : "count"),
                      DRIVER(cuLaunchHostFunc)(s.it, none ? nullptr : count, &rig.host_calls));
  }
  const unsigned flags = rig.random.chance(90) ? 0 : 1;
  rig.answer(
      text("cuStreamAddCallback(%s, %s, %u)", s.name.c_str(), none ? "null" : "count", flags),
      DRIVER(cuStreamAddCallback)(s.it, none ? nullptr : count_after, &rig.host_calls, flags));
}

}  // namespace in_stream

std::vector<Call<Rig>> stream_calls() {
  using namespace in_stream;
  return {{5, create_stream}, {2, destroy_stream}, {7, ask_stream},       {2, attributes},
          {4, create_event},  {9, use_event},      {6, memory_operation}, {3, call_host}};
}

}  // namespace lockstep::calls::driver
