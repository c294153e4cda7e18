extension ELFImage {
  /// More symbols than any plugin imports.
  private static let maximumSymbols = 1 << 20
  private static let symbolBytes = 24
  /// Longer than most names. Others are left out.
  private static let maximumSymbolBytes = 256

  /// The names of the functions and variables that the object takes from other libraries.
  ///
  /// - Throws: ``Fault/badDynamicSection(_:)`` if a part of the section lies outside of the file.
  package func imports() throws(Fault) -> Set<String> {
    let entries = try dynamicEntries()
    func table(_ tag: UInt64) -> Int? { entries.last { $0.tag == tag }.flatMap { offset(of: $0.value) } }
    // SYMTAB and STRTAB.
    guard let symbols = table(6), let texts = table(5) else { return [] }
    // HASH has the number of all symbols. GNU_HASH has the number of those before its first one, and imports are not hashed.
    guard let count = (table(4) ?? table(0x6FFF_FEF5)).flatMap({ number($0 + 4, 4) }), count <= Self.maximumSymbols else {
      throw .badDynamicSection("its table of symbols cannot be read")
    }
    var names: Set<String> = []
    for index in 0..<Int(count) {
      let symbol = symbols + index * Self.symbolBytes
      guard let name = number(symbol, 4), let section = number(symbol + 6, 2) else {
        throw .badDynamicSection("its table of symbols has no end")
      }
      guard section == 0, name != 0, let text = string(at: texts + Int(name), limit: Self.maximumSymbolBytes) else { continue }
      names.insert(text)
    }
    return names
  }
}
