internal import CTestHost
package import CarabinerWire

/// A function on the stack of the thread that ended a process.
package struct StackFrame: Sendable, Hashable {
  /// The path of its library: of the plugin as the caller names it, or of another library.
  package let library: String
  package let isOfPlugin: Bool
  /// The offset of its instruction in the library.
  package let offset: UInt64
  /// Its name; nil if the library does not have it.
  package var function: String?
  /// The file and the line in the source; nil without debug information.
  package var file: String?
  package var line: Int?

  init(library: String, isOfPlugin: Bool, offset: UInt64) {
    self.library = library
    self.isOfPlugin = isOfPlugin
    self.offset = offset
  }

  /// `plugin.so+0x1139`.
  package var instruction: String {
    "\(library.split(separator: "/").last.map(String.init) ?? library)+0x\(String(offset, radix: 16))"
  }

  /// The file with the line; nil without debug information.
  package var place: String? { file.flatMap { file in line.map { "\(file):\($0)" } } }

  package var text: String {
    let name = [function, place.map { function == nil ? $0 : "at \($0)" }].compactMap(\.self).joined(separator: " ")
    return name.isEmpty ? instruction : "\(name) (\(instruction))"
  }

  package var json: JSONValue {
    var members: JSONObject = ["library": .string(library), "offset": .string("0x\(String(offset, radix: 16))")]
    if let function { members["function"] = .string(function) }
    if let file { members["file"] = .string(file) }
    if let line { members["line"] = .number(JSONNumber(line)) }
    return .object(members)
  }

  /// The frames down to the last one of the plugin; some of the innermost ones if there is none of the plugin.
  static func relevant(_ frames: [StackFrame]) -> [StackFrame] {
    guard let last = frames.lastIndex(where: \.isOfPlugin) else { return Array(frames.prefix(maximumForeign)) }
    return Array(frames[...last])
  }

  private static let maximumForeign = 8
}

extension ChildStatusRecord {
  /// The stack of the thread that a signal ended, the innermost frame first; empty if there is none.
  func stack(of signal: Int32) -> [RecordedFrame] {
    guard unsafe CTestHost_stackSignal(record) == signal else { return [] }
    return unsafe (0..<CTestHost_frameCount(record)).map { unsafe RecordedFrame(CTestHost_frameAt(record, $0)) }
  }
}
