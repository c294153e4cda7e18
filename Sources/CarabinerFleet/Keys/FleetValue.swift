package import CarabinerWire

/// A value of a key that is JSON. Each has a limit, and members that are not known are ignored, so that a later version may add some.
package protocol FleetValue: Sendable, Hashable {
  /// The name of the value in messages.
  static var label: String { get }
  /// The most bytes of the value.
  static var maximumBytes: Int { get }

  /// The value as JSON.
  var json: JSONValue { get }

  init(_ json: FleetObject) throws(FleetError)
}

extension FleetValue {
  /// Reads the value of a key.
  ///
  /// - Throws: ``FleetError`` with code `malformed`.
  package init(parsing bytes: [UInt8]) throws(FleetError) {
    guard bytes.count <= Self.maximumBytes else {
      throw FleetError(.malformed, "\(Self.label) has more than \(Self.maximumBytes) bytes; remove the key")
    }
    let json: JSONValue
    do {
      json = try JSONValue(parsing: bytes, limits: JSONLimits(maximumDepth: 4))
    } catch {
      throw FleetError(.malformed, "\(Self.label) is not JSON: \(error); remove the key")
    }
    guard let object = json.object else { throw FleetError(.malformed, "\(Self.label) is not an object; remove the key") }
    try self.init(FleetObject(label: Self.label, members: object))
  }

  /// The bytes of the key's value.
  package var bytes: [UInt8] { json.serialized() }
}

/// The members of a value.
package struct FleetObject: Sendable {
  let label: String
  let members: JSONObject

  private func malformed(_ name: String, _ wanted: String) -> FleetError {
    FleetError(.malformed, "\(label) has a member \(name) that is not \(wanted); remove the key")
  }

  /// A text; nil if it is missing or null.
  func text(_ name: String) throws(FleetError) -> String? {
    guard let value = members[name], !value.isNull else { return nil }
    guard let text = value.string else { throw malformed(name, "a text") }
    return text
  }

  /// One of some words.
  func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String, _: Word.Type) throws(FleetError) -> Word {
    guard let word = try text(name).flatMap(Word.init) else {
      throw malformed(name, "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return word
  }

  /// A whole number in a range; `absent` if it is missing.
  func number(_ name: String, in range: ClosedRange<Int>, absent: Int? = nil) throws(FleetError) -> Int {
    if members[name] == nil, let absent { return absent }
    guard let number = members[name]?.int, range.contains(number) else {
      throw malformed(name, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A candidate; nil if it is missing or null.
  func candidate(_ name: String) throws(FleetError) -> CandidateID? {
    guard let text = try text(name) else { return nil }
    guard let candidate = CandidateID(text) else { throw malformed(name, "16 hexadecimal digits") }
    return candidate
  }

  /// A place in the order of ranks: 16 hexadecimal digits, because a number of JSON is not exact for each of them.
  func place(_ name: String) throws(FleetError) -> UInt64 {
    guard let text = try text(name), CandidateID(text) != nil, let place = UInt64(text, radix: 16) else {
      throw malformed(name, "16 hexadecimal digits")
    }
    return place
  }

  /// Texts by name; none if the member is missing.
  func texts(_ name: String, atMost limit: Int) throws(FleetError) -> [String: String] {
    guard let value = members[name], !value.isNull else { return [:] }
    guard let object = value.object, object.count <= limit else { throw malformed(name, "an object of at most \(limit) texts") }
    var texts: [String: String] = [:]
    for (key, value) in object {
      guard let text = value.string else { throw malformed(name, "an object of at most \(limit) texts") }
      texts[key] = text
    }
    return texts
  }
}

extension JSONValue {
  /// A text without the part above a limit, so that a value stays below its own.
  static func text(_ text: String, atMost limit: Int) -> JSONValue {
    // Scalars, because a character has no limit. In JSON a scalar has at most six bytes.
    .string(String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit))))
  }

  static func candidate(_ id: CandidateID?) -> JSONValue { id.map { .string("\($0)") } ?? .null }

  static func int(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }
}
