internal import CarabinerWire

/// Reads the keywords of a schema object and rejects values of the wrong type.
struct SchemaSource {
  let object: JSONObject
  let pointer: JSONPointer

  /// The place of a member of a keyword's object.
  func place(_ key: String, _ name: String) -> JSONPointer { pointer.appending(key).appending(name) }

  private func fault(_ key: String, _ wanted: String) -> CompiledSchema.Fault {
    CompiledSchema.Fault(pointer: pointer.appending(key), message: "\(key) must be \(wanted)")
  }

  func text(_ key: String) throws -> String? {
    guard let value = object[key] else { return nil }
    guard let text = value.string else { throw fault(key, "a text") }
    return text
  }

  func truth(_ key: String) throws -> Bool? {
    guard let value = object[key] else { return nil }
    guard let truth = value.bool else { throw fault(key, "true or false") }
    return truth
  }

  func number(_ key: String) throws -> JSONNumber? {
    guard let value = object[key] else { return nil }
    guard let number = value.number else { throw fault(key, "a number") }
    return number
  }

  func count(_ key: String) throws -> Int? {
    guard let value = object[key] else { return nil }
    guard let count = value.int, count >= 0 else { throw fault(key, "a whole number from 0") }
    return count
  }

  func array(_ key: String) throws -> [JSONValue]? {
    guard let value = object[key] else { return nil }
    guard let array = value.array else { throw fault(key, "a list") }
    return array
  }

  /// The names of the members of a keyword's object.
  func members(_ key: String) throws -> [String] { try inside(key).object.keys }

  /// A keyword's object; empty if the keyword is absent.
  func inside(_ key: String) throws -> SchemaSource {
    guard let value = object[key] else { return SchemaSource(object: [:], pointer: pointer) }
    guard let object = value.object else { throw fault(key, "an object") }
    return SchemaSource(object: object, pointer: pointer.appending(key))
  }

  func names(_ key: String) throws -> [String]? {
    guard let elements = try array(key) else { return nil }
    let names = elements.compactMap(\.string)
    guard names.count == elements.count else { throw fault(key, "a list of texts") }
    return names
  }

  func types() throws -> [SchemaType]? {
    guard let value = object["type"] else { return nil }
    let names = value.array ?? [value]
    let types = names.compactMap { $0.string.flatMap(SchemaType.init) }
    guard types.count == names.count, !types.isEmpty else {
      throw fault("type", "one or more of \(SchemaType.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return types
  }

  /// Compiles a pattern of a keyword.
  func pattern(_ text: String, _ key: String) throws -> SchemaPattern {
    do throws(SchemaPattern.Fault) {
      return try SchemaPattern(text)
    } catch {
      throw CompiledSchema.Fault(
        pointer: pointer.appending(key), message: "the pattern \(text.debugDescription) cannot be used: \(error.message)")
    }
  }
}

extension String {
  /// The text with percent escapes decoded; nil if an escape is not valid.
  var removingPercentEscapes: String? {
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(Substring(rest.prefix(2)))
      guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit), let value = UInt8(digits, radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
