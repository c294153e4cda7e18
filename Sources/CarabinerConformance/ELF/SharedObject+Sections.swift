internal import CarabinerBridge

/// The sections of a file, which the dynamic linker does not use, but which name its functions and lines.
extension SharedObject {
  struct Section {
    let name: String
    let type: UInt64
    /// Its range in the file; empty if the file does not have all of it.
    let range: Range<Int>
    /// The number of the section with its texts.
    let link: Int
    let isCompressed: Bool
  }

  private static let maximumSections = 65536
  private static let maximumFunctions = 1 << 20
  /// SHT_NOBITS: without bytes in the file.
  private static let typeWithoutBytes: UInt64 = 8

  /// All sections, by number.
  var sections: [Section] {
    guard let table = image.number(40, 8).flatMap({ Int(exactly: $0) }), table > 0, image.number(58, 2) == 64,
      let count = image.number(60, 2), let names = image.number(62, 2)
    else { return [] }
    func header(_ number: UInt64, _ field: Int, _ size: Int) -> UInt64? {
      let (place, isBeyond) = table.addingReportingOverflow(Int(number) * 64 + field)
      return isBeyond ? nil : image.number(place, size)
    }
    let texts = header(names, 24, 8).flatMap { Int(exactly: $0) }
    return (0..<min(count, UInt64(Self.maximumSections))).map { number in
      let start = header(number, 24, 8).flatMap { Int(exactly: $0) } ?? 0
      let size = header(number, 32, 8).flatMap { Int(exactly: $0) } ?? 0
      let type = header(number, 4, 4) ?? 0
      let (end, isBeyond) = start.addingReportingOverflow(size)
      let hasBytes = type != Self.typeWithoutBytes && !isBeyond && size > 0 && image.number(end - 1, 1) != nil
      let name = header(number, 0, 4).flatMap { offset in
        texts.flatMap { $0 < Int.max - Int(offset) ? image.string(at: $0 + Int(offset), limit: 256) : nil }
      }
      return Section(
        name: name ?? "", type: type, range: hasBytes ? start..<end : 0..<0, link: Int(header(number, 40, 4) ?? 0),
        isCompressed: (header(number, 8, 8) ?? 0) & 0x800 != 0)
    }
  }

  /// The bytes of the section with a name; none if there is no such section, or if it is compressed.
  func bytes(of name: String, in sections: [Section]) -> [UInt8] {
    guard let section = sections.first(where: { $0.name == name }), !section.isCompressed else { return [] }
    return Array(image.contents(section.range))
  }

  /// The names of the functions at some addresses, as linkers write them.
  func functions(at addresses: [UInt64], in sections: [Section]) -> [UInt64: String] {
    // The table of all symbols (SHT_SYMTAB), or of those for the dynamic linker (SHT_DYNSYM).
    guard let table = sections.first(where: { $0.type == 2 }) ?? sections.first(where: { $0.type == 11 }),
      sections.indices.contains(table.link)
    else { return [:] }
    let texts = sections[table.link].range
    var found: [UInt64: String] = [:]
    for index in 0..<min(table.range.count / 24, Self.maximumFunctions) {
      let entry = table.range.lowerBound + index * 24
      guard let info = image.number(entry + 4, 1), info & 0xF == 2 || info & 0xF == 10,
        let start = image.number(entry + 8, 8), let size = image.number(entry + 16, 8), let name = image.number(entry, 4)
      else { continue }
      for address in addresses where address >= start && address - start < size && found[address] == nil {
        guard name < UInt64(texts.count) else { continue }
        found[address] = image.string(at: texts.lowerBound + Int(name), limit: 4096)
      }
    }
    return found
  }
}
