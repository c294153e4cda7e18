internal import CarabinerWire
internal import Glibc

extension ManifestReader {
  /// The members of an object. Unknown keys are reported.
  mutating func object(_ json: JSONValue, _ pointer: JSONPointer, knowing keys: [String]) -> JSONObject? {
    guard case .object(let object) = json else {
      wrongType(json, pointer, "an object")
      return nil
    }
    refuseUnknownKeys(of: object, pointer, knowing: keys)
    return object
  }

  mutating func refuseUnknownKeys(of object: JSONObject, _ pointer: JSONPointer, knowing keys: [String]) {
    for key in object.keys where !keys.contains(key) {
      problem(
        .unknownKey, pointer.appending(key),
        "unknown key \(key)\(Suggestion.text(for: key, among: keys)); known are "
          + keys.filter { $0 != "$schema" }.joined(separator: ", "))
    }
  }

  /// A text that is not empty.
  mutating func text(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = json.string else {
      wrongType(json, pointer, "a text")
      return nil
    }
    guard !text.isEmpty else {
      problem(.invalidValue, pointer, "this text is empty; fill it in, or remove the key")
      return nil
    }
    return text
  }

  /// A text that may contain references.
  mutating func reference(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let text = text(json, pointer) else { return nil }
    checkReferences(text, pointer)
    return text
  }

  mutating func checkReferences(_ text: String, _ pointer: JSONPointer) {
    do throws(ManifestProblem) {
      for part in try ReferencePart.parts(of: text, at: pointer) {
        if case .file(let path) = part { _ = resolved(path, pointer) }
      }
    } catch {
      report(error)
    }
  }

  /// A path. A relative one starts from the manifest's folder.
  mutating func path(_ json: JSONValue, _ pointer: JSONPointer) -> String? {
    guard let path = text(json, pointer) else { return nil }
    guard !path.utf8.contains(0) else {
      problem(.invalidValue, pointer, "a path cannot hold NUL; correct it")
      return nil
    }
    return resolved(path, pointer)
  }

  /// A path from the root. A relative one is refused in a manifest that is not in a folder.
  mutating func resolved(_ path: String, _ pointer: JSONPointer) -> String? {
    if path.hasPrefix("/") { return path }
    guard let directory else {
      problem(
        .invalidValue, pointer,
        "this manifest is not in a folder that \(path.debugDescription) could start from; write an absolute path or url:")
      return nil
    }
    return "\(directory)/\(path)"
  }

  /// The path of an existing file.
  mutating func existing(_ json: JSONValue, _ pointer: JSONPointer, _ advice: String) -> String? {
    guard let path = path(json, pointer) else { return nil }
    guard unsafe access(path, F_OK) == 0 else {
      problem(.missing, pointer, "there is no file \(path); \(advice)")
      return nil
    }
    return path
  }

  mutating func truth(_ json: JSONValue, _ pointer: JSONPointer) -> Bool? {
    guard let truth = json.bool else {
      wrongType(json, pointer, "true or false")
      return nil
    }
    return truth
  }

  mutating func count(_ json: JSONValue, _ pointer: JSONPointer, _ range: ClosedRange<Int>) -> Int? {
    guard let count = json.int, range.contains(count) else {
      problem(
        .invalidValue, pointer, "\(json) is not a whole number from \(range.lowerBound) to \(range.upperBound); write one")
      return nil
    }
    return count
  }

  /// A duration. Zero is allowed only with `orZero`.
  mutating func duration(_ json: JSONValue, _ pointer: JSONPointer, orZero: Bool = false) -> Duration? {
    guard let text = json.string else {
      problem(.invalidValue, pointer, "\(json) is not a duration; write it with a unit, as in 250ms, 30s or 2m")
      return nil
    }
    do throws(MalformedQuantity) {
      let duration = try DurationText.parse(text)
      guard duration > .zero || orZero else {
        throw MalformedQuantity(description: "\(text) is zero; write a longer duration, or remove the key")
      }
      return duration
    } catch {
      problem(.invalidValue, pointer, error.description)
      return nil
    }
  }

  mutating func bytes(_ json: JSONValue, _ pointer: JSONPointer) -> Int? {
    do throws(MalformedQuantity) {
      // A plain number of bytes needs no quotes.
      let text = json.string ?? json.int.map(String.init) ?? json.description
      let bytes = try ByteSizeText.parse(text)
      guard bytes > 0 else { throw MalformedQuantity(description: "\(text) is zero; write a larger size") }
      return bytes
    } catch {
      problem(.invalidValue, pointer, error.description)
      return nil
    }
  }

  /// A percentage above zero as a fraction.
  mutating func positiveShare(_ json: JSONValue, _ pointer: JSONPointer) -> Double? {
    guard let share = share(json, pointer) else { return nil }
    guard share > 0 else {
      problem(.invalidValue, pointer, "the share must be above 0%; write a larger one, or remove the key")
      return nil
    }
    return share
  }

  /// A percentage as a fraction, such as 5% or 0.5%.
  mutating func share(_ json: JSONValue, _ pointer: JSONPointer) -> Double? {
    guard let text = json.string, text.wholeMatch(of: /(100(\.0+)?|[0-9]{1,2}(\.[0-9]+)?)%/) != nil,
      let percent = Double(text.dropLast())
    else {
      problem(.invalidValue, pointer, "\(json) is not a share; write a number from 0 to 100 and a per cent sign, as in 5%")
      return nil
    }
    return percent / 100
  }

  /// A name, or a list of names that is not empty, each with its place.
  mutating func names(_ json: JSONValue?, _ pointer: JSONPointer) -> [(name: String, pointer: JSONPointer)] {
    switch json {
    case nil: return []
    case .string(let name)?: return text(.string(name), pointer).map { [($0, pointer)] } ?? []
    case .array(let elements)?:
      if elements.isEmpty { problem(.invalidValue, pointer, "this list is empty; name something, or remove the key") }
      return elements.enumerated().compactMap { index, element in
        let place = pointer.appending(index)
        return text(element, place).map { ($0, place) }
      }
    case let other?:
      wrongType(other, pointer, "a name or a list of names")
      return []
    }
  }
}
