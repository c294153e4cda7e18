internal import CCarabiner
internal import CarabinerABI
internal import CarabinerWorkers

/// The test host's answers to a plugin in a worker: it judges each function of the host that the plugin calls, as if the plugin were in
/// this process.
@safe struct WorkerAnswers: @unchecked Sendable {
  // The table lives as long as the process, and its functions may be called on any thread.

  private let host: UnsafePointer<crb_host>
  private let calls: WorkerCalls
  private var testHost: TestHost { .current }

  init(_ host: UnsafePointer<crb_host>, _ calls: WorkerCalls) {
    unsafe self.host = unsafe host
    self.calls = calls
  }

  /// The status of a question. If it is negative, the function has no effect in the worker either.
  func status(of question: WatchedWorker.Question, _ worker: WatchedWorker) -> Int32 {
    switch question.subject {
    case .use(let function):
      testHost.speak(for: question.number, isOwn: question.isOwn) { status(of: function, question) }
    // The test host has already judged these calls as functions.
    case .part, .log: Status.ok
    case .key(let key): note(key, question)
    case .fetch: WorkerServiceAnswers(worker, question).fetch()
    case .store(let operation): WorkerServiceAnswers(worker, question).store(operation)
    }
  }

  private func note(_ key: UInt32, _ question: WatchedWorker.Question) -> Int32 {
    let name = question.records.first?.valueText ?? ""
    guard let own = testHost.state.withLock({ $0.keys[name] }) else { return Status.limit }
    calls.note(key: key, own)
    return Status.ok
  }

  private func status(of function: WatchedFunction, _ question: WatchedWorker.Question) -> Int32 {
    let call = question.number
    let first = question.records.first
    switch function {
    case .query, .allocate, .adopt, .slice, .retain, .release, .view, .scratch, .key, .log, .timerArm, .timerCancel, .withoutDone:
      return resource(function, call, first)
    case .suspend, .token, .resume, .returned: return waiting(function, question.number, first)
    case .cancelled: return unsafe host.pointee.cancelled(call)
    case .deadline: return use(.deadline)
    case .attempt: return use(.attempt)
    case .operationType: return use(.operationType)
    case .requestID: return use(.requestID)
    case .emit, .setError, .setRetry, .setHead: return answer(function, call, question.records)
    case .headers, .headerGet, .headerSet, .fieldGet, .fieldSet, .bagGet, .bagSet: return message(function, call, first)
    }
  }

  /// A use whose result the worker knows.
  private func use(_ slot: HostSlot) -> Int32 {
    guard let fault = testHost.use(slot) else { return Status.ok }
    return fault < 0 ? fault : Status.noMemory
  }

  // MARK: Memory, services and logs

  private func resource(_ function: WatchedFunction, _ call: crb_call, _ record: WatchedRecord?) -> Int32 {
    switch function {
    case .query:
      let id = record?.valueText ?? ""
      return unsafe id.withCString { unsafe host.pointee.query(host.pointee.`self`, $0) } == nil ? Status.unsupported : Status.ok
    case .allocate: return use(.bufAlloc)
    case .adopt: return use(.bufAdopt)
    case .slice: return use(.bufSlice)
    case .retain: return use(.bufRetain)
    case .release: return use(.bufRelease)
    case .view: return use(.bufView)
    case .scratch:
      let memory = unsafe host.pointee.scratch(call, Int(truncatingIfNeeded: record?.number ?? 0), Int(record?.a ?? 0))
      return unsafe memory == nil ? Status.noMemory : Status.ok
    case .key:
      return with { memory in
        unsafe host.pointee.key(host.pointee.`self`, memory.lent(record?.value)) == 0 ? Status.limit : Status.ok
      }
    case .log:
      with { memory in unsafe host.pointee.log(host.pointee.`self`, record?.a ?? 0, call, memory.lent(record?.value)) }
      return Status.ok
    case .timerArm:
      let status = use(.timerArm)
      if status == Status.ok { testHost.interrupt() }
      return status
    case .timerCancel: return use(.timerCancel)
    default:
      noteWithoutDone(record?.a ?? 0)
      return Status.ok
    }
  }

  private func noteWithoutDone(_ operation: UInt32) {
    let (fetch, store) = unsafe (TestHostServices.fetch.pointee, TestHostServices.store.pointee)
    let who = unsafe host.pointee.`self`
    switch operation {
    case 0: _ = fetch.start(who, nil, nil, nil)
    case 1: _ = store.load(who, nil, 0, nil, nil)
    case 2: _ = unsafe store.publish(who, crb_view(ptr: nil, len: 0), nil, nil)
    case 3: _ = store.remove(who, nil, 0, nil, nil)
    default: _ = unsafe store.remove_matching(who, crb_view(ptr: nil, len: 0), nil, nil)
    }
  }

  /// Runs a body with memory that is freed after it.
  private func with<Value>(_ body: (inout GuardedMemory) -> Value) -> Value {
    var memory = GuardedMemory(isGuarded: false)
    defer { memory.takeBack() }
    return body(&memory)
  }

  // MARK: Waiting

  private func waiting(_ function: WatchedFunction, _ number: UInt64, _ record: WatchedRecord?) -> Int32 {
    let verdict = crb_verdict(bitPattern: record?.a ?? 0)
    switch function {
    case .suspend:
      let token = unsafe host.pointee.suspend(number)
      if token == 0 { return Status.state }
      calls.note(suspended: number, token)
    case .token: calls.note(token: record?.number ?? 0, of: number)
    case .resume: return calls.resume(number) { unsafe host.pointee.resume($0, verdict) }
    default: calls.note(returned: verdict, hasState: record?.b == 1, number)
    }
    return Status.ok
  }

  // MARK: The answer of a hook

  private func answer(_ function: WatchedFunction, _ call: crb_call, _ records: [WatchedRecord]) -> Int32 {
    let first = records.first
    switch function {
    case .emit: return unsafe host.pointee.emit(call, first?.a ?? 0, buffer(first?.value), first?.b ?? 0)
    case .setRetry: return unsafe host.pointee.set_retry(call, first?.a ?? 0, first?.number ?? 0)
    case .setError: return with { memory in setError(call, records, &memory) }
    default: return with { memory in setHead(call, records, &memory) }
    }
  }

  /// A buffer with these bytes; a stale one if there are none.
  private func buffer(_ bytes: [UInt8]?) -> crb_buf {
    guard let bytes else { return HandleKind.buffer.handle(0) }
    return testHost.state.withLock { state in
      guard let made = unsafe state.buffers.allocate(bytes.count) else { return 0 }
      unsafe made.bytes.update(from: bytes, count: bytes.count)
      return unsafe made.handle
    }
  }

  private func setError(_ call: crb_call, _ records: [WatchedRecord], _ memory: inout GuardedMemory) -> Int32 {
    guard let first = records.first, let more = records.dropFirst().first else { return unsafe host.pointee.set_error(call, nil) }
    var error = unsafe crb_error()
    unsafe error.size = UInt32(MemoryLayout<crb_error>.size)
    unsafe error.code = Int32(bitPattern: first.a)
    unsafe error.flags = first.b
    unsafe error.http_status = Int32(bitPattern: more.a)
    unsafe error.retry_after_ns = first.number
    unsafe error.domain = unsafe memory.lent(first.name)
    unsafe error.message = unsafe memory.lent(first.value)
    unsafe error.origin = unsafe memory.lent(more.name)
    unsafe error.detail_json = unsafe memory.lent(more.value)
    return unsafe host.pointee.set_error(call, &error)
  }

  private func setHead(_ call: crb_call, _ records: [WatchedRecord], _ memory: inout GuardedMemory) -> Int32 {
    guard let first = records.first else { return unsafe host.pointee.set_head(call, nil) }
    var fields: [crb_header] = unsafe []
    for record in records.dropFirst() {
      unsafe fields.append(
        crb_header(name: memory.lent(record.name), value: memory.lent(record.value), flags: record.a, reserved: 0))
    }
    return unsafe fields.withUnsafeBufferPointer { fields in
      var head = unsafe crb_head()
      unsafe head.size = UInt32(MemoryLayout<crb_head>.size)
      unsafe head.status = first.a
      unsafe head.http_version = first.b
      unsafe head.headers = fields.baseAddress
      unsafe head.header_count = fields.count
      return unsafe host.pointee.set_head(call, &head)
    }
  }

  // MARK: The message

  private func message(_ function: WatchedFunction, _ call: crb_call, _ record: WatchedRecord?) -> Int32 {
    guard let record else { return function == .bagSet ? unsafe host.pointee.bag_set(call, 0, 0, nil) : Status.invalid }
    switch function {
    case .headers:
      var (fields, count): (UnsafePointer<crb_header>?, Int) = (nil, 0)
      return record.a == 1 ? unsafe host.pointee.headers(call, &fields, &count) : unsafe host.pointee.headers(call, nil, nil)
    case .headerGet:
      return with { memory in
        var value = unsafe crb_view.absent
        let name = unsafe memory.lent(record.name)
        return record.a == 1
          ? unsafe host.pointee.header_get(call, name, &value) : unsafe host.pointee.header_get(call, name, nil)
      }
    case .headerSet:
      return with { memory in
        unsafe host.pointee.header_set(call, memory.lent(record.name), memory.lent(record.value), record.a)
      }
    case .fieldGet:
      var value = unsafe crb_view.absent
      return record.b == 1
        ? unsafe host.pointee.field_get(call, record.a, &value) : unsafe host.pointee.field_get(call, record.a, nil)
    case .fieldSet: return unsafe host.pointee.field_set(call, record.a, record.b == 1 ? buffer(record.value) : 0)
    case .bagGet:
      var value = unsafe crb_value()
      let key = calls.key(record.a)
      return record.b == 1 ? unsafe host.pointee.bag_get(call, key, &value) : unsafe host.pointee.bag_get(call, key, nil)
    default:
      return with { memory in
        var value = unsafe crb_value()
        unsafe value.type = record.b & 0xFF
        unsafe value.n.i = Int64(bitPattern: record.number)
        unsafe value.v = unsafe memory.lent(record.value)
        return unsafe host.pointee.bag_set(call, calls.key(record.a), record.b >> 8, &value)
      }
    }
  }
}

extension GuardedMemory {
  /// A view of a copy; absent if there are no bytes.
  fileprivate mutating func lent(_ bytes: [UInt8]?) -> crb_view {
    guard let bytes else { return unsafe .absent }
    return unsafe view(bytes, named: "a text of a worker")
  }
}
