/// The part of an object's dynamic section that decides which libraries the dynamic linker loads, and from where.
package struct DynamicLinks: Equatable {
  /// The libraries the object needs (NEEDED, AUXILIARY and FILTER), in the order of the file.
  package var libraries: [String] = []
  /// The folders of RPATH and RUNPATH, as written in the file.
  package var searchPaths: [String] = []
  /// The name other objects use to need it (SONAME).
  package var name: String?
}

extension ELFImage {
  /// More entries than any linker writes.
  private static let maximumDynamicEntries = 1 << 16
  /// Longer than any path.
  private static let maximumNameBytes = 4096

  /// Reads the dynamic section. Like the dynamic linker, it uses the program headers and ignores the section headers.
  ///
  /// - Throws: ``Fault/badDynamicSection(_:)`` if a part of the section lies outside of the file.
  package func dynamicLinks() throws(Fault) -> DynamicLinks { try links(try dynamicEntries()) }

  /// The entries of the dynamic section; none if there is no such section.
  func dynamicEntries() throws(Fault) -> [(tag: UInt64, value: UInt64)] {
    // The dynamic linker uses the last PT_DYNAMIC.
    guard let segment = segments.last(where: { $0.type == 2 }) else { return [] }
    guard let start = offset(of: segment.address) else { throw .badDynamicSection("it lies outside of the loaded segments") }
    var entries: [(tag: UInt64, value: UInt64)] = []
    for index in 0..<Self.maximumDynamicEntries {
      guard let tag = number(start + index * 16, 8), let value = number(start + index * 16 + 8, 8) else {
        throw .badDynamicSection("it has no end")
      }
      if tag == 0 { return entries }
      entries.append((tag, value))
    }
    throw .badDynamicSection("it has more than \(Self.maximumDynamicEntries) entries")
  }

  private func links(_ entries: [(tag: UInt64, value: UInt64)]) throws(Fault) -> DynamicLinks {
    var links = DynamicLinks()
    let texts = entries.last { $0.tag == 5 }.flatMap { offset(of: $0.value) }
    func text(_ value: UInt64) throws(Fault) -> String {
      guard let texts, let place = Int(exactly: value), place < Int.max - texts,
        let text = string(at: texts + place, limit: Self.maximumNameBytes)
      else { throw .badDynamicSection("a name in it cannot be read") }
      return text
    }
    for (tag, value) in entries {
      switch tag {
      // NEEDED, AUXILIARY and FILTER. The dynamic linker loads all of them with the object.
      case 1, 0x7FFF_FFFD, 0x7FFF_FFFF: links.libraries.append(try text(value))
      // RPATH and RUNPATH.
      case 15, 29: links.searchPaths += try text(value).split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      case 14: links.name = try text(value)
      default: break
      }
    }
    return links
  }

  /// The offset in the file of an address in memory; nil if no loaded segment contains the address.
  func offset(of address: UInt64) -> Int? {
    guard
      let segment = segments.last(where: {
        $0.type == 1 && $0.address <= address && address - $0.address < UInt64($0.range.count)
      })
    else { return nil }
    return segment.range.lowerBound + Int(address - segment.address)
  }
}
