internal import CarabinerWire

/// The lines of `carabiner status` for an upstream: one for itself, and one for each endpoint.
enum UpstreamLines {
  /// The text of an upstream's object.
  static func text(_ upstream: JSONValue) -> String {
    var parts = ["\(word(upstream["underWay"])) under way", "\(word(upstream["waiting"])) waiting"]
    if upstream["panic"] == true { parts.append("panic: all endpoints are used") }
    if let breaker = upstream["breaker"]?.string, breaker != "none" { parts.append("breaker \(breaker)") }
    let heading = "upstream     \(word(upstream["name"])): \(parts.joined(separator: ", "))"
    return ([heading] + (upstream["endpoints"]?.array ?? []).map(endpoint)).joined(separator: "\n")
  }

  private static func endpoint(_ endpoint: JSONValue) -> String {
    var parts = [state(endpoint), "weight \(word(endpoint["weight"]))", "\(word(endpoint["underWay"])) under way"]
    if endpoint["backup"] == true { parts.insert("backup", at: 1) }
    if let ejections = endpoint["ejections"]?.int, ejections > 0 { parts.append("ejected \(ejections) times") }
    let address = endpoint["address"]?.string.map { " at \($0)" } ?? ""
    return "             \(word(endpoint["url"]))\(address): \(parts.joined(separator: ", "))"
  }

  private static func state(_ endpoint: JSONValue) -> String {
    if endpoint["healthy"] == false { return "failed by checks" }
    return endpoint["ejected"] == true ? "ejected" : "available"
  }

  private static func word(_ value: JSONValue?) -> String { value?.string ?? value?.description ?? "-" }
}
