package import CarabinerWire

/// Something a check found.
package struct Finding: Sendable, Hashable {
  package enum Severity: String, Sendable, Hashable {
    case failure
    case warning
  }

  /// The check whose rule is broken; not always the one that saw it.
  package let check: String
  package let severity: Severity
  /// What was seen and what is right.
  package let message: String
  /// Where the plugin was: interceptor, hook, what was going on. Empty if that does not matter.
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

  /// Reads a finding; nil if it is none.
  package init?(_ json: JSONValue) {
    guard let check = json["check"]?.string, let severity = json["severity"]?.string.flatMap(Severity.init),
      let message = json["message"]?.string, let place = json["place"]?.string
    else { return nil }
    self.init(check, severity, message, place: place)
  }
}
