package import Carabiner
internal import CarabinerWire

/// Header fields: values by name. Received names are in lower case.
public typealias Headers = [String: [String]]

/// The fields that follow a response: values by name. Received names are in lower case.
public typealias Trailers = [String: [String]]

extension Headers {
  /// The fields of a received head.
  package init(received fields: HTTPHeaders) {
    self.init()
    for field in fields {
      let name = HeaderFields.lowercased(field.name)
      self[name, default: []] += HeaderFields.values(of: field.value, for: name)
    }
  }

  /// The content type as received, and its type and subtype for comparisons. Both are nil if the field is absent; the second one
  /// also if the field is malformed.
  var contentType: (text: String?, essence: String?) {
    let text = self[HeaderConstants.contentType]?.joined(separator: ",")
    return (text, text.flatMap { MediaType($0)?.essence })
  }

  /// Removes the fields that are trailers of a unary Connect call, and returns them without their prefix.
  mutating func takeTrailers() -> Trailers {
    var trailers: Trailers = [:]
    for name in keys.filter({ $0.hasPrefix(HeaderFields.trailerPrefix) }) {
      let trailer = String(name.dropFirst(HeaderFields.trailerPrefix.count))
      guard let values = removeValue(forKey: name), !trailer.isEmpty else { continue }
      trailers[trailer] = values
    }
    return trailers
  }
}
