internal import CLaboratory
internal import Glibc

/// The child's side of the flight record.
enum LaboratoryRecord {
  /// The number the supervisor passes the record's memory under.
  static let descriptor: Int32 = 4

  /// The record; nil in a process without a supervisor.
  nonisolated(unsafe) static let shared: UnsafeMutablePointer<CLaboratory_record>? = unsafe CLaboratory_mapRecord(descriptor)

  /// Says which hook the plugin is in, or what the check is doing.
  static func note(_ text: String, inHook: Bool) {
    guard let record = unsafe shared else { return }
    var text = text
    text.withUTF8 { bytes in
      let field = unsafe UnsafeMutableRawPointer(record) + (inHook ? hookOffset : stepOffset)
      unsafe CLaboratory_note(field.assumingMemoryBound(to: CChar.self), bytes.baseAddress, bytes.count)
    }
  }

  /// Keeps an event, if somebody wants a trace.
  static func trace(_ kind: Int, _ text: String) {
    guard CLaboratory_isTracing() != 0 else { return }
    var text = text
    text.withUTF8 { unsafe CLaboratory_event(UInt32(kind), $0.baseAddress, $0.count) }
  }

  /// The hook the plugin was in last, in this process or a copy of it; nil if in none.
  static var hook: String? {
    guard let record = unsafe shared else { return nil }
    let field = unsafe UnsafeMutableRawPointer(record) + hookOffset
    let text = unsafe String(cString: field.assumingMemoryBound(to: CChar.self))
    return text.isEmpty ? nil : text
  }

  /// The number that marks what we say as ours; the plugin, which comes later, does not find it here.
  static func takeNonce() -> String {
    guard let record = unsafe shared else { return "" }
    let field = unsafe UnsafeMutableRawPointer(record) + nonceOffset
    defer { unsafe field.initializeMemory(as: UInt8.self, repeating: 0, count: Int(CLABORATORY_TEXT_MAX)) }
    return unsafe String(cString: field.assumingMemoryBound(to: CChar.self))
  }

  static let nonceOffset = MemoryLayout<CLaboratory_record>.offset(of: \.nonce) ?? 0
  static let stepOffset = MemoryLayout<CLaboratory_record>.offset(of: \.step) ?? 0
  static let hookOffset = MemoryLayout<CLaboratory_record>.offset(of: \.hook) ?? 0
}
