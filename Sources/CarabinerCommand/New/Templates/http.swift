internal import CarabinerPlugin

/// Puts the header X-Team on every HTTP request, with the value of its configuration, and logs what servers answer.
///
/// A stage never calls the next one: the host calls a hook, the hook does its part and answers with a verdict. `Plugin` in the kit lists
/// the hooks, carabiner.h says which parts and verdicts there are in which. One instance for each entry in a manifest; hooks of
/// different calls run at once, on the host's threads. What a hook throws fails its call.
struct Interceptor: HTTP.Stage, HTTP.OnHead {
  // The same as in the note, Sources/Note/note.c. The schema is what the host refuses manifests by.
  static let identity = PluginIdentity(
    id: "org.example.my-plugin", version: "1.0.0",
    configurationSchema: #"""
      {"type":"object","additionalProperties":false,"required":["team"],"properties":{
        "team":{"type":"string","pattern":"^[A-Za-z0-9._-]{1,64}$"}}}
      """#)
  // What is not named here cannot be changed.
  static let http = StageParts(mutates: .headers)

  private struct Settings: Decodable {
    let team: String
  }

  private let team: String

  /// What is thrown here is what the operator reads.
  init(configuration: PluginConfiguration, host: PluginHost) throws {
    guard let settings = try? configuration.decode(Settings.self), !settings.team.isEmpty else {
      throw PluginFailure("config: team is missing; write config: {team: NAME}")
    }
    team = settings.team
  }

  /// Before the request is sent, and again for each retry. Nothing is kept of a call; `NoState` costs nothing.
  func onRequest(_ call: HTTP.Call, _ state: inout NoState) throws -> Verdict {
    try call.setHeader("X-Team", to: team)
    return .continue
  }

  /// Status and headers arrived; the head is borrowed until this hook completes.
  func onHead(_ call: HTTP.Call, _ head: borrowing Head, _ state: inout NoState) -> Verdict {
    let status = head.status
    call.log(.info, "the server answered with status \(status)")
    return .continue
  }
}
