internal import CarabinerWire
internal import Tracing

/// The body of an OTLP request over HTTP, in JSON.
struct OTLPPayload {
  /// The attributes of the process.
  let resource: [(name: String, value: String)]
  let version: String
  /// The maximal length of a text. Longer ones are cut.
  let maximumTextBytes: Int

  /// The body of a request.
  func body(_ spans: [FinishedSpan]) -> [UInt8] {
    let scope: JSONValue = ["name": "carabiner", "version": .string(version)]
    let resource = self.resource.map { attribute($0.name, ["stringValue": text($0.value)]) }
    let json: JSONValue = [
      "resourceSpans": [
        [
          "resource": ["attributes": .array(resource)],
          "scopeSpans": [["scope": scope, "spans": .array(spans.map(json))]],
        ]
      ]
    ]
    return json.serialized()
  }

  private func json(_ span: FinishedSpan) -> JSONValue {
    var object: JSONObject = [
      "traceId": .string("\(span.context.traceID)"), "spanId": .string(span.context.spanID.map { "\($0)" } ?? ""),
      "flags": .number(JSONNumber(flags(span))), "name": text(span.name), "kind": .number(JSONNumber(kind(span.kind))),
      "startTimeUnixNano": .string("\(span.start)"), "endTimeUnixNano": .string("\(span.end)"),
      "attributes": .array(attributes(span.attributes)),
    ]
    if let parent = span.parent { object["parentSpanId"] = .string("\(parent)") }
    if let state = span.context.state { object["traceState"] = .string(state.text) }
    if !span.events.isEmpty { object["events"] = .array(span.events.map(json)) }
    if !span.links.isEmpty { object["links"] = .array(span.links.map(json)) }
    if let status = span.status {
      var json: JSONObject = ["code": .number(JSONNumber(status.code == .error ? 2 : 1))]
      if let message = status.message { json["message"] = text(message) }
      object["status"] = .object(json)
    }
    return .object(object)
  }

  /// The flags of the trace, including whether the parent is in another process.
  private func flags(_ span: FinishedSpan) -> Int { 0x101 | (span.isParentRemote ? 0x200 : 0) }

  private func json(_ event: SpanEvent) -> JSONValue {
    [
      "name": text(event.name), "timeUnixNano": .string("\(event.nanosecondsSinceEpoch)"),
      "attributes": .array(attributes(event.attributes)),
    ]
  }

  private func json(_ link: TraceContext) -> JSONValue {
    ["traceId": .string("\(link.traceID)"), "spanId": .string(link.spanID.map { "\($0)" } ?? "")]
  }

  private func kind(_ kind: SpanKind) -> Int {
    switch kind {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }

  // MARK: Attributes

  private func attributes(_ attributes: SpanAttributes) -> [JSONValue] {
    var all: [(name: String, value: JSONValue)] = []
    func add(_ name: String, _ attribute: SpanAttribute) { all.append((name, value(attribute))) }
    attributes.forEach(add)
    // Sorted, because the order of a dictionary changes from run to run.
    return all.sorted { $0.name < $1.name }.map { attribute($0.name, $0.value) }
  }

  private func attribute(_ name: String, _ value: JSONValue) -> JSONValue { ["key": .string(name), "value": value] }

  private func value(_ value: SpanAttribute) -> JSONValue {
    switch value {
    case .int32(let number): integer(Int64(number))
    case .int64(let number): integer(number)
    case .double(let number): double(number)
    case .bool(let value): ["boolValue": .bool(value)]
    case .string(let string): ["stringValue": text(string)]
    case .stringConvertible(let value): ["stringValue": text("\(value)")]
    case .int32Array(let numbers): list(numbers.map { integer(Int64($0)) })
    case .int64Array(let numbers): list(numbers.map(integer))
    case .doubleArray(let numbers): list(numbers.map(double))
    case .boolArray(let values): list(values.map { ["boolValue": .bool($0)] })
    case .stringArray(let strings): list(strings.map { ["stringValue": text($0)] })
    case .stringConvertibleArray(let values): list(values.map { ["stringValue": text("\($0)")] })
    default: ["stringValue": text("\(value)")]
    }
  }

  private func list(_ values: [JSONValue]) -> JSONValue { ["arrayValue": ["values": .array(values)]] }

  /// 64-bit integers are strings, because JavaScript numbers cannot represent them.
  private func integer(_ number: Int64) -> JSONValue { ["intValue": .string("\(number)")] }

  private func double(_ number: Double) -> JSONValue {
    if number.isNaN { return ["doubleValue": "NaN"] }
    if number.isInfinite { return ["doubleValue": number < 0 ? "-Infinity" : "Infinity"] }
    return ["doubleValue": JSONNumber(number).map { .number($0) } ?? .null]
  }

  private func text(_ text: String) -> JSONValue {
    guard text.utf8.count > maximumTextBytes else { return .string(text) }
    var end = text.utf8.index(text.startIndex, offsetBy: maximumTextBytes)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return .string(String(text[..<end]))
  }
}
