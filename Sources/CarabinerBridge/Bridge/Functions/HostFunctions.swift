package import CCarabiner
internal import Carabiner
internal import CarabinerABI
internal import CarabinerManifest
internal import CarabinerWire
internal import FoundationEssentials
internal import Logging
internal import Synchronization

/// The host's side of the functions in `crb_host`.
package enum HostFunctions {
  /// How large one buffer may be, 256 MiB.
  static let maximumBufferBytes = 256 << 20
  /// How much scratch memory one call may take, 16 MiB.
  static let maximumScratchBytes = 16 << 20
  /// How many headers one head or request may have.
  package static let maximumHeaders = 1024
  /// How many elements one hook may stage.
  static let maximumStagedElements = 65_536
  /// How many bytes they may have together, 256 MiB.
  static let maximumStagedBytes = 256 << 20

  // MARK: Memory

  static func scratch(_ call: crb_call, _ count: Int, _ alignment: Int) -> UnsafeMutableRawPointer? {
    guard alignment > 0, alignment & (alignment - 1) == 0, count >= 0, count <= maximumScratchBytes, alignment <= 4096
    else { return nil }
    var memory: UnsafeMutableRawPointer?
    _ = CallTable.shared.enter(call) { call, _, _ in
      unsafe memory = unsafe call.memory.scratch.allocate(max(count, 1), alignment: alignment, limit: maximumScratchBytes)
      return Status.ok
    }
    return unsafe memory
  }

  // MARK: Waiting

  package static func suspend(_ call: crb_call) -> crb_token {
    var token: crb_token = 0
    _ = CallTable.shared.enter(call) { call, _, _ in
      guard let generation = call.suspended.arm() else { return Status.state }
      token = call.token(generation)
      return Status.ok
    }
    return token
  }

  package static func resume(_ token: crb_token, _ verdict: crb_verdict) -> crb_status {
    // No verdict has more than 15 bits. A larger number becomes an invalid verdict, which the host reports.
    let verdict = Int16(exactly: verdict).map(crb_verdict.init) ?? (verdict < 0 ? -1 : crb_verdict(Int16.max) - 1)
    guard let call = CallTable.shared.call(at: Int(token >> 32) - 1) else { return Status.invalid }
    if call.suspended.resume(generation: UInt32(truncatingIfNeeded: token), verdict: verdict) { return Status.ok }
    Quarantine.shared.noteResumed(token)
    return Status.stale
  }

  static func attempt(_ call: crb_call) -> UInt32 {
    guard let call = CallTable.shared.find(call) else { return 0 }
    return call.attempt.load(ordering: .relaxed)
  }

  // MARK: Answering

  static func emit(_ call: crb_call, _ kind: UInt32, _ buffer: crb_buf, _ flags: UInt32) -> crb_status {
    let bytes: Data
    switch BufferTable.shared.consume(buffer) {
    case .data(let data): bytes = data
    case .stale: return CallTable.shared.find(call) == nil ? Status.stale : Status.invalid
    case .noMemory: return Status.noMemory
    }
    return CallTable.shared.enter(call) { unsafe $0.pass.stage(.element(kind, bytes, flags), in: $1, of: $2) }
  }

  static func setError(_ call: crb_call, _ error: UnsafePointer<crb_error>?) -> crb_status {
    guard let error = unsafe error else { return Status.invalid }
    return CallTable.shared.enter(call) {
      unsafe $0.pass.stage(.error(InterceptorTable.copy(error, crb_error())), in: $1, of: $2)
    }
  }

  static func setRetry(_ call: crb_call, _ scope: UInt32, _ delay: UInt64) -> crb_status {
    CallTable.shared.enter(call) { unsafe $0.pass.stage(.retry(scope, delay), in: $1, of: $2) }
  }

  static func setHead(_ call: crb_call, _ head: UnsafePointer<crb_head>?) -> crb_status {
    guard let head = unsafe head else { return Status.invalid }
    return CallTable.shared.enter(call) {
      unsafe $0.pass.stage(.head(InterceptorTable.copy(head, crb_head())), in: $1, of: $2)
    }
  }

  // MARK: Facts

  static func operationType(_ call: crb_call) -> UInt32 {
    switch CallTable.shared.find(call)?.operation.load(ordering: .relaxed) {
    case let type? where type != 0: UInt32(type)
    default: 0
    }
  }

  static func requestID(_ call: crb_call) -> UInt64 {
    CallTable.shared.find(call)?.requestID.load(ordering: .relaxed) ?? 0
  }

  // MARK: Baggage

  static func baggageGet(_ call: crb_call, _ key: crb_key, _ out: UnsafeMutablePointer<crb_value>?) -> crb_status {
    guard let out = unsafe out, let name = BaggageKeys.name(of: key) else { return Status.invalid }
    return CallTable.shared.enter(call) { call, _, _ in
      guard let value = call.pass.visibleBaggage(name) else { return Status.notFound }
      unsafe out.pointee = unsafe call.memory.encode(value)
      return Status.ok
    }
  }

  static func baggageSet(
    _ call: crb_call, _ key: crb_key, _ scope: UInt32, _ value: UnsafePointer<crb_value>?
  ) -> crb_status {
    guard let value = unsafe value, let name = BaggageKeys.name(of: key), let decoded = unsafe value.pointee.decoded else {
      return Status.invalid
    }
    return CallTable.shared.enter(call) { unsafe $0.pass.stage(.baggage(name, scope, decoded.value), in: $1, of: $2) }
  }

  // MARK: Logs

  /// A line longer than this is cut.
  package static let maximumLogBytes = 16_384

  package static func logEnabled(_ who: crb_self, _ level: UInt32) -> Int32 {
    guard let logger = PluginRegistry.shared.caller(who)?.logger, let level = Logger.Level(level) else { return 0 }
    return level >= logger.logLevel ? 1 : 0
  }

  package static func log(_ who: crb_self, _ level: UInt32, _ call: crb_call, _ message: crb_view) {
    guard let member = PluginRegistry.shared.caller(who), let level = Logger.Level(level), level >= member.logger.logLevel
    else { return }
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: message.bytes.prefix(maximumLogBytes))
    let text = unsafe PrintableText.escaping(bytes)
    let request = CallTable.shared.find(call)?.requestID.load(ordering: .relaxed)
    member.logger.log(level: level, "\(member.redaction(text))", metadata: request.map { ["request": "\($0)"] })
  }
}

extension Logger.Level {
  fileprivate init?(_ level: UInt32) {
    switch Int(level) {
    case CRB_LOG_TRACE: self = .trace
    case CRB_LOG_DEBUG: self = .debug
    case CRB_LOG_INFO: self = .info
    case CRB_LOG_WARN: self = .warning
    case CRB_LOG_ERROR: self = .error
    default: return nil
    }
  }
}
