internal import CCarabiner
internal import CCrossing
internal import Carabiner
internal import CarabinerABI
internal import CarabinerBridge
internal import FoundationEssentials
internal import Synchronization

/// The requests of workers to the host: checks, services and lines for the log. Nothing here waits: the reader's thread runs it.
enum WorkerServices {
  /// The operation of a worker that `done()` ends.
  private final class Pending: Sendable {
    let process: WeakProcess
    let instance: UInt32
    let number: UInt64

    init(_ process: WorkerProcess, _ callback: WorkerCallback) {
      self.process = WeakProcess(value: process)
      instance = callback.instance
      number = callback.number
    }

    var context: UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(self).toOpaque() }

    static func taken(_ context: UnsafeMutableRawPointer?) -> Pending? {
      unsafe context.map { unsafe Unmanaged<Pending>.fromOpaque($0).takeRetainedValue() }
    }
  }

  private struct WeakProcess: Sendable {
    weak let value: WorkerProcess?
  }

  /// Answers a callback.
  static func answer(_ callback: WorkerCallback, of process: WorkerProcess) {
    process.control.reply(to: callback, status(callback, process))
  }

  private static func status(_ callback: WorkerCallback, _ process: WorkerProcess) -> crb_status {
    let instance = process.owner.withLock(\.value)?.instance(callback.instance)
    if let kind = kind(of: callback) { process.counters.note(kind) }
    return unsafe callback.message.withUnsafeBytes { bytes -> crb_status in
      switch Int(callback.request) {
      case Int(CCROSSING_CHECK.rawValue): return unsafe check(callback.argument, bytes, process)
      case Int(CCROSSING_KEY.rawValue): return unsafe key(callback.argument, bytes, process)
      case Int(CCROSSING_LOG.rawValue):
        guard let instance else { return Status.stale }
        return unsafe each(bytes, process) { record in
          guard unsafe record.kind == CCROSSING_LINE.rawValue else { return false }
          if unsafe process.mayLog(record.value) { unsafe instance.log(callback.argument, record.value) }
          return true
        }
      case Int(CCROSSING_FETCH.rawValue):
        guard let instance else { return Status.stale }
        guard isGranted("fetch", to: instance, process) else { return Status.unsupported }
        return unsafe fetch(bytes, Pending(process, callback), instance, process)
      case Int(CCROSSING_STORE.rawValue):
        guard let instance else { return Status.stale }
        guard isGranted("store", to: instance, process) else { return Status.unsupported }
        return unsafe store(callback.argument, bytes, Pending(process, callback), instance, process)
      default:
        process.stop(.brokeProtocol("there is no callback \(callback.request)"))
        return Status.invalid
      }
    }
  }

  private static func kind(of callback: WorkerCallback) -> WorkerCounters.Upcall? {
    switch Int(callback.request) {
    case Int(CCROSSING_CHECK.rawValue): .check
    case Int(CCROSSING_KEY.rawValue): .key
    case Int(CCROSSING_LOG.rawValue): .log
    case Int(CCROSSING_FETCH.rawValue): .fetch
    case Int(CCROSSING_STORE.rawValue): .store
    default: nil
    }
  }

  /// Reads the records of a request. If it has records that do not belong to the request, the worker is ended.
  ///
  /// - Parameter body: Whether the request has such a record.
  private static func each(
    _ bytes: UnsafeRawBufferPointer, _ process: WorkerProcess, _ body: (WorkerRecord) -> Bool
  ) -> crb_status {
    var records = unsafe WorkerRecords(bytes)
    while let record = unsafe records.next() {
      guard unsafe body(record) else {
        process.stop(.brokeProtocol(unsafe "a request of the worker has a record \(record.kind) that it cannot have"))
        return Status.invalid
      }
    }
    guard let problem = unsafe records.problem else { return Status.ok }
    process.stop(.brokeProtocol(problem))
    return Status.invalid
  }

  /// Whether an instance has a service. The worker's own code does not send the request of one without.
  private static func isGranted(_ service: String, to instance: WorkerInstance, _ process: WorkerProcess) -> Bool {
    if instance.options.grants.contains(service) { return true }
    process.stop(.brokeProtocol("it used \(service), which \(instance.name) is not granted"))
    return false
  }

  /// Whether bytes may be a part of a message.
  private static func check(_ part: UInt32, _ bytes: UnsafeRawBufferPointer, _ process: WorkerProcess) -> crb_status {
    var isAcceptable = false
    let status = unsafe each(bytes, process) { record in
      guard unsafe record.kind == CCROSSING_BODY.rawValue else { return false }
      isAcceptable = unsafe HostFunctions.isAcceptable(Data(record.value.bytes), as: Parts(rawValue: part))
      return true
    }
    return status == Status.ok && isAcceptable ? Status.ok : Status.invalid
  }

  private static func key(_ key: UInt32, _ bytes: UnsafeRawBufferPointer, _ process: WorkerProcess) -> crb_status {
    var isAdded = false
    let status = unsafe each(bytes, process) { record in
      guard unsafe record.kind == CCROSSING_LINE.rawValue, !isAdded else { return false }
      isAdded = unsafe record.value.len <= BaggageKeys.maximumNameBytes && process.add(key: key, record.value.text)
      return true
    }
    return status != Status.ok ? status : isAdded ? Status.ok : Status.limit
  }

  // MARK: crb.fetch/1

  private static func fetch(
    _ bytes: UnsafeRawBufferPointer, _ pending: Pending, _ instance: WorkerInstance, _ process: WorkerProcess
  ) -> crb_status {
    var request = unsafe crb_fetch_request()
    unsafe request.size = UInt32(MemoryLayout<crb_fetch_request>.size)
    var fields: [crb_header] = unsafe []
    let form = unsafe each(bytes, process) { record in
      switch unsafe Int(record.kind) {
      case Int(CCROSSING_REQUEST.rawValue):
        unsafe request.flags = unsafe record.a
        unsafe request.timeout_ns = unsafe record.number
        unsafe request.method = unsafe record.name
        unsafe request.url = unsafe record.value
      case Int(CCROSSING_FIELD.rawValue):
        guard unsafe fields.count < PluginFetch.maximumHeaders else { return false }
        unsafe fields.append(crb_header(name: record.name, value: record.value, flags: record.a, reserved: 0))
      case Int(CCROSSING_BODY.rawValue): unsafe request.body = unsafe record.value
      default: return false
      }
      return true
    }
    guard form == Status.ok else { return form }
    guard let account = process.fetches[pending.instance] else { return Status.stale }
    let context = unsafe pending.context
    let status = unsafe fields.withUnsafeBufferPointer { fields in
      unsafe request.headers = fields.baseAddress
      unsafe request.header_count = fields.count
      return unsafe PluginFetch.start(instance.who, &request, fetched, context, account: account)
    }
    if status != Status.ok { _ = unsafe Pending.taken(context) }
    return status
  }

  private static let fetched: PluginFetch.Done = { context, head, body, error in
    guard let pending = unsafe Pending.taken(context) else { return }
    var message = WorkerMessage()
    if let error = unsafe error {
      unsafe add(error.pointee, to: &message)
    } else if let head = unsafe head {
      message.add(
        Int(CCROSSING_RESPONSE.rawValue), a: unsafe head.pointee.status, b: unsafe head.pointee.http_version,
        value: unsafe Array(head.pointee.url.bytes))
      let fields = unsafe UnsafeBufferPointer(start: head.pointee.headers, count: head.pointee.header_count)
      for index in fields.indices {
        let field = unsafe fields[index]
        message.add(
          Int(CCROSSING_FIELD.rawValue), a: unsafe field.flags, name: unsafe Array(field.name.bytes),
          value: unsafe Array(field.value.bytes))
      }
      message.add(Int(CCROSSING_BODY.rawValue), value: unsafe Array(body.bytes))
    }
    finish(pending, CCROSSING_FETCHED, message)
  }

  // MARK: crb.store/1

  private static func store(
    _ operation: UInt32, _ bytes: UnsafeRawBufferPointer, _ pending: Pending, _ instance: WorkerInstance, _ process: WorkerProcess
  ) -> crb_status {
    var keys: [crb_view] = unsafe []
    var body = unsafe crb_view.absent
    let form = unsafe each(bytes, process) { record in
      switch unsafe Int(record.kind) {
      case Int(CCROSSING_KEY_TEXT.rawValue):
        guard unsafe keys.count < Int(CRB_STORE_MAX_KEYS) else { return false }
        unsafe keys.append(record.value)
      case Int(CCROSSING_BODY.rawValue): unsafe body = unsafe record.value
      default: return false
      }
      return true
    }
    guard form == Status.ok else { return form }
    let context = unsafe pending.context
    let status = unsafe keys.withUnsafeBufferPointer { keys in
      switch operation {
      case CCROSSING_STORE_LOAD.rawValue: unsafe PluginStore.load(instance.who, keys.baseAddress, keys.count, stored, context)
      case CCROSSING_STORE_PUBLISH.rawValue: unsafe PluginStore.publish(instance.who, body, stored, context)
      case CCROSSING_STORE_REMOVE.rawValue:
        unsafe PluginStore.remove(instance.who, keys.baseAddress, keys.count, stored, context)
      case CCROSSING_STORE_REMOVE_MATCHING.rawValue:
        unsafe PluginStore.removeMatching(instance.who, keys.first ?? .absent, stored, context)
      default: Status.invalid
      }
    }
    if status != Status.ok { _ = unsafe Pending.taken(context) }
    return status
  }

  private static let stored: PluginStore.Done = { context, answer, error in
    guard let pending = unsafe Pending.taken(context) else { return }
    var message = WorkerMessage()
    if let error = unsafe error {
      unsafe add(error.pointee, to: &message)
    } else if let answer = unsafe answer {
      let records = unsafe answer.pointee.records
      message.add(
        Int(CCROSSING_STORE_ANSWER.rawValue), number: unsafe answer.pointee.count,
        value: unsafe records.isAbsent ? nil : Array(records.bytes))
    }
    finish(pending, CCROSSING_STORED, message)
  }

  // MARK: The end of an operation

  private static func add(_ error: crb_error, to message: inout WorkerMessage) {
    message.add(
      Int(CCROSSING_ERROR_SET.rawValue), a: unsafe UInt32(bitPattern: error.code), b: unsafe error.flags,
      number: unsafe error.retry_after_ns, name: unsafe Array(error.domain.bytes), value: unsafe Array(error.message.bytes))
    message.add(
      Int(CCROSSING_ERROR_MORE.rawValue), a: unsafe UInt32(bitPattern: error.http_status),
      value: unsafe error.detail_json.isAbsent ? nil : Array(error.detail_json.bytes))
  }

  private static func finish(_ pending: Pending, _ operation: CCrossing_operation, _ message: WorkerMessage) {
    guard let process = pending.process.value else { return }
    process.notify(operation, argument: pending.number, instance: pending.instance, message)
  }
}
