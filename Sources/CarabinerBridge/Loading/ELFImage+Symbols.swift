extension ELFImage {
  /// More symbols than any plugin has.
  private static let maximumSymbols = 1 << 20
  private static let symbolBytes = 24
  /// Longer than most names. Others are cut off.
  private static let maximumSymbolBytes = 256

  /// The first symbol that is one for the whole process (STB_GNU_UNIQUE), whichever library defines it; nil if there is none.
  func uniqueSymbol() throws(Fault) -> String? {
    let entries = try dynamicEntries()
    func table(_ tag: UInt64) -> Int? { entries.last { $0.tag == tag }.flatMap { offset(of: $0.value) } }
    // SYMTAB, STRTAB, HASH and GNU_HASH.
    guard let symbols = table(6), let texts = table(5) else { return nil }
    let count = table(4).flatMap { number($0 + 4, 4) }.map { Int($0) } ?? table(0x6FFF_FEF5).flatMap(lastHashedSymbol)
    guard let count, count <= Self.maximumSymbols else { return nil }
    for index in 0..<count {
      let symbol = symbols + index * Self.symbolBytes
      guard let name = number(symbol, 4), let info = number(symbol + 4, 1), let section = number(symbol + 6, 2) else {
        return nil
      }
      if info >> 4 == 10, section != 0 { return string(at: texts + Int(name), limit: Self.maximumSymbolBytes) ?? "" }
    }
    return nil
  }

  /// The number of symbols by GNU_HASH, which has the defined ones, sorted by their bucket. The last of each bucket has an odd hash.
  private func lastHashedSymbol(in table: Int) -> Int? {
    guard let buckets = number(table, 4), let first = number(table + 4, 4), let filter = number(table + 8, 4),
      buckets <= Self.maximumSymbols, first <= Self.maximumSymbols, filter <= Self.maximumSymbols
    else { return nil }
    let starts = table + 16 + Int(filter) * 8
    let hashes = starts + Int(buckets) * 4
    guard let last = (0..<Int(buckets)).compactMap({ number(starts + $0 * 4, 4) }).max(), last >= first else { return Int(first) }
    var index = Int(last)
    while index < Self.maximumSymbols, let hash = number(hashes + (index - Int(first)) * 4, 4) {
      index += 1
      if hash & 1 == 1 { break }
    }
    return index
  }
}
