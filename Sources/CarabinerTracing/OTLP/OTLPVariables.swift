internal import CarabinerWire

/// The environment variables of OpenTelemetry.
struct OTLPVariables {
  private let environment: [String: String]
  private let warn: (String) -> Void

  init(_ environment: [String: String], warn: @escaping (String) -> Void) {
    self.environment = environment
    self.warn = warn
  }

  /// The value of a variable; nil if it is empty or not set.
  subscript(name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

  /// Whether tracing is disabled.
  var isOff: Bool {
    self["OTEL_SDK_DISABLED"]?.lowercased() == "true" || self["OTEL_TRACES_EXPORTER"]?.lowercased() == "none"
  }

  /// A setting of the exporter: the one for traces, or the general one.
  func exporter(_ name: String) -> String? {
    self["OTEL_EXPORTER_OTLP_TRACES_\(name)"] ?? self["OTEL_EXPORTER_OTLP_\(name)"]
  }

  /// A number above zero.
  func number(_ name: String) -> Int? { self[name].flatMap { number(name, $0) } }

  func number(_ name: String, _ text: String) -> Int? {
    if let number = Int(text), number > 0, number <= Int(Int32.max) { return number }
    warn("\(name) takes a number above 0 and is ignored")
    return nil
  }

  /// Pairs of name and value of an exporter setting, such as `a=b,c=d` with percent-encoded values.
  func pairs(_ name: String) -> [(name: String, value: String)] {
    exporter(name).map { pairs($0, of: "OTEL_EXPORTER_OTLP_\(name)") } ?? []
  }

  private func pairs(_ text: String, of name: String) -> [(name: String, value: String)] {
    text.split(separator: ",").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
      guard parts.count == 2, !parts[0].isEmpty, let value = PercentEncoding.decoded(parts[1].utf8) else {
        // The value may be a secret.
        warn("\(name) expects pairs as name=value, separated by commas; a malformed entry is ignored")
        return nil
      }
      return (parts[0], value)
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  /// The attributes of the process. The name is always set.
  var resource: [(name: String, value: String)] {
    var resource = self["OTEL_RESOURCE_ATTRIBUTES"].map { pairs($0, of: "OTEL_RESOURCE_ATTRIBUTES") } ?? []
    let named = resource.last { $0.name == "service.name" }?.value
    resource.removeAll { $0.name == "service.name" }
    let name = self["OTEL_SERVICE_NAME"] ?? named ?? OTLPSettings.defaultServiceName
    return [("service.name", name)] + resource
  }

  /// The sampler.
  ///
  /// - Parameter share: The share of the command line; nil if it is not set.
  func sampler(share: Double?) -> TraceSampler {
    let name = self["OTEL_TRACES_SAMPLER"] ?? "parentbased_traceidratio"
    var sampler = TraceSampler(followsParent: name.hasPrefix("parentbased_"))
    switch name.hasPrefix("parentbased_") ? String(name.dropFirst("parentbased_".count)) : name {
    case "always_on": sampler.share = 1
    case "always_off": sampler.share = 0
    case "traceidratio": sampler.share = ratio ?? 0
    default:
      warn(
        "OTEL_TRACES_SAMPLER accepts always_on, always_off and traceidratio, each also with the prefix parentbased_; \(name) is ignored"
      )
      sampler = TraceSampler(share: ratio ?? 0)
    }
    if let share { sampler.share = share }
    return sampler
  }

  private var ratio: Double? {
    guard let text = self["OTEL_TRACES_SAMPLER_ARG"] else { return nil }
    if let ratio = Double(text), (0...1).contains(ratio) { return ratio }
    warn("OTEL_TRACES_SAMPLER_ARG takes a number from 0 to 1 and is ignored")
    return nil
  }
}
