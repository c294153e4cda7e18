internal import CarabinerWire

/// A kind of value: what its schema says, how it is read, and how a manifest would write it.
struct ValueKind<Value: Sendable>: Sendable {
  /// The members of its schema, as JSON without braces.
  let schema: String
  /// Reads a value; nil after it reported a problem.
  let read: @Sendable (inout ManifestReader, JSONValue, JSONPointer) -> Value?
  /// The value as a manifest would have it; null if it can only be left out.
  let json: @Sendable (Value) -> JSONValue

  init(
    _ schema: String, json: @escaping @Sendable (Value) -> JSONValue = { _ in .null },
    read: @escaping @Sendable (inout ManifestReader, JSONValue, JSONPointer) -> Value?
  ) {
    (self.schema, self.read, self.json) = (schema, read, json)
  }

  /// The same kind for a value that may be missing.
  var optional: ValueKind<Value?> {
    ValueKind<Value?>(
      schema, json: { $0.map(json) ?? .null }, read: { reader, value, place in read(&reader, value, place).map { $0 } })
  }

  /// This kind, or the word `none`.
  @_semantics("optimize.sil.specialize.generic.never")
  static func orNone<Wrapped>(_ kind: ValueKind<Wrapped>) -> Self where Value == Wrapped? {
    Self(
      #""oneOf": [{"const": "none"}, {\#(kind.schema)}]"#, json: { $0.map(kind.json) ?? "none" },
      read: { $1.string == "none" ? .some(nil) : kind.read(&$0, $1, $2).map { $0 } })
  }

  /// This kind, for values that pass a check.
  ///
  /// - Parameter problem: Returns the message for a value that does not pass. Its arguments are the value as written and as read.
  @_semantics("optimize.sil.specialize.generic.never")
  func checked(
    _ isValid: @escaping @Sendable (Value) -> Bool, _ problem: @escaping @Sendable (JSONValue, Value) -> String
  ) -> Self {
    Self(schema, json: json) { reader, json, place in
      guard let value = read(&reader, json, place) else { return nil }
      if isValid(value) { return value }
      reader.problem(.invalidValue, place, problem(json, value))
      return nil
    }
  }

  /// An object with keys of its own.
  @_semantics("optimize.sil.specialize.generic.never")
  static func object(_ fields: Fields<Value>) -> Self {
    Self(fields.schema, json: { fields.json(of: $0) }, read: { fields.read($1, $2, &$0) })
  }
}

// MARK: Lists

extension ValueKind {
  /// A list.
  ///
  /// - Parameters:
  ///   - wanted: The name of the list in messages.
  ///   - counts: The possible numbers of elements, with the message for any other number.
  @_semantics("optimize.sil.specialize.generic.never")
  static func list<Element: Equatable>(
    of element: ValueKind<Element>, _ wanted: String, _ counts: ClosedRange<Int> = 0...Int.max, isUnique: Bool = false,
    _ message: @escaping @Sendable (Int) -> String = { _ in "" }
  ) -> Self where Value == [Element] {
    let minimum = counts.lowerBound > 0 ? #", "minItems": \#(counts.lowerBound)"# : ""
    let maximum = counts.upperBound < Int.max ? #", "maxItems": \#(counts.upperBound)"# : ""
    return Self(
      #""type": "array"\#(minimum)\#(maximum)\#(isUnique ? #", "uniqueItems": true"# : ""), "items": {\#(element.schema)}"#,
      json: { .array($0.map(element.json)) },
      read: { reader, json, place in
        guard case .array(let entries) = json else {
          reader.wrongType(json, place, wanted)
          return nil
        }
        guard counts.contains(entries.count) else {
          reader.problem(.invalidValue, place, message(entries.count))
          return nil
        }
        var elements: [Element] = []
        for (index, entry) in entries.enumerated() {
          let place = place.appending(index)
          guard let value = element.read(&reader, entry, place) else { continue }
          if isUnique, elements.contains(value) {
            // A text may have a normal form.
            let text = value as? String ?? entry.string ?? ""
            reader.problem(.duplicateName, place, "\(text) is in the list already; remove one of them")
          }
          elements.append(value)
        }
        return elements
      })
  }
}

// MARK: Words

extension ValueKind where Value: RawRepresentable<String> & CaseIterable {
  /// One of the cases.
  ///
  /// - Parameters:
  ///   - problem: The end of the message: "is not a codec; use".
  ///   - separator: The text between the words of the message.
  @_semantics("optimize.sil.specialize.generic.never")
  static func word(_ problem: String, _ separator: String = " or ") -> Self {
    word { json, words in "\(json) \(problem) \(words.joined(separator: separator))" }
  }

  /// One of the cases.
  ///
  /// - Parameter problem: The message for anything else, with the words of the cases.
  @_semantics("optimize.sil.specialize.generic.never")
  static func word(_ problem: @escaping @Sendable (JSONValue, [String]) -> String) -> Self {
    let words = Value.allCases.map(\.rawValue)
    return Self(
      #""enum": \#(words)"#, json: { .string($0.rawValue) },
      read: { reader, json, place in
        if let word = json.string.flatMap(Value.init(rawValue:)) { return word }
        reader.problem(.invalidValue, place, problem(json, words))
        return nil
      })
  }
}

extension ValueKind<Bool> {
  static var truth: Self { Self(#""type": "boolean""#, json: { .bool($0) }, read: { $0.truth($1, $2) }) }
}

// MARK: Quantities

extension ValueKind<Int> {
  static func count(_ range: ClosedRange<Int>) -> Self {
    Self(
      #""type": "integer", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)"#, json: { .number(JSONNumber($0)) },
      read: { $0.count($1, $2, range) })
  }

  /// A number of bytes above zero.
  static var size: Self { size("") }

  /// A number of bytes with limits of its own.
  ///
  /// - Parameter limits: The limits as members of the schema: JSON after a comma.
  static func size(_ limits: String) -> Self {
    Self(##""$ref": "#/$defs/size"\##(limits)"##, json: { .string(ByteSizeText.print($0)) }, read: { $0.bytes($1, $2) })
  }
}

extension ValueKind<Duration> {
  /// A duration above zero.
  static var duration: Self { duration { $0.duration($1, $2) } }
  /// A duration, which may be zero.
  static var delay: Self {
    Self(##""$ref": "#/$defs/delay""##, json: { .string(DurationText.print($0)) }, read: { $0.duration($1, $2, orZero: true) })
  }

  /// A duration with limits of its own.
  static func duration(read: @escaping @Sendable (inout ManifestReader, JSONValue, JSONPointer) -> Duration?) -> Self {
    Self(##""$ref": "#/$defs/duration""##, json: { .string(DurationText.print($0)) }, read: read)
  }
}

extension ValueKind<Double> {
  /// A percentage, as a fraction.
  static var share: Self { share("share") { $0.share($1, $2) } }
  /// A percentage above zero, as a fraction.
  static var positiveShare: Self { share("positiveShare") { $0.positiveShare($1, $2) } }
  /// A duration in seconds, which may be zero.
  static var delay: Self {
    Self(
      ##""$ref": "#/$defs/delay""##, json: { .string(DurationText.print(.milliseconds(($0 * 1000).rounded()))) },
      read: { $0.duration($1, $2, orZero: true)?.seconds })
  }

  static func number(_ range: ClosedRange<Int>) -> Self {
    Self(
      #""type": "number", "minimum": \#(range.lowerBound), "maximum": \#(range.upperBound)"#,
      json: { JSONNumber($0).map { .number($0) } ?? .null },
      read: { reader, json, place in
        if let number = json.double, number >= Double(range.lowerBound), number <= Double(range.upperBound) { return number }
        reader.problem(.invalidValue, place, "\(json) is not a number from \(range.lowerBound) to \(range.upperBound); write one")
        return nil
      })
  }

  private static func share(
    _ name: String, _ read: @escaping @Sendable (inout ManifestReader, JSONValue, JSONPointer) -> Double?
  ) -> Self {
    Self(
      ##""$ref": "#/$defs/\##(name)""##,
      json: { share in JSONNumber(share * 100).map { .string("\($0.lexeme)%") } ?? .null }, read: read)
  }
}

// MARK: Texts

extension ValueKind<String> {
  /// A text that is not empty.
  static var text: Self { text() }
  /// A text that may contain references.
  static var reference: Self { text { $0.reference($1, $2) } }
  /// A path that need not exist.
  static var path: Self { text { $0.path($1, $2) } }
  /// The name of a header.
  static func headerName(_ advice: String) -> Self {
    Self(
      ##""$ref": "#/$defs/headerName""##, json: { .string($0) },
      read: { reader, json, place in
        if let name = reader.text(json, place), HeaderText.isName(name) { return name }
        reader.problem(.invalidValue, place, "\(json) is not a header name; write one\(advice)")
        return nil
      })
  }

  /// The path of an existing file.
  static func file(_ advice: String) -> Self { text { $0.existing($1, $2, advice) } }

  /// A text that is not empty and has a form.
  static func text(_ schema: String, _ isValid: @escaping @Sendable (String) -> Bool, _ problem: String) -> Self {
    text(schema).checked(isValid) { "\($1.debugDescription) \(problem)" }
  }

  /// A text that is not empty, with a check of its own.
  static func text(
    _ schema: String = ##""$ref": "#/$defs/text""##,
    read: @escaping @Sendable (inout ManifestReader, JSONValue, JSONPointer) -> String? = { $0.text($1, $2) }
  ) -> Self {
    Self(schema, json: { .string($0) }, read: read)
  }
}

extension ValueKind<[String]> {
  /// Names of headers, or prefixes of names followed by a star.
  static var headerPatterns: Self {
    list(
      of: .text(
        ##""$ref": "#/$defs/headerPattern""##,
        // A star is allowed only at the end, so that the list shows clearly which headers pass.
        { HeaderText.isName($0.hasSuffix("*") ? String($0.dropLast()) : $0) && !$0.dropLast().contains("*") },
        "is not a header name; write a name, or a prefix and a star"), "a list of header names")
  }
}
