internal import CarabinerWire

extension Manifest.CORS {
  static let fields = Fields(Self(origins: [])) {
    $0.key(
      "origins", \.origins,
      .list(of: .origin, "a list of origins", 1...maximumEntries, isUnique: true) {
        $0 == 0 ? "this list is empty; name an origin, or remove cors" : tooMany($0)
      },
      "Origins such as https://app.example.org, https://*.example.org for all subdomains, or * for all. They may also open "
        + "WebSockets.",
      missing: "the origins are missing; list the origins of pages that may use it, as https://app.example.org", isFirst: false)
    $0.key(
      "headers", \.headers, .headerNames, "Request headers that pages may set. Without it, all headers that a browser asks for.")
    $0.key("expose", \.exposedHeaders, .headerNames, "Response headers that pages may read.")
    $0.key(
      "credentials", \.allowsCredentials, .truth,
      "Whether browsers may send cookies and other credentials. Not with the origin *.")
    $0.key(
      "maximum-age", \.maximumAge,
      .duration { reader, json, place in
        guard let age = reader.duration(json, place, orZero: true) else { return nil }
        if age > highestMaximumAge { reader.problem(.invalidValue, place, "\(json) is more than 24h; write a shorter one") }
        return age
      }, "The time that a browser may keep the answer to a preflight, at most 24h.")
    $0.rule(
      #""not": {"required": ["credentials", "origins"], "properties": {"credentials": {"const": true}, "#
        + #""origins": {"contains": {"const": "*"}}}}"#
    ) { reader, cors, _, pointer in
      guard cors.allowsCredentials, cors.origins.contains(.any) else { return }
      reader.problem(
        .invalidValue, pointer.appending("credentials"),
        "the origin * does not allow credentials, because every page could then act as its visitor; list the origins, or remove "
          + "credentials")
    }
  }

  fileprivate static func tooMany(_ count: Int) -> String {
    "this list has \(count) entries, and at most \(maximumEntries) are allowed; use patterns"
  }
}

extension ValueKind<[String]> {
  /// Names of headers, without patterns.
  fileprivate static var headerNames: Self {
    list(
      of: .text(
        ##""$ref": "#/$defs/headerName""##, { HeaderText.isName($0) }, "is not a header name; use letters, digits and -"),
      "a list of header names", 0...Manifest.CORS.maximumEntries, Manifest.CORS.tooMany)
  }
}

extension ValueKind<OriginPattern> {
  fileprivate static var origin: Self {
    Self(
      #""type": "string", "pattern": "^([*]|[A-Za-z][A-Za-z0-9+.-]*://([*][.])?([A-Za-z0-9_.-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]+)?)$""#
    ) { reader, json, place in
      guard let text = reader.text(json, place) else { return nil }
      if let origin = OriginPattern(text) { return origin }
      reader.problem(
        .invalidValue, place,
        "\(text.debugDescription) is not an origin; write a scheme and a host without a path, as https://example.org, "
          + "https://*.example.org for all subdomains, or * for all origins")
      return nil
    }
  }
}
