/// A shared object, parsed without running any of its code. Every offset is checked before it is used.
package struct ELFImage {
  /// Why a file cannot be parsed.
  package enum Fault: Error, Equatable {
    case notELF
    case wrongClass
    case wrongArchitecture(UInt16)
    case wrongType(UInt16)
    case truncated(String)
    case oversizedNotes
    case badDynamicSection(String)
  }

  /// A program header with a range of the file.
  package struct Segment {
    package let type: UInt32
    package let flags: UInt32
    /// The segment's range in the file.
    package let range: Range<Int>
    /// The segment's address in memory, relative to where the object is loaded.
    package let address: UInt64
  }

  #if arch(x86_64)
    package static let machine: UInt16 = 62
  #elseif arch(arm64)
    package static let machine: UInt16 = 183
  #endif
  /// More program headers than any linker writes.
  private static let maximumSegments = 512
  /// The most bytes all note segments may have together, 1 MiB. Real libraries have a few hundred bytes.
  package static let maximumNoteBytes = 1 << 20

  private let bytes: [UInt8]
  /// The program headers.
  package let segments: [Segment]

  /// Checks that the bytes are a complete shared object for this machine.
  package init(_ bytes: [UInt8]) throws(Fault) {
    self.bytes = bytes
    guard bytes.count >= 20, bytes[0] == 0x7F, bytes[1] == 0x45, bytes[2] == 0x4C, bytes[3] == 0x46 else {
      throw .notELF
    }
    guard bytes[4] == 2, bytes[5] == 1 else { throw .wrongClass }
    let reader = ByteReader(bytes: bytes)
    guard bytes.count >= 64 else { throw .truncated("the ELF header") }
    let machine = reader.uint16(18) ?? 0
    guard machine == Self.machine else { throw .wrongArchitecture(machine) }
    let type = reader.uint16(16) ?? 0
    guard type == 3 else { throw .wrongType(type) }
    let count = Int(reader.uint16(56) ?? 0)
    let entrySize = Int(reader.uint16(54) ?? 0)
    guard let table = reader.offset(32), entrySize >= 56, count > 0, count <= Self.maximumSegments,
      reader.contains(table, entrySize * count)
    else { throw .truncated("the program headers") }
    var segments: [Segment] = []
    for index in 0..<count {
      let header = table + index * entrySize
      guard let type = reader.uint32(header), let flags = reader.uint32(header + 4), let offset = reader.offset(header + 8),
        let size = reader.offset(header + 32), let address = reader.number(header + 16, 8)
      else { throw .truncated("the program headers") }
      // A PT_LOAD that ends beyond the file makes dlopen die with SIGBUS.
      guard reader.contains(offset, size) else {
        if type == 1 { throw .truncated("segment \(index), which ends \(offset &+ size &- bytes.count) bytes beyond the file") }
        continue
      }
      segments.append(Segment(type: type, flags: flags, range: offset..<(offset + size), address: address))
    }
    self.segments = segments
  }

  /// The ranges of the contents of all notes with this owner and type, at most `limit` of them.
  ///
  /// Segments may overlap, and a file may declare hundreds of them. Therefore nothing is copied, and the total size is limited.
  ///
  /// - Throws: ``Fault/oversizedNotes`` if the note segments have more bytes than ``maximumNoteBytes``.
  package func notes(of owner: String, type: UInt32, limit: Int) throws(Fault) -> [Range<Int>] {
    let noteSegments = segments.filter { $0.type == 4 }
    guard noteSegments.reduce(0, { $0 + min($1.range.count, Self.maximumNoteBytes + 1) }) <= Self.maximumNoteBytes else {
      throw .oversizedNotes
    }
    let reader = ByteReader(bytes: bytes)
    let name = Array(owner.utf8) + [0]
    var found: [Range<Int>] = []
    for segment in noteSegments {
      var offset = segment.range.lowerBound
      while offset + 12 <= segment.range.upperBound, let nameSize = reader.uint32(offset),
        let size = reader.uint32(offset + 4), let noteType = reader.uint32(offset + 8)
      {
        let contents = offset + 12 + Self.aligned(Int(nameSize))
        let end = contents + Int(size)
        guard end <= segment.range.upperBound else { break }
        if noteType == type, Int(nameSize) == name.count, bytes[(offset + 12)..<(offset + 12 + name.count)].elementsEqual(name) {
          found.append(contents..<end)
          if found.count == limit { return found }
        }
        offset = contents + Self.aligned(Int(size))
      }
    }
    return found
  }

  /// The bytes of a range that ``notes(of:type:limit:)`` returned.
  package func contents(_ range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

  /// A little-endian number of 1 to 8 bytes; nil if it lies outside of the file.
  package func number(_ offset: Int, _ size: Int) -> UInt64? { ByteReader(bytes: bytes).number(offset, size) }

  /// A NUL-terminated text; nil if there is no NUL within `limit` bytes or the text is not UTF-8.
  package func string(at offset: Int, limit: Int) -> String? {
    guard offset >= 0, offset < bytes.count else { return nil }
    let text = bytes[offset..<min(bytes.count, offset + limit)]
    guard let end = text.firstIndex(of: 0) else { return nil }
    return String(validating: text[..<end], as: UTF8.self)
  }

  private static func aligned(_ size: Int) -> Int { (size + 3) & ~3 }
}

/// Reads little-endian numbers with bounds checks.
private struct ByteReader {
  let bytes: [UInt8]

  func contains(_ offset: Int, _ size: Int) -> Bool {
    offset >= 0 && size >= 0 && offset <= bytes.count && size <= bytes.count - offset
  }

  func uint16(_ offset: Int) -> UInt16? { number(offset, 2).map { UInt16($0) } }
  func uint32(_ offset: Int) -> UInt32? { number(offset, 4).map { UInt32($0) } }
  func offset(_ offset: Int) -> Int? { number(offset, 8).flatMap { Int(exactly: $0) } }

  func number(_ offset: Int, _ size: Int) -> UInt64? {
    guard contains(offset, size) else { return nil }
    return (0..<size).reversed().reduce(0) { $0 << 8 | UInt64(bytes[offset + $1]) }
  }
}
