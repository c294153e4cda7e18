internal import CCarabiner

/// The host, as a plugin's instance sees it.
@safe public struct PluginHost: @unchecked Sendable {
  // The table is the host's, static and read-only; its functions say themselves which threads may call them.

  let table: UnsafePointer<crb_host>
  let identity: crb_self

  /// How important a log line is.
  public enum LogLevel: UInt32, Sendable {
    case trace, debug, info, warning, error
  }

  /// Writes a line to the host's log.
  public func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
    guard unsafe table.pointee.log_enabled(identity, level.rawValue) != 0 else { return }
    var text = message()
    text.withUTF8 { unsafe table.pointee.log(identity, level.rawValue, 0, crb_view(ptr: $0.baseAddress, len: $0.count)) }
  }

  /// CLOCK_MONOTONIC in nanoseconds.
  public var nowNanoseconds: UInt64 {
    guard let service = unsafe service("crb.timer/1", as: crb_timer_service.self) else { return 0 }
    return unsafe service.pointee.now_ns()
  }

  func service<Table>(_ id: String, as type: Table.Type) -> UnsafePointer<Table>? {
    unsafe id.withCString { unsafe table.pointee.query(identity, $0)?.assumingMemoryBound(to: type) }
  }
}
