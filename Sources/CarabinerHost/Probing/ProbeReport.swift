package import CarabinerBridge
package import CarabinerManifest
package import CarabinerWire

/// The report of a child process of ``PluginProbe``, on the line before the last.
package struct ProbeReport {
  /// The interceptors of the loaded library; null if none was loaded by itself.
  package var interceptors: JSONValue = .null
  /// The problems of the manifest.
  package var problems: [ManifestProblem] = []
  /// The services that plugins requested and that are not granted.
  package var missingGrants: [(entry: String, grant: String)] = []
  /// Why the library was not loaded.
  package var refusal: HostError?

  package init() {}

  /// Adds an error of loading.
  package mutating func add(_ error: any Error, subject: String) {
    switch error {
    case let error as ManifestError: problems += error.problems
    case let problem as ManifestProblem: problems.append(problem)
    case let error as HostError: refusal = error
    default: refusal = HostError(.entryRefused, step: "probe", path: subject, "\(error)")
    }
  }

  package var json: JSONValue {
    [
      "interceptors": interceptors,
      "problems": .array(
        problems.map {
          ["code": .string($0.code.rawValue), "pointer": .string($0.pointer.description), "message": .string($0.message)]
        }),
      "missingGrants": .array(missingGrants.map { ["entry": .string($0.entry), "grant": .string($0.grant)] }),
      "refusal": refusal.map {
        [
          "code": .string($0.code.rawValue), "step": .string($0.step), "path": .string($0.path), "message": .string($0.message),
        ]
      } ?? .null,
    ]
  }

  /// Whether an interceptor has an instance for each call; nil if its library was not loaded.
  ///
  /// - Parameter id: The id of the interceptor; nil if the library has only one.
  package func isPerCall(_ id: String?) -> Bool? {
    let all = interceptors.array ?? []
    let found = id == nil && all.count == 1 ? all.first : all.first { $0["id"]?.string == id }
    return found?["threads"]?.string.map { $0 == "per-call" }
  }

  /// Parses a report; nil if it is malformed.
  init?(_ json: JSONValue) {
    guard let problems = json["problems"]?.array, let refusal = json["refusal"] else { return nil }
    interceptors = json["interceptors"] ?? .null
    for problem in problems {
      guard let code = problem["code"]?.string.flatMap(ManifestProblem.Code.init), let message = problem["message"]?.string,
        let pointer = problem["pointer"]?.string.flatMap({ JSONPointer($0) })
      else { return nil }
      self.problems.append(ManifestProblem(code, at: pointer, message))
    }
    for missing in json["missingGrants"]?.array ?? [] {
      guard let entry = missing["entry"]?.string, let grant = missing["grant"]?.string else { return nil }
      missingGrants.append((entry, grant))
    }
    guard refusal != .null else { return }
    guard let code = refusal["code"]?.string.flatMap(HostError.Code.init), let step = refusal["step"]?.string,
      let path = refusal["path"]?.string, let message = refusal["message"]?.string
    else { return nil }
    self.refusal = HostError(code, step: step, path: path, message)
  }
}
