/// An array of any type that can be decoded.
protocol TapeArray {
  /// Decodes the elements.
  ///
  /// - Throws: `DecodingError` if an element does not fit.
  init(elementsOf decoder: JSONTapeDecoder) throws
}

extension Array: TapeArray where Element: Decodable {
  /// The standard library would let the array grow, and look up the type of the array again for each element.
  init(elementsOf decoder: JSONTapeDecoder) throws {
    let (text, depth) = (decoder.text, decoder.depth + 1)
    var next = decoder.entry + 1
    let end = text.entries[Int(decoder.entry)].next
    // Pointers, because the type of an `OutputSpan` would be looked up for each element.
    unsafe try self.init(unsafeUninitializedCapacity: text.count(of: decoder.entry)) { elements, count in
      while next < end, count < elements.count {
        let element = try JSONTapeDecoder(text, next, depth: depth).decode(Element.self)
        unsafe elements.initializeElement(at: count, to: element)
        count += 1
        next = text.entries[Int(next)].next
      }
    }
  }
}
