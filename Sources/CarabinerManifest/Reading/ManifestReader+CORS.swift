internal import CarabinerWire

extension ManifestReader {
  mutating func cors(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.CORS? {
    let keys = ["origins", "headers", "expose", "credentials", "maximum-age"]
    guard let object = object(json, pointer, knowing: keys) else { return nil }
    var cors = Manifest.CORS(origins: [])
    if object["origins"] == nil {
      problem(.missing, pointer, "the origins are missing; list the origins of pages that may use it, as https://app.example.org")
    }
    for (key, value) in object {
      let place = pointer.appending(key)
      switch key {
      case "origins": cors.origins = origins(value, place)
      case "headers": cors.headers = headerNames(value, place)
      case "expose": cors.exposedHeaders = headerNames(value, place)
      case "credentials": cors.allowsCredentials = truth(value, place) ?? false
      case "maximum-age":
        guard let age = duration(value, place, orZero: true) else { continue }
        if age > Manifest.CORS.highestMaximumAge {
          problem(.invalidValue, place, "\(value) is more than 24h; write a shorter one")
        }
        cors.maximumAge = age
      default: break
      }
    }
    if cors.allowsCredentials, cors.origins.contains(.any) {
      problem(
        .invalidValue, pointer.appending("credentials"),
        "the origin * does not allow credentials, because every page could then act as its visitor; list the origins, or remove credentials"
      )
    }
    return cors
  }

  private mutating func origins(_ json: JSONValue, _ pointer: JSONPointer) -> [OriginPattern] {
    guard let entries = entries(json, pointer, "a list of origins") else { return [] }
    if entries.isEmpty { problem(.invalidValue, pointer, "this list is empty; name an origin, or remove cors") }
    var origins: [OriginPattern] = []
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard let text = text(entry, place) else { continue }
      guard let origin = OriginPattern(text) else {
        problem(
          .invalidValue, place,
          "\(text.debugDescription) is not an origin; write a scheme and a host without a path, as https://example.org, "
            + "https://*.example.org for all subdomains, or * for all origins")
        continue
      }
      if origins.contains(origin) { problem(.duplicateName, place, "\(text) is in the list already; remove one of them") }
      origins.append(origin)
    }
    return origins
  }

  /// Names of headers, without patterns.
  private mutating func headerNames(_ json: JSONValue, _ pointer: JSONPointer) -> [String] {
    guard let entries = entries(json, pointer, "a list of header names") else { return [] }
    return entries.enumerated().compactMap { index, entry in
      let place = pointer.appending(index)
      guard let name = text(entry, place) else { return nil }
      guard HeaderText.isName(name) else {
        problem(.invalidValue, place, "\(name.debugDescription) is not a header name; use letters, digits and -")
        return nil
      }
      return name
    }
  }

  /// The entries of a list that is not too long.
  private mutating func entries(_ json: JSONValue, _ pointer: JSONPointer, _ wanted: String) -> [JSONValue]? {
    guard case .array(let entries) = json else {
      wrongType(json, pointer, wanted)
      return nil
    }
    guard entries.count <= Manifest.CORS.maximumEntries else {
      problem(
        .invalidValue, pointer,
        "this list has \(entries.count) entries, and at most \(Manifest.CORS.maximumEntries) are allowed; use patterns")
      return nil
    }
    return entries
  }
}
