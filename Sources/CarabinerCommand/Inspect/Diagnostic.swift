internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerRelease
internal import CarabinerWire

/// One result of `carabiner check`: text in the format of compilers, or a JSON object.
struct Diagnostic: Hashable {
  enum Severity: String {
    case error, warning
  }

  let severity: Severity
  /// The kind of problem, named as in ``CarabinerManifest/ManifestProblem/Code`` and ``CarabinerBridge/HostError/Code``.
  let code: String
  let problem: ManifestProblem

  init(_ problem: ManifestProblem, severity: Severity = .error) {
    self.severity = severity
    self.problem = problem
    code = problem.code.rawValue
  }

  /// A plugin that cannot be loaded, at the key of its entry that causes the error.
  init(_ refusal: HostError, of plugin: Manifest.Plugin, severity: Severity = .error) {
    let key =
      switch refusal.code {
      case .pinMismatch: "sha256"
      case .configurationRefused: "config"
      case .noSuchInterceptor: "interceptor"
      case .isolation: "isolation"
      default: plugin.source.key
      }
    self.severity = severity
    code = refusal.code.rawValue
    // The plugin's file is not at fault.
    let text =
      refusal.code == .isolation ? refusal.message : "\(refusal.path): \(refusal.message) (step \(refusal.step))"
    problem = ManifestProblem(.pluginRefused, at: plugin.pointer.appending(key), text)
  }

  /// A manifest that is not accepted, or a trust file that cannot be used.
  init(_ refusal: ReleaseError) {
    self.init(.error, refusal.code.rawValue, ManifestProblem(.unreadable, refusal.message))
  }

  /// The file of a plugin that was not verified, or is not a plugin.
  init(unverified error: any Error, _ plugin: Manifest.Plugin) {
    switch error {
    case let error as HostError: self.init(error, of: plugin)
    case let error as ReleaseError:
      self.init(
        .error, error.code.rawValue,
        ManifestProblem(.pluginRefused, at: plugin.pointer.appending(plugin.source.key), error.message))
    default: self.init(ManifestProblem(.pluginRefused, at: plugin.pointer, "\(error)"))
    }
  }

  /// A service that a plugin requests and is not granted. The plugin may work without it.
  static func missing(grant: String, of plugin: Manifest.Plugin) -> Diagnostic {
    let problem = ManifestProblem(
      .missingGrant, at: plugin.grants.isEmpty ? plugin.pointer : plugin.pointer.appending("grants"),
      "the plugin \(plugin.name) asks for the service \(grant), which it is not granted; add grants: [\(grant)] if it may use it")
    return Diagnostic(problem, severity: .warning)
  }

  private init(_ severity: Severity, _ code: String, _ problem: ManifestProblem) {
    self.severity = severity
    self.code = code
    self.problem = problem
  }

  /// The diagnostics with their lines, in the order of the manifest's text.
  static func placed(_ diagnostics: [Diagnostic], in manifest: Manifest) -> [Diagnostic] {
    diagnostics.map { Diagnostic($0.severity, $0.code, manifest.placed([$0.problem]).first ?? $0.problem) }
      .enumerated().sorted { left, right in
        guard let first = left.element.problem.position, let second = right.element.problem.position, first != second else {
          return left.offset < right.offset
        }
        return first < second
      }.map(\.element)
  }

  /// `FILE:LINE:COLUMN: error: /pointer: message [code]`, without unknown places.
  func text(path: String) -> String {
    let place = problem.position.map { ":\($0.line):\($0.column)" } ?? ""
    let pointer = problem.pointer.components.isEmpty ? "" : "\(problem.pointer): "
    return "\(path)\(place): \(severity.rawValue): \(pointer)\(problem.message) [\(code)]"
  }

  /// The problem as an object in the JSON report.
  var json: JSONValue {
    [
      "code": .string(code), "pointer": .string(problem.pointer.description),
      "line": problem.position.map { .number(JSONNumber($0.line)) } ?? .null,
      "column": problem.position.map { .number(JSONNumber($0.column)) } ?? .null, "message": .string(problem.message),
    ]
  }
}
