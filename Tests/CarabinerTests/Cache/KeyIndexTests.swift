import Testing

@testable import Carabiner

@Suite("Index of records by the bytes of their keys")
struct KeyIndexTests {
  /// Places by key, as a cache uses the index.
  private struct Table {
    var index = KeyIndex()
    var keys: [String] = []

    func place(of key: String) -> Int? {
      var probe = index.probe(hash(key))
      while let place = index.next(&probe) {
        if keys[place].hasBytes(key.utf8Span.span) { return place }
      }
      return nil
    }

    func hash(_ key: String) -> UInt32 { index.hash(of: key.utf8Span.span) }

    mutating func add(_ key: String) {
      index.insert(keys.count, hash: hash(key))
      keys.append(key)
    }

    mutating func remove(_ key: String) {
      if let place = place(of: key) { index.remove(place, hash: hash(key)) }
    }
  }

  @Test("keys of any length are found, and others are not")
  func lengths() {
    var table = Table()
    let keys = (0..<40).map { String(repeating: "k", count: $0) }
    for key in keys { table.add(key) }
    #expect(keys.map { table.place(of: $0) } == Array(keys.indices))
    #expect(table.place(of: String(repeating: "k", count: 41)) == nil)
    #expect(table.place(of: "kkl") == nil)
  }

  @Test("removed keys are gone and all others stay, in a table that grew and shrank")
  func removal() {
    var table = Table()
    var expected: [String: Int] = [:]
    for number in 0..<500 {
      let key = "Item:\(number)"
      expected[key] = table.keys.count
      table.add(key)
      if number % 3 == 0 {
        table.remove("Item:\(number / 2)")
        expected["Item:\(number / 2)"] = nil
      }
    }
    #expect(table.index.count == expected.count)
    for number in 0..<500 { #expect(table.place(of: "Item:\(number)") == expected["Item:\(number)"]) }
    for key in expected.keys { table.remove(key) }
    #expect(table.index.count == 0)
  }

  @Test("keys with equal hashes stay apart, also when one is removed")
  func collisions() {
    var index = KeyIndex()
    // The last slot, so that the search begins again at the first.
    let hash: UInt32 = 15
    for place in 0..<5 { index.insert(place, hash: hash) }
    index.insert(9, hash: 0)
    index.remove(1, hash: hash)
    index.remove(7, hash: hash)
    var (probe, found): (KeyIndex.Probe, [Int]) = (index.probe(hash), [])
    while let place = index.next(&probe) { found.append(place) }
    #expect(found.sorted() == [0, 2, 3, 4])
    probe = index.probe(0)
    #expect(index.next(&probe) == 9)
  }
}
