internal import CarabinerWire

extension ManifestReader {
  mutating func compression(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Compression? {
    guard let object = object(json, pointer, knowing: ["encodings", "minimum", "level"]) else { return nil }
    var compression = Manifest.Compression()
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "encodings": compression.encodings = encodings(value, place)
      case "minimum": compression.minimumBytes = bytes(value, place) ?? compression.minimumBytes
      case "level": compression.level = count(value, place, Manifest.Compression.levels) ?? compression.level
      default: break
      }
    }
    return compression
  }

  private mutating func encodings(_ json: JSONValue, _ pointer: JSONPointer) -> [Manifest.Compression.Encoding] {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, "a list of encodings")
      return []
    }
    let known = Manifest.Compression.Encoding.allCases.map(\.rawValue).joined(separator: " and ")
    if entries.isEmpty { problem(.invalidValue, pointer, "this list is empty; name \(known), or remove compression") }
    var encodings: [Manifest.Compression.Encoding] = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let encoding = entry.string.flatMap(Manifest.Compression.Encoding.init) else {
        problem(.invalidValue, place, "\(entry) is not an encoding of responses; there are \(known)")
        continue
      }
      if encodings.contains(encoding) {
        problem(.duplicateName, place, "\(encoding.rawValue) is in the list already; remove one of them")
      }
      encodings.append(encoding)
    }
    return encodings
  }
}
