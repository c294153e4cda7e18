internal import CarabinerPlugin

/// Adds the header X-Team with the configured value to every HTTP request, and logs the status of each response.
///
/// A stage never calls the next one. The host calls a hook, and the hook returns a verdict. `Plugin` in the kit lists
/// the hooks, and carabiner.h describes their parts and verdicts. There is one instance per manifest entry. Hooks of
/// different calls run at the same time on the host's threads. An error in a hook fails its call.
struct Interceptor: HTTP.Stage, HTTP.OnHead {
  // It must match the note in Sources/Note/note.c. The host checks the configuration against the schema.
  static let identity = PluginIdentity(
    id: "org.example.my-plugin", version: "1.0.0",
    configurationSchema: #"""
      {"type":"object","additionalProperties":false,"required":["team"],"properties":{
        "team":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$"}}}
      """#)
  // Hooks can change only the parts named here.
  static let http = StageParts(mutates: .headers)

  private struct Settings: Decodable {
    let team: String
  }

  private let team: String

  /// The operator sees errors that are thrown here.
  init(configuration: PluginConfiguration, host: PluginHost) throws {
    guard let settings = try? configuration.decode(Settings.self), !settings.team.isEmpty else {
      throw PluginFailure("config: team is missing; write config: {team: NAME}")
    }
    team = settings.team
  }

  /// Called before the request is sent, and again for each retry. The stage has no state per call.
  func onRequest(_ call: HTTP.Call, _ state: inout NoState) throws -> Verdict {
    try call.setHeader("X-Team", to: team)
    return .continue
  }

  /// Status and headers have arrived. The head is valid until this hook completes.
  func onHead(_ call: HTTP.Call, _ head: borrowing Head, _ state: inout NoState) -> Verdict {
    let status = head.status
    call.log(.info, "the server answered with status \(status)")
    return .continue
  }
}
