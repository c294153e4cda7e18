internal import CCarabiner

/// A call in a hook of any stage.
///
/// The value may be passed on: work of a suspended hook keeps using it. Once the call has ended, the host refuses all
/// functions.
public protocol StageCall: Sendable {
  /// The call's handle and its host.
  var core: CallCore { get }
}

/// The type of an operation.
public enum OperationType: UInt32, Sendable {
  case query = 1
  case mutation
  case subscription
}

/// The host's handle of a call.
public struct CallCore: Sendable {
  let handle: crb_call
  let host: PluginHost
}

extension StageCall {
  /// The host.
  public var host: PluginHost { core.host }
  /// The number of the attempt, 0 for the first.
  public var attempt: Int { unsafe Int(core.host.table.pointee.attempt(core.handle)) }
  /// A number that all stages of the request share.
  public var requestID: UInt64 { unsafe core.host.table.pointee.request_id(core.handle) }
  /// The type of the operation; nil if the call has ended.
  public var operationType: OperationType? {
    unsafe OperationType(rawValue: core.host.table.pointee.operation_type(core.handle))
  }
  /// Whether the call was cancelled or has ended.
  public var isCancelled: Bool { unsafe core.host.table.pointee.cancelled(core.handle) != 0 }
  /// The call's deadline in nanoseconds of the host's clock; nil if it has none.
  public var deadlineNanoseconds: UInt64? {
    let deadline = unsafe core.host.table.pointee.deadline_ns(core.handle)
    return deadline == .max ? nil : deadline
  }
  /// Writes a line about this call to the host's log.
  public func log(_ level: PluginHost.LogLevel, _ message: @autoclosure () -> String) {
    core.host.log(level, message(), for: core.handle)
  }

  // MARK: Reading

  /// The first value of a header, by case-insensitive name; nil if there is none.
  ///
  /// - Throws: ``PluginFailure`` if this hook has no headers, or the stage does not declare them in `needs`.
  public func header(_ name: String) throws -> String? {
    var value = unsafe crb_view()
    let status = unsafe name.withView { unsafe core.host.table.pointee.header_get(core.handle, $0, &value) }
    guard status != crb_status(CRB_E_NOTFOUND) else { return nil }
    try PluginFailure.check(status, "a look at the header \(name)")
    return unsafe value.text
  }

  /// All header fields, in order.
  ///
  /// - Throws: ``PluginFailure``, like ``header(_:)``.
  public var headers: [(name: String, value: String)] {
    get throws {
      var fields: UnsafePointer<crb_header>?
      var count = 0
      try PluginFailure.check(
        unsafe core.host.table.pointee.headers(core.handle, &fields, &count), "a look at the headers")
      let all = unsafe UnsafeBufferPointer(start: fields, count: fields == nil ? 0 : count)
      return all.indices.map { unsafe (name: all[$0].name.text, value: all[$0].value.text) }
    }
  }

  /// A part of the message; nil if it is absent.
  ///
  /// - Throws: ``PluginFailure`` if this hook does not have the part, or the stage does not declare it in `needs`.
  public func part(_ part: Parts) throws -> [UInt8]? { unsafe try view(of: part).map { unsafe $0.array } }

  func text(of part: Parts) throws -> String? { unsafe try view(of: part).map { unsafe $0.text } }

  private func view(of part: Parts) throws -> crb_view? {
    var value = unsafe crb_view()
    let status = unsafe core.host.table.pointee.field_get(core.handle, part.rawValue, &value)
    guard status != crb_status(CRB_E_NOTFOUND) else { return nil }
    try PluginFailure.check(status, "a look at a part of the message")
    return unsafe value
  }

  // MARK: Staging

  func set(_ part: Parts, _ bytes: [UInt8], _ what: String) throws {
    let buffer = try core.host.buffer(bytes)
    try PluginFailure.check(
      unsafe core.host.table.pointee.field_set(core.handle, part.rawValue, buffer.take()), what)
  }

  func changeHeader(_ name: String, _ value: String?, _ flags: UInt32) throws {
    let status = unsafe name.withView { name in
      guard let value else {
        return unsafe core.host.table.pointee.header_set(core.handle, name, crb_view(ptr: nil, len: 0), 0)
      }
      return unsafe value.withView { unsafe core.host.table.pointee.header_set(core.handle, name, $0, flags) }
    }
    try PluginFailure.check(status, "the header \(name)")
  }

  func stage(_ kind: Int, _ bytes: consuming Buffer, _ flags: Int) throws {
    try PluginFailure.check(
      unsafe core.host.table.pointee.emit(core.handle, UInt32(kind), bytes.take(), UInt32(flags)), "the emitted data")
  }

  func again(_ scope: Int, _ delay: Duration) throws -> Verdict {
    try PluginFailure.check(
      unsafe core.host.table.pointee.set_retry(core.handle, UInt32(scope), delay.clampedNanoseconds), "the retry")
    return .retry
  }

  func stageHead(_ status: Int, _ headers: [(name: String, value: String)]) throws {
    let answer = unsafe HeaderBlock(headers).with { fields in
      var head = unsafe crb_head()
      unsafe head.size = unsafe UInt32(MemoryLayout<crb_head>.size)
      unsafe head.status = UInt32(clamping: status)
      unsafe head.headers = fields.baseAddress
      unsafe head.header_count = fields.count
      return unsafe core.host.table.pointee.set_head(core.handle, &head)
    }
    try PluginFailure.check(answer, "the head")
  }
}

extension CallCore {
  func setError(_ error: any Error) {
    let failure = error as? PluginFailure
    unsafe (failure?.description ?? "\(error)").withView { message in
      var raw = unsafe crb_error()
      unsafe raw.size = unsafe UInt32(MemoryLayout<crb_error>.size)
      if let failure {
        unsafe raw.code = failure.code
        unsafe raw.flags = failure.flags.rawValue
        unsafe raw.http_status = Int32(clamping: failure.httpStatus)
        unsafe raw.retry_after_ns = failure.retryAfter.clampedNanoseconds
      }
      unsafe raw.message = unsafe message
      guard let detail = failure?.detail else {
        _ = unsafe host.table.pointee.set_error(handle, &raw)
        return
      }
      unsafe detail.withView { detail in
        unsafe raw.detail_json = unsafe detail
        _ = unsafe host.table.pointee.set_error(handle, &raw)
      }
    }
  }
}
