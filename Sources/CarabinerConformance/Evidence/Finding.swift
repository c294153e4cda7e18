package import CarabinerWire

/// A finding of a check. Two findings are equal if they report the same fault in the same place, whatever provoked it.
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
  /// The id of the check that found it; empty until its process has ended.
  package var foundBy = ""
  /// The number of the exchange of that check that provoked it; 0 if none did, or if several ran at once.
  package var exchange = 0
  /// How often the fault was found.
  package private(set) var count = 1
  /// The instruction that provoked it and the calls around it, as its process has recorded them.
  var calls: [RecordedFrame] = []
  /// The same for reports, with the functions and lines of the plugin; empty if there are none.
  package var stack: [StackFrame] = []

  package init(_ check: String, _ severity: Severity, _ message: String, place: String = "") {
    self.check = check
    self.severity = severity
    self.message = message
    self.place = place
  }

  package static func == (left: Finding, right: Finding) -> Bool {
    left.check == right.check && left.severity == right.severity && left.message == right.message && left.place == right.place
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(check)
    hasher.combine(message)
    hasher.combine(place)
  }

  /// The fault with its place.
  var statement: String { place.isEmpty ? message : "\(message) (\(place))" }

  /// The fault with its place and how often it was found.
  package var text: String { count > 1 ? "\(statement), \(count) times" : statement }

  /// Adds the count of an equal finding.
  fileprivate mutating func addCount(of other: Finding) {
    let (sum, isTooLarge) = count.addingReportingOverflow(other.count)
    count = isTooLarge ? .max : sum
  }

  /// The same finding, provoked by the exchange that runs, or was the last.
  var withExchange: Finding {
    var finding = self
    if finding.exchange == 0 { finding.exchange = ExchangeCounter.current }
    return finding
  }

  package var json: JSONValue { .object(members) }

  /// As a child reports it.
  var record: JSONValue {
    var record = members
    if !calls.isEmpty { record["calls"] = .array(calls.map(\.json)) }
    return .object(record)
  }

  /// As reports have it.
  var members: JSONObject {
    var members: JSONObject = [
      "check": .string(check), "severity": .string(severity.rawValue), "message": .string(message), "place": .string(place),
    ]
    if !foundBy.isEmpty { members["foundBy"] = .string(foundBy) }
    if exchange > 0 { members["exchange"] = .number(JSONNumber(exchange)) }
    if count > 1 { members["count"] = .number(JSONNumber(count)) }
    if !stack.isEmpty { members["stack"] = .array(stack.map(\.json)) }
    return members
  }

  /// Reads a finding; nil if the JSON is not one.
  package init?(_ json: JSONValue) {
    guard let check = json["check"]?.string, let severity = json["severity"]?.string.flatMap(Severity.init),
      let message = json["message"]?.string, let place = json["place"]?.string
    else { return nil }
    self.init(check, severity, message, place: place)
    exchange = max(json["exchange"]?.int ?? 0, 0)
    count = max(json["count"]?.int ?? 1, 1)
    calls = (json["calls"]?.array ?? []).compactMap(RecordedFrame.init)
  }
}

extension [Finding] {
  /// Adds a finding. An equal one is counted, and the first one stays.
  ///
  /// - Parameter maximum: How many different findings are kept.
  mutating func note(_ finding: Finding, atMost maximum: Int = .max) {
    if let index = firstIndex(of: finding) {
      self[index].addCount(of: finding)
    } else if count < maximum {
      append(finding)
    }
  }
}
