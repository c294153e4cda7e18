internal import CCarabiner
internal import CarabinerABI
internal import CarabinerBridge

/// Host functions with which a hook stages its answer.
extension TestHost {
  func emit(_ handle: crb_call, _ kind: UInt32, _ buffer: crb_buf, _ flags: UInt32) -> crb_status {
    let bytes = buffer == 0 ? nil : consume(buffer, .emit)
    return enter(handle, .emit) { state, call in
      let isResult = kind == UInt32(CRB_EMIT_RESULT)
      guard isResult || kind == UInt32(CRB_EMIT_CHUNK), let bytes else {
        return state.complain(call, "SE03", .failure, "emit() was given the unknown kind \(kind), or no bytes", Status.invalid)
      }
      if let hook = call.hook, let part = Contract.replaced(in: hook, of: call.kind), !call.mutates.contains(part) {
        return state.refuse(call, .emit, Status.readOnly, isResult ? "results" : "chunks")
      }
      guard call.staged.elements.count < Self.window else { return state.refuseElement(call) }
      guard let hook = call.hook, Contract.emits(results: isResult, in: hook, of: call.kind) else {
        return state.refuse(
          call, .emit, Status.state, "stages \(isResult ? "a result" : "a chunk") in a hook that cannot stage one")
      }
      if isResult, StagedJSON.object(bytes) == nil {
        if call.isMalformed { return Status.invalid }
        return state.complain(call, "SE05", .failure, "emit() was given a result that is not a JSON object", Status.invalid)
      }
      if isResult, StagedJSON.hasHalf(bytes), !call.hasHalves {
        state.note(
          Finding(
            "SE05", .failure, "emit() was given a result with half of a character: it cuts between the two escapes of one",
            place: call.place))
      }
      call.staged.elements.append(Staged.Element(kind: kind, bytes: bytes, flags: flags))
      return Status.ok
    }
  }

  /// The maximum number of elements that a hook may stage. The window of a host has about this size.
  static let window = 1024

  func setError(_ handle: crb_call, _ error: UnsafePointer<crb_error>?) -> crb_status {
    let status = enter(handle, .setError) { state, call in
      guard let error = unsafe error else { return Status.invalid }
      let copy = unsafe InterceptorTable.copy(error, crb_error())
      if unsafe error.pointee.size == 0 {
        state.note(
          Finding(
            "ER01", .failure, "set_error() was given an error whose size is 0, so a host reads none of its fields",
            place: call.place))
      }
      call.staged.failure = unsafe Staged.Failure(
        code: copy.code, flags: copy.flags, domain: copy.domain.text, message: copy.message.text, detail: copy.detail_json.text,
        httpStatus: copy.http_status, retryAfter: copy.retry_after_ns)
      if unsafe copy.flags & UInt32(CRB_ERROR_PLUGIN_FAULT) != 0, !call.blamesPlugin, state.faults.isEmpty {
        state.note(
          Finding("ER01", .failure, "it fails by a fault of its own: \(unsafe copy.message.text.prefix(200))", place: call.place))
      }
      return Status.ok
    }
    if status != Status.ok, unsafe error != nil { state.withLock { $0.calls[handle]?.staged.isErrorRefused = true } }
    return status
  }

  func setRetry(_ handle: crb_call, _ scope: UInt32, _ delay: UInt64) -> crb_status {
    enter(handle, .setRetry) { state, call in
      let isLegal =
        call.kind == .graphQL && scope == UInt32(CRB_RETRY_CHAIN) || call.kind == .http && scope == UInt32(CRB_RETRY_STAGE)
      guard isLegal else {
        return state.refuse(
          call, .setRetry, Status.state, "asks for the scope \(scope), which a \(call.kind.rawValue) stage does not have")
      }
      call.staged.retry = (scope, delay)
      return Status.ok
    }
  }

  func setHead(_ handle: crb_call, _ head: UnsafePointer<crb_head>?) -> crb_status {
    enter(handle, .setHead) { state, call in
      guard let hook = call.hook, Contract.setsHead(in: hook, of: call.kind) else {
        return state.refuse(call, .setHead, Status.state, "is for on_request and on_head of HTTP stages")
      }
      guard hook == .onRequest || call.mutates.contains(.headers) else {
        return state.refuse(call, .setHead, Status.readOnly, "the head")
      }
      guard let head = unsafe head else { return Status.invalid }
      let copy = unsafe InterceptorTable.copy(head, crb_head())
      guard unsafe (100...599).contains(copy.status), unsafe copy.header_count <= 10_000 else { return Status.invalid }
      var sample = unsafe HeadSample(status: copy.status, version: copy.http_version, headers: [])
      for index in unsafe 0..<copy.header_count {
        guard let field = unsafe copy.headers?[index], unsafe field.name.isHeaderName, unsafe field.value.isHeaderValue else {
          return state.complain(call, "SE06", .failure, "set_head() was given a malformed header", Status.invalid)
        }
        sample.headers.append(unsafe HeaderSample(name: field.name.text, value: field.value.text))
      }
      call.staged.head = sample
      return Status.ok
    }
  }
}

extension TestHost.State {
  /// How often a hook may call emit() again after CRB_E_LIMIT.
  private static let patience = 16

  /// Answers that the window is full, and notes a breach if the hook ignores that.
  fileprivate mutating func refuseElement(_ call: TestHostCall) -> crb_status {
    call.refusedElements += 1
    if call.refusedElements > Self.patience {
      note(
        Finding(
          "ST04", .failure,
          "emit() answered CRB_E_LIMIT, the window of \(TestHost.window) elements is full, and the hook stages more",
          place: call.place))
    }
    return Status.limit
  }
}
