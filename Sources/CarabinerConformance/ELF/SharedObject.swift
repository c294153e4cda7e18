internal import CarabinerBridge
internal import CarabinerWire

/// The data of a shared object for the dynamic linker, read from its bytes without running its code.
struct SharedObject {
  /// A symbol that it defines or imports.
  struct Symbol: Sendable, Hashable {
    let name: String
    /// GLOBAL, WEAK, GNU_UNIQUE.
    let binding: UInt8
    let isDefined: Bool
    let isFunction: Bool
    /// Whether a resolver of the library returns its address (IFUNC).
    let isResolved: Bool
    /// `GLIBC_2.34`, if it requires a version.
    let version: String?
  }

  /// The binding of a symbol.
  enum Binding {
    static let local: UInt8 = 0
    static let global: UInt8 = 1
    static let weak: UInt8 = 2
    /// GNU's extension: the symbol is unique in the process.
    static let unique: UInt8 = 10
  }

  /// The maximum number of symbols that are read.
  private static let maximumSymbols = 1 << 20
  private static let maximumEntries = 65536

  let image: ELFImage
  /// Entries of the dynamic section, by tag.
  private(set) var dynamic: [Int64: [UInt64]] = [:]
  private let loads: [(address: UInt64, offset: Int, size: Int)]

  init(_ bytes: [UInt8]) throws(ELFImage.Fault) {
    image = try ELFImage(bytes)
    loads = image.segments.filter { $0.type == 1 }.map { ($0.address, $0.range.lowerBound, $0.range.count) }
    guard let table = image.segments.first(where: { $0.type == 2 }) else { return }
    var offset = table.range.lowerBound
    while offset + 16 <= table.range.upperBound, offset - table.range.lowerBound < Self.maximumEntries * 16 {
      guard let tag = image.number(offset, 8), let value = image.number(offset + 8, 8) else { break }
      if tag == 0 { break }
      dynamic[Int64(bitPattern: tag), default: []].append(value)
      offset += 16
    }
  }

  /// The first value of a tag.
  subscript(_ tag: Tag) -> UInt64? { dynamic[tag.rawValue]?.first }

  /// The tags that are read here.
  enum Tag: Int64 {
    case needed = 1
    case hash = 4
    case strings = 5
    case symbols = 6
    case relocations = 7
    case relocationsSize = 8
    case jumpRelocations = 23
    case jumpRelocationsSize = 2
    case stringsSize = 10
    case name = 14
    case runPath = 29
    case rPath = 15
    case textRelocations = 22
    case bindNow = 24
    case flags = 30
    case gnuHash = 0x6FFF_FEF5
    case flags1 = 0x6FFF_FFFB
    case versions = 0x6FFF_FFF0
    case versionsNeeded = 0x6FFF_FFFE
    case versionsNeededCount = 0x6FFF_FFFF
  }

  /// Whether a bit is set in the flags of a tag.
  func has(_ bit: UInt64, in tag: Tag) -> Bool { (self[tag] ?? 0) & bit != 0 }

  /// The name by which other objects need it; nil if it has none.
  var name: String? { self[.name].flatMap(string) }
  /// The needed libraries.
  var needed: [String] { (dynamic[Tag.needed.rawValue] ?? []).compactMap(string) }
  /// The folders in which the dynamic linker searches them.
  var searchPaths: [String] {
    [Tag.runPath, .rPath].flatMap { dynamic[$0.rawValue] ?? [] }.compactMap(string).flatMap {
      $0.split(separator: ":").map(String.init)
    }
  }

  /// Its dynamic symbols.
  var symbols: [Symbol] {
    guard let table = self[.symbols].flatMap(offset) else { return [] }
    let names = versionNames
    let versions = self[.versions].flatMap(offset)
    return (1..<max(symbolCount, 1)).compactMap { index in
      let entry = table + index * 24
      guard let name = image.number(entry, 4).flatMap(string), let info = image.number(entry + 4, 1),
        let section = image.number(entry + 6, 2)
      else { return nil }
      let version = versions.flatMap { image.number($0 + index * 2, 2) }.map { UInt16(truncatingIfNeeded: $0) & 0x7FFF }
      return Symbol(
        name: name, binding: UInt8(info >> 4), isDefined: section != 0, isFunction: info & 0xF == 2 || info & 0xF == 10,
        isResolved: info & 0xF == 10, version: version.flatMap { names[$0] })
    }
  }

  /// The number of symbols. DT_HASH contains it; DT_GNU_HASH has to be walked.
  private var symbolCount: Int {
    if let table = self[.hash].flatMap(offset), let count = image.number(table + 4, 4) {
      return min(Int(count), Self.maximumSymbols)
    }
    guard let table = self[.gnuHash].flatMap(offset), let buckets = image.number(table, 4),
      let first = image.number(table + 4, 4),
      let filter = image.number(table + 8, 4), buckets <= Self.maximumSymbols, filter <= Self.maximumSymbols
    else { return 0 }
    let bucketTable = table + 16 + Int(filter) * 8
    let chains = bucketTable + Int(buckets) * 4
    let last = (0..<Int(buckets)).compactMap { image.number(bucketTable + $0 * 4, 4) }.max() ?? 0
    guard last >= first else { return Int(first) }
    var index = Int(last)
    while index < Self.maximumSymbols, let word = image.number(chains + (index - Int(first)) * 4, 4) {
      index += 1
      if word & 1 == 1 { break }
    }
    return index
  }

  /// The names of the required versions, by their numbers.
  private var versionNames: [UInt16: String] {
    guard var entry = self[.versionsNeeded].flatMap(offset), let count = self[.versionsNeededCount] else { return [:] }
    var names: [UInt16: String] = [:]
    for _ in 0..<min(count, 1024) {
      guard let auxiliaries = image.number(entry + 2, 2), let start = image.number(entry + 8, 4),
        let next = image.number(entry + 12, 4)
      else { break }
      var auxiliary = entry + Int(start)
      for _ in 0..<auxiliaries {
        guard let number = image.number(auxiliary + 6, 2), let name = image.number(auxiliary + 8, 4).flatMap(string),
          let following = image.number(auxiliary + 12, 4)
        else { break }
        names[UInt16(number)] = name
        if following == 0 { break }
        auxiliary += Int(following)
      }
      if next == 0 { break }
      entry += Int(next)
    }
    return names
  }

  /// The ranges in the file of mapped data that is neither writable nor code, without the table of symbol names.
  var constants: [Range<Int>] {
    let names = self[.strings].flatMap(offset).map { $0..<($0 + Int(clamping: self[.stringsSize] ?? 0)) } ?? 0..<0
    return image.segments.filter { $0.type == 1 && $0.flags & 3 == 0 }.flatMap { segment -> [Range<Int>] in
      guard names.overlaps(segment.range) else { return [segment.range] }
      return [
        segment.range.lowerBound..<max(names.lowerBound, segment.range.lowerBound),
        min(names.upperBound, segment.range.upperBound)..<segment.range.upperBound,
      ]
    }
  }

  /// How many addresses its resolvers fill in while it is loaded (IFUNC).
  var resolvedAtLoad: Int {
    let tables: [(Tag, Tag)] = [(.relocations, .relocationsSize), (.jumpRelocations, .jumpRelocationsSize)]
    return tables.reduce(0) { sum, table in
      guard let start = self[table.0].flatMap(offset), let size = self[table.1] else { return sum }
      return sum
        + (0..<min(Int(clamping: size / 24), Self.maximumSymbols)).count { index in
          // R_X86_64_IRELATIVE, R_AARCH64_IRELATIVE
          image.number(start + index * 24 + 8, 4).map { $0 == 37 || $0 == 1032 } ?? false
        }
    }
  }

  /// A text of the string table.
  private func string(_ index: UInt64) -> String? {
    guard let table = self[.strings].flatMap(offset), let size = self[.stringsSize], index < size, let start = Int(exactly: index)
    else { return nil }
    return image.string(at: table + start, limit: 4096)
  }

  /// The offset of an address in the file.
  private func offset(_ address: UInt64) -> Int? {
    for load in loads where address >= load.address && address - load.address < UInt64(load.size) {
      return load.offset + Int(address - load.address)
    }
    return nil
  }
}
