internal import CCarabiner
internal import CarabinerABI
internal import CarabinerWorkers

/// The services of the test host for a plugin in a worker.
struct WorkerServiceAnswers {
  /// An operation, from its start to done().
  private final class Operation: Sendable {
    let worker: WatchedWorker
    let number: UInt64

    init(_ worker: WatchedWorker, _ number: UInt64) {
      self.worker = worker
      self.number = number
    }

    var context: UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(self).toOpaque() }

    static func taken(_ context: UnsafeMutableRawPointer?) -> Operation? {
      unsafe context.map { unsafe Unmanaged<Operation>.fromOpaque($0).takeRetainedValue() }
    }
  }

  private let worker: WatchedWorker
  private let question: WatchedWorker.Question

  init(_ worker: WatchedWorker, _ question: WatchedWorker.Question) {
    self.worker = worker
    self.question = question
  }

  /// Starts a fetch.
  func fetch() -> crb_status {
    var memory = GuardedMemory(isGuarded: false)
    defer { memory.takeBack() }
    guard let first = question.records.first else { return Status.invalid }
    var request = unsafe crb_fetch_request()
    unsafe request.size = UInt32(MemoryLayout<crb_fetch_request>.size)
    unsafe request.flags = first.a
    unsafe request.timeout_ns = first.number
    unsafe request.method = unsafe memory.view(first.name ?? [], named: "a method")
    unsafe request.url = unsafe memory.view(first.value ?? [], named: "a URL")
    var fields: [crb_header] = unsafe []
    for record in question.records.dropFirst() {
      if let name = record.name {
        unsafe fields.append(
          crb_header(
            name: memory.view(name, named: "a name"), value: memory.view(record.value ?? [], named: "a value"), flags: record.a,
            reserved: 0))
      } else if let body = record.value {
        unsafe request.body = unsafe memory.view(body, named: "a body")
      }
    }
    let context = unsafe Operation(worker, question.number).context
    let status = unsafe fields.withUnsafeBufferPointer { fields in
      unsafe request.headers = fields.baseAddress
      unsafe request.header_count = fields.count
      return unsafe TestHostServices.fetch.pointee.start(0, &request, Self.fetched, context)
    }
    if status != Status.ok { _ = unsafe Operation.taken(context) }
    return status
  }

  private static let fetched: TestHost.FetchDone = { context, head, body, error in
    guard let operation = unsafe Operation.taken(context) else { return }
    if let error = unsafe error { return unsafe operation.worker.fail(operation.number, isFetch: true, error) }
    guard let head = unsafe head else { return }
    let list = unsafe UnsafeBufferPointer(start: head.pointee.headers, count: head.pointee.header_count)
    let fields = list.indices.map { index in
      let field = unsafe list[index]
      return unsafe WatchedField(name: Array(field.name.bytes), value: Array(field.value.bytes), flags: field.flags)
    }
    unsafe operation.worker.finishFetch(
      operation.number, status: head.pointee.status, version: head.pointee.http_version, url: Array(head.pointee.url.bytes),
      fields: fields, body: Array(body.bytes))
  }

  /// Starts an operation of the store.
  func store(_ operation: UInt32) -> crb_status {
    var memory = GuardedMemory(isGuarded: false)
    defer { memory.takeBack() }
    var views: [crb_view] = unsafe []
    for record in question.records { unsafe views.append(memory.view(record.value ?? [], named: "a key")) }
    let context = unsafe Operation(worker, question.number).context
    let table = unsafe TestHostServices.store.pointee
    let status = unsafe views.withUnsafeBufferPointer { views in
      switch operation {
      case 0: unsafe table.load(0, views.baseAddress, views.count, Self.stored, context)
      case 1: unsafe table.publish(0, views.first ?? .absent, Self.stored, context)
      case 2: unsafe table.remove(0, views.baseAddress, views.count, Self.stored, context)
      default: unsafe table.remove_matching(0, views.first ?? .absent, Self.stored, context)
      }
    }
    if status != Status.ok { _ = unsafe Operation.taken(context) }
    return status
  }

  private static let stored:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<crb_store_answer>?, UnsafePointer<crb_error>?) -> Void = {
      context, answer, error in
      guard let operation = unsafe Operation.taken(context) else { return }
      if let error = unsafe error { return unsafe operation.worker.fail(operation.number, isFetch: false, error) }
      guard let answer = unsafe answer else { return }
      let records = unsafe answer.pointee.records
      unsafe operation.worker.finishStore(
        operation.number, count: answer.pointee.count, records: records.isAbsent ? nil : Array(records.bytes))
    }
}
