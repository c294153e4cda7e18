internal import CarabinerBridge

/// The hardening options of the linker.
extension SharedObject {
  private static let loadSegment: UInt32 = 1
  private static let stackSegment: UInt32 = 0x6474_E551
  private static let readOnlyAfterRelocationSegment: UInt32 = 0x6474_E552
  private static let executable: UInt32 = 1
  private static let writable: UInt32 = 2

  /// Whether relocations write to its code (DT_TEXTREL, DF_TEXTREL).
  var hasTextRelocations: Bool { self[.textRelocations] != nil || has(4, in: .flags) }

  /// Whether it makes the stacks of the whole process executable: with a flag, or without the segment that forbids it.
  var wantsExecutableStack: Bool {
    guard let stack = image.segments.first(where: { $0.type == Self.stackSegment }) else { return true }
    return stack.flags & Self.executable != 0
  }

  /// Whether some of its memory is writable and executable at once.
  var hasWritableCode: Bool {
    image.segments.contains { $0.type == Self.loadSegment && $0.flags & Self.writable != 0 && $0.flags & Self.executable != 0 }
  }

  /// Whether the addresses of imports can be made read-only (PT_GNU_RELRO).
  var protectsImports: Bool { image.segments.contains { $0.type == Self.readOnlyAfterRelocationSegment } }

  /// Whether all imports are bound when it is loaded (DT_BIND_NOW, DF_BIND_NOW, DF_1_NOW).
  var bindsAtOnce: Bool { self[.bindNow] != nil || has(8, in: .flags) || has(1, in: .flags1) }

  /// Whether it needs static thread-local storage (DF_STATIC_TLS).
  var needsStaticThreadMemory: Bool { has(16, in: .flags) }
}
