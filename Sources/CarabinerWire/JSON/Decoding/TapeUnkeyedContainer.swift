/// The elements of an array.
struct TapeUnkeyedContainer: UnkeyedDecodingContainer {
  private let text: TapeText
  private let array: Int32
  private let depth: Int32
  private var next: Int32
  private var index: Int32 = 0

  init(_ text: TapeText, array: Int32, depth: Int32) {
    self.text = text
    self.array = array
    self.depth = depth
    next = array + 1
  }

  var codingPath: [any CodingKey] { text.path(to: array) }
  var currentIndex: Int { Int(index) }
  var isAtEnd: Bool { next >= text.entries[Int(array)].next }

  var count: Int? {
    var (count, entry) = (0, array + 1)
    while entry < text.entries[Int(array)].next {
      entry = text.entries[Int(entry)].next
      count += 1
    }
    return count
  }

  mutating func decodeNil() throws -> Bool {
    guard try element(Never.self).decodeNil() else { return false }
    step()
    return true
  }

  mutating func decode<Value: TapeScalar>(_ type: Value.Type) throws -> Value {
    let value = try Value(reading: element(type))
    step()
    return value
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try element(type).decode(type)
    step()
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    let container = try element(KeyedDecodingContainer<Nested>.self).container(keyedBy: type)
    step()
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try element((any UnkeyedDecodingContainer).self).unkeyedContainer()
    step()
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try element((any Decoder).self)
    step()
    return decoder
  }

  private func element(_ type: any Any.Type) throws -> JSONTapeDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: codingPath + [TapeKey(index: Int(index))], debugDescription: "Unkeyed container is at end."))
    }
    return JSONTapeDecoder(text, next, depth: depth + 1)
  }

  private mutating func step() {
    next = text.entries[Int(next)].next
    index += 1
  }
}
