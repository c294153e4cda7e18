internal import CTestHost
internal import Glibc

/// The child's side of the flight record.
enum FlightRecord {
  /// The descriptor of the record's memory, which the supervisor passes.
  static let descriptor: Int32 = 4

  /// The record; nil in a process without a supervisor.
  nonisolated(unsafe) static let shared: UnsafeMutablePointer<CTestHost_record>? = unsafe CTestHost_mapRecord(descriptor)

  /// Records the hook of the plugin, or the step of the check.
  static func note(_ text: String, inHook: Bool) {
    guard let record = unsafe shared else { return }
    var text = text
    text.withUTF8 { bytes in
      let field = unsafe UnsafeMutableRawPointer(record) + (inHook ? hookOffset : stepOffset)
      unsafe CTestHost_note(field.assumingMemoryBound(to: CChar.self), bytes.baseAddress, bytes.count)
    }
  }

  /// Keeps an event, if the child is traced.
  static func trace(_ kind: Int, _ text: String) {
    guard CTestHost_isTracing() != 0 else { return }
    var text = text
    text.withUTF8 { unsafe CTestHost_event(UInt32(kind), $0.baseAddress, $0.count) }
  }

  /// The last hook of the plugin, in this process or a copy of it; nil if there was none.
  static var hook: String? {
    guard let record = unsafe shared else { return nil }
    let field = unsafe UnsafeMutableRawPointer(record) + hookOffset
    let text = unsafe String(cString: field.assumingMemoryBound(to: CChar.self))
    return text.isEmpty ? nil : text
  }

  /// Returns the number that marks the lines of the child's report, and removes it. The plugin is loaded later, so it cannot find
  /// the number.
  static func takeNonce() -> String {
    guard let record = unsafe shared else { return "" }
    let field = unsafe UnsafeMutableRawPointer(record) + nonceOffset
    defer { unsafe field.initializeMemory(as: UInt8.self, repeating: 0, count: Int(CTESTHOST_TEXT_MAX)) }
    return unsafe String(cString: field.assumingMemoryBound(to: CChar.self))
  }

  static let nonceOffset = MemoryLayout<CTestHost_record>.offset(of: \.nonce) ?? 0
  static let stepOffset = MemoryLayout<CTestHost_record>.offset(of: \.step) ?? 0
  static let hookOffset = MemoryLayout<CTestHost_record>.offset(of: \.hook) ?? 0
}
