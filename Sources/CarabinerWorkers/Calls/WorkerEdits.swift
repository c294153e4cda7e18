internal import CCarabiner
internal import CCrossing
internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import CarabinerManifest
internal import FoundationEssentials

/// The edits in the answer of a hook, which the host stages as if the plugin had called its functions.
@unsafe struct WorkerEdits {
  private let call: GroupCall
  private let hook: Hook
  private let stage: StageBinding
  /// The worker's process, which numbers baggage keys.
  private let process: WorkerProcess
  /// A shorter text of an error does not count as a line of the log, because each request has at most one.
  private static let freeBytes = 256
  /// The values of a longer answer count towards the memory of the worker as long as the host keeps them.
  private static let countedBytes = 16 << 10

  init(_ call: GroupCall, _ hook: Hook, _ stage: StageBinding, of process: WorkerProcess) {
    unsafe self.call = call
    unsafe self.hook = hook
    unsafe self.stage = stage
    unsafe self.process = process
  }

  /// Stages all edits of an answer. The caller is the owner of the call.
  ///
  /// - Returns: The rule that the answer breaks; nil if it breaks none. The code of workers makes the same checks as the host, so
  ///   an edit that the host refuses was forged.
  func apply(_ bytes: UnsafeRawBufferPointer) -> String? {
    let isCounted = unsafe bytes.count > Self.countedBytes
    var records = unsafe WorkerRecords(bytes)
    while let record = unsafe records.next() {
      let status: crb_status?
      switch unsafe Int(record.kind) {
      case Int(CCROSSING_HEADER.rawValue): status = unsafe header(record)
      case Int(CCROSSING_FIELD_SET.rawValue):
        guard unsafe !record.value.isAbsent else {
          status = unsafe call.pass.stage(.field(record.a, nil), in: hook, of: stage)
          break
        }
        guard let value = unsafe kept(record.value, isCounted) else { return nil }
        status = unsafe call.pass.stage(.field(record.a, value), in: hook, of: stage)
      case Int(CCROSSING_EMIT.rawValue):
        guard let value = unsafe kept(record.value, isCounted) else { return nil }
        status = unsafe call.pass.stage(.element(record.a, value, record.b), in: hook, of: stage)
      case Int(CCROSSING_ERROR_SET.rawValue): status = unsafe error(record, records.next())
      case Int(CCROSSING_RETRY.rawValue): status = unsafe call.pass.stage(.retry(record.a, record.number), in: hook, of: stage)
      case Int(CCROSSING_HEAD_SET.rawValue): status = unsafe head(record, &records)
      case Int(CCROSSING_BAG_SET.rawValue): status = unsafe baggage(record)
      case Int(CCROSSING_LOG_LINE.rawValue):
        if unsafe process.mayLog(record.value) {
          unsafe HostFunctions.log(stage.plugin.selfID, record.a, record.b == 1 ? 0 : call.handle, record.value)
        }
        status = Status.ok
      case Int(CCROSSING_FAILURE.rawValue):
        var record = unsafe record
        unsafe record.value = unsafe reason(record.value)
        unsafe call.remote.loss = unsafe failure(WorkerRefusal(record))
        status = Status.ok
      default: status = nil
      }
      guard status == Status.ok else {
        return unsafe status.map { unsafe "edit \(record.kind) is not permitted in \(hook.name) (status \($0))" }
          ?? "there is no edit \(record.kind)"
      }
    }
    return unsafe records.problem
  }

  /// The error of a hook that the worker failed, and not its plugin.
  private func failure(_ refusal: WorkerRefusal) -> PluginError {
    let text = unsafe stage.plugin.options.redaction(refusal.text)
    guard refusal.flags & UInt32(CRB_ERROR_PLUGIN_FAULT) == 0 else { return unsafe .fault(stage.plugin.name, hook, text) }
    var error = unsafe PluginError(
      code: .failed, entry: stage.plugin.name, hook: hook.name, message: text, pluginCode: refusal.status, flags: refusal.flags)
    error.countsForBreaker = false
    return error
  }

  private func header(_ record: WorkerRecord) -> crb_status {
    guard let isASCII = unsafe HostFunctions.isASCIIField(record.name, record.value) else { return Status.invalid }
    return unsafe call.pass.stageHeader(record.name, record.value, record.a, isASCII: isASCII, in: hook, of: stage)
  }

  /// A value that the host keeps for the call; nil, and the call fails, if the worker has too much there.
  private func kept(_ value: crb_view, _ isCounted: Bool) -> Data? {
    guard isCounted, unsafe !value.bytes.isEmpty else { return unsafe Data(value.bytes) }
    let (account, count) = unsafe (process.counters.held, value.bytes.count)
    guard account.take(count) else {
      unsafe call.remote.loss = unsafe tooMuch()
      return nil
    }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
    unsafe UnsafeMutableRawBufferPointer(start: memory, count: count).copyMemory(from: value.bytes)
    return unsafe Data(
      bytesNoCopy: memory, count: count,
      deallocator: .custom { memory, count in
        unsafe memory.deallocate()
        account.give(count)
      })
  }

  private func tooMuch() -> PluginError {
    var error = unsafe PluginError(
      code: .failed, entry: stage.plugin.name, hook: hook.name,
      message:
        "the host keeps as many bytes of the worker's answers as the worker may have memory (\(process.settings.memoryBytes)); raise "
        + "isolation: {memory} of the entry, or send fewer requests at once",
      flags: UInt32(CRB_ERROR_LIMIT))
    error.countsForBreaker = false
    return error
  }

  /// The text of an error, which is logged with the request. A long one counts as a line of the log.
  private func reason(_ text: crb_view) -> crb_view {
    let count = unsafe min(text.bytes.count, PluginError.maximumMessageBytes)
    guard unsafe count > Self.freeBytes, unsafe !process.counters.log.admits(count) else { return unsafe text }
    return unsafe crb_view(ptr: text.ptr, len: Self.freeBytes)
  }

  private func error(_ record: WorkerRecord, _ more: WorkerRecord?) -> crb_status? {
    guard let more = unsafe more, unsafe more.kind == CCROSSING_ERROR_MORE.rawValue else { return nil }
    var error = unsafe crb_error()
    unsafe error.size = UInt32(MemoryLayout<crb_error>.size)
    unsafe error.code = unsafe Int32(bitPattern: record.a)
    unsafe error.flags = unsafe record.b
    unsafe error.http_status = unsafe Int32(bitPattern: more.a)
    unsafe error.retry_after_ns = unsafe record.number
    unsafe error.domain = unsafe record.name
    unsafe error.message = unsafe reason(record.value)
    unsafe error.detail_json = unsafe more.value
    return unsafe call.pass.stage(.error(error), in: hook, of: stage)
  }

  private func head(_ record: WorkerRecord, _ records: inout WorkerRecords) -> crb_status? {
    guard unsafe record.number <= UInt64(HostFunctions.maximumHeaders) else { return Status.invalid }
    var fields: [crb_header] = unsafe []
    for _ in unsafe 0..<record.number {
      guard let field = unsafe records.next(), unsafe field.kind == CCROSSING_HEAD_FIELD.rawValue else { return nil }
      unsafe fields.append(crb_header(name: field.name, value: field.value, flags: field.a, reserved: 0))
    }
    return unsafe fields.withUnsafeBufferPointer { fields in
      var head = unsafe crb_head()
      unsafe head.size = UInt32(MemoryLayout<crb_head>.size)
      unsafe head.status = unsafe record.a
      unsafe head.http_version = unsafe record.b
      unsafe head.headers = fields.baseAddress
      unsafe head.header_count = fields.count
      return unsafe call.pass.stage(.head(head), in: hook, of: stage)
    }
  }

  private func baggage(_ record: WorkerRecord) -> crb_status {
    guard let name = unsafe process.keyName(record.a) else { return Status.invalid }
    var value = unsafe crb_value()
    unsafe value.type = unsafe record.b & 0xFF
    unsafe value.n.i = unsafe Int64(bitPattern: record.number)
    unsafe value.v = unsafe record.value
    guard let decoded = unsafe value.decoded else { return Status.invalid }
    return unsafe call.pass.stage(.baggage(name, record.b >> 8, decoded.value), in: hook, of: stage)
  }
}
