/// An array of any type that can be decoded.
protocol TapeArray {
  /// Decodes the elements.
  ///
  /// - Throws: `DecodingError` if an element does not fit.
  init(elementsOf decoder: JSONTapeDecoder) throws
}

extension Array: TapeArray where Element: Decodable {
  init(elementsOf decoder: JSONTapeDecoder) throws { try self.init(elementsOf: decoder) { try $0.decode(Element.self) } }
}

extension Array {
  /// Reads the elements of an array. The standard library would let the array grow, and look up the type of the array again for each
  /// element.
  ///
  /// - Throws: `DecodingError` if the value is not an array, and errors of `read`.
  package init(elementsOf decoder: JSONTapeDecoder, _ read: (JSONTapeDecoder) throws -> Element) throws {
    let (text, depth) = (decoder.text, decoder.depth + 1)
    guard text.isArray(decoder.entry) else { throw text.mismatch([Any].self, decoder.entry) }
    var next = decoder.entry + 1
    let end = text.entries[Int(decoder.entry)].next
    // Pointers, because the type of an `OutputSpan` would be looked up for each element.
    unsafe try self.init(unsafeUninitializedCapacity: text.count(of: decoder.entry)) { elements, count in
      guard let room = elements.baseAddress else { return }
      while next < end, count < elements.count {
        // Not stored in a variable first, because a variable of a generic type would be copied.
        unsafe (room + count).initialize(to: try read(JSONTapeDecoder(text, next, depth: depth)))
        count += 1
        next = text.entries[Int(next)].next
      }
    }
  }
}
