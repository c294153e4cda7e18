internal import CTestHost
internal import CarabinerWire

/// A place of an instruction as a child knows it, which does not know what the plugin is called.
struct RecordedFrame: Sendable, Hashable {
  /// The path of its library as the dynamic linker knows it; empty for the program.
  let library: String
  let offset: UInt64

  init(library: String, offset: UInt64) {
    self.library = library
    self.offset = offset
  }

  /// A frame that this process or another one has recorded.
  init(_ frame: CTestHost_frame) {
    library = unsafe withUnsafeBytes(of: frame.library) { unsafe ChildStatusRecord.text(in: $0) }
    offset = frame.offset
  }

  /// The instruction that accessed guarded memory, and the calls around it.
  static func calls(of touch: CTestHost_touch) -> [RecordedFrame] {
    let addresses = unsafe withUnsafeBytes(of: touch.calls) { unsafe Array($0.bindMemory(to: UInt64.self)) }
    let frames = addresses.prefix { $0 != 0 }.map { RecordedFrame(CTestHost_frameOf($0)) }
    // The check itself found a second free().
    return Array(frames.drop { $0.library.isEmpty })
  }

  var json: JSONValue { .array([.string(library), .string(String(offset))]) }

  init?(_ json: JSONValue) {
    guard let library = json[0]?.string, let offset = json[1]?.string.flatMap({ UInt64($0) }) else { return nil }
    self.init(library: library, offset: offset)
  }
}
