package import CarabinerWire

/// A finding of a check.
package struct Finding: Sendable, Hashable {
  package enum Severity: String, Sendable, Hashable {
    case failure
    case warning
  }

  /// The check whose rule is broken; another check may have found it.
  package let check: String
  package let severity: Severity
  /// The fault, and what to do.
  package let message: String
  /// The place in the plugin: interceptor, hook and step. Empty if the finding has none.
  package let place: String

  package init(_ check: String, _ severity: Severity, _ message: String, place: String = "") {
    self.check = check
    self.severity = severity
    self.message = message
    self.place = place
  }

  package var json: JSONValue {
    ["check": .string(check), "severity": .string(severity.rawValue), "message": .string(message), "place": .string(place)]
  }

  /// Reads a finding; nil if the JSON is not one.
  package init?(_ json: JSONValue) {
    guard let check = json["check"]?.string, let severity = json["severity"]?.string.flatMap(Severity.init),
      let message = json["message"]?.string, let place = json["place"]?.string
    else { return nil }
    self.init(check, severity, message, place: place)
  }
}
