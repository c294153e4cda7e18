internal import CarabinerWire

extension ManifestReader {
  mutating func readUpstreams(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .object(let entries) = json else { return wrongType(json, pointer, "an object of upstreams by name") }
    if manifest.callProtocol != .graphQL {
      problem(.invalidValue, pointer, "upstreams needs protocol: graphql; write endpoint: with one URL")
    }
    for (name, value) in entries {
      let place = pointer.appending(name)
      guard !name.isEmpty, Self.isName(name) else {
        problem(.invalidValue, place, "\(name.debugDescription) is not an upstream name; use letters a-z, digits and -")
        continue
      }
      // An upstream with problems counts as declared, so that rules that name it are not reported too.
      declaredUpstreams.insert(name)
      if name == Manifest.mainUpstream, manifest.endpoint != nil {
        problem(
          .invalidValue, place, "endpoint: and upstreams: {main: …} both name the endpoints of main; remove one of them")
      }
      if let upstream = upstream(name, value, place) { manifest.upstreams.append(upstream) }
    }
  }

  private mutating func upstream(_ name: String, _ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Upstream? {
    guard var upstream = Manifest.Upstream.fields.read(json, pointer, &self) else { return nil }
    upstream.name = name
    if json["outliers"] == nil, upstream.endpoints.count > 1 { upstream.outliers = Manifest.Upstream.Outliers() }
    return upstream
  }
}
