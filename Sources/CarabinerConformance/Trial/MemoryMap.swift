/// The mappings of this process, from `/proc/self/maps`.
struct MemoryMap: Sendable {
  /// Pages with the same rights.
  struct Area: Sendable {
    let range: Range<UInt64>
    /// `r-xp`
    let rights: String
    /// The file, or a name in brackets; empty for anonymous memory.
    let name: String

    var isWritable: Bool { rights.dropFirst().first == "w" }
    var isExecutable: Bool { rights.dropFirst(2).first == "x" }
    var isOfFile: Bool { name.hasPrefix("/") }
  }

  private(set) var areas: [Area] = []

  static var now: MemoryMap {
    var map = MemoryMap()
    for line in (ProcessState.bytes(of: "/proc/self/maps") ?? []).split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard parts.count >= 5 else { continue }
      let ends = parts[0].split(separator: UInt8(ascii: "-")).compactMap { UInt64(text($0), radix: 16) }
      guard ends.count == 2, ends[0] <= ends[1] else { continue }
      let name = parts.count > 5 ? text(parts[5].drop { $0 == UInt8(ascii: " ") }) : ""
      map.areas.append(Area(range: ends[0]..<ends[1], rights: text(parts[1]), name: name))
    }
    return map
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// Bytes of all mappings except the heap, which libc grows as needed, and addresses that are only reserved, such as the rest of the
  /// heap that libc gives to a thread.
  var mappedBytes: Int {
    areas.reduce(0) {
      $1.name == "[heap]" || $1.rights.hasPrefix("---") ? $0 : $0 + Int(clamping: $1.range.upperBound - $1.range.lowerBound)
    }
  }

  /// Pages that can now be written and run but could not before, and pages of files with changed protection.
  func differences(from before: MemoryMap) -> [String] {
    var found: [String] = []
    for area in areas where area.isWritable && area.isExecutable {
      guard !before.has(area.range, where: { $0.isWritable && $0.isExecutable }) else { continue }
      found.append("\(area.shownName) can be written and run (\(area.rights))")
    }
    for old in before.areas where old.isOfFile && !old.isWritable {
      for area in areas where area.range.overlaps(old.range) && area.name == old.name && area.rights != old.rights {
        if area.isWritable && area.isExecutable { continue }
        found.append("pages of \(old.shownName) are \(area.rights) and were \(old.rights)")
        break
      }
    }
    return found
  }

  private func has(_ range: Range<UInt64>, where condition: (Area) -> Bool) -> Bool {
    areas.contains { $0.range.overlaps(range) && condition($0) }
  }
}

extension MemoryMap.Area {
  fileprivate var shownName: String {
    if name == "[stack]" { return "the stack" }
    // The folder of a private copy has no meaning for a reader.
    return name.isEmpty ? "memory of no file" : String(name.split(separator: "/").last ?? "")
  }
}
