internal import CCarabiner

/// The host of a plugin's instance. The value may be stored.
@safe public struct PluginHost: @unchecked Sendable {
  // Safe: the tables are static and read-only. The header defines which threads may call their functions.

  let table: UnsafePointer<crb_host>
  let identity: crb_self
  let timer: UnsafePointer<crb_timer_service>?
  /// The timers and tasks that the instance has started.
  let work: InstanceWork

  init(_ table: UnsafePointer<crb_host>, _ identity: crb_self) {
    unsafe self.table = unsafe table
    self.identity = identity
    unsafe timer = unsafe table.pointee.query(identity, "crb.timer/1")?.assumingMemoryBound(to: crb_timer_service.self)
    work = unsafe InstanceWork(table, timer)
  }

  // The service is queried when it is used, because `carabiner check` reports each query without a grant.
  var fetching: UnsafePointer<crb_fetch_service>? {
    unsafe table.pointee.query(identity, "crb.fetch/1")?.assumingMemoryBound(to: crb_fetch_service.self)
  }
  var storing: UnsafePointer<crb_store_service>? {
    unsafe table.pointee.query(identity, "crb.store/1")?.assumingMemoryBound(to: crb_store_service.self)
  }

  /// The severity of a log line.
  public enum LogLevel: UInt32, Sendable {
    case trace, debug, info, warning, error
  }

  /// Whether the host logs lines of this level.
  public func keeps(_ level: LogLevel) -> Bool { unsafe table.pointee.log_enabled(identity, level.rawValue) != 0 }

  /// Writes a line to the host's log.
  public func log(_ level: LogLevel, _ message: @autoclosure () -> String) { log(level, message(), for: 0) }

  func log(_ level: LogLevel, _ message: @autoclosure () -> String, for call: crb_call) {
    guard keeps(level) else { return }
    unsafe message().withView { unsafe table.pointee.log(identity, level.rawValue, call, $0) }
  }

  /// Interns a baggage name, such as `org.example.user`. Do this once per name.
  ///
  /// - Throws: ``PluginFailure`` if the name is malformed or there are too many names.
  public func key(_ name: String) throws -> BaggageKey {
    let key = unsafe name.withView { unsafe table.pointee.key(identity, $0) }
    guard key != 0 else { throw PluginFailure("the host takes no baggage key \(name)") }
    return BaggageKey(raw: key)
  }
}
