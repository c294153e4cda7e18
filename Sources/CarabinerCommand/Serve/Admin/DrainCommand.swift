internal import ArgumentParser
internal import CarabinerManifest
internal import CarabinerWire

/// `carabiner drain`: makes `/readyz` of a running gateway answer with 503.
struct DrainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain", abstract: "Mark a running gateway as not ready, so that load balancers choose another one.",
    discussion: """
      GET /readyz answers with 503 from now on. All requests are served as before. With --wait, the command ends only after this time, for
      a preStop hook of Kubernetes: the gateway gets SIGTERM when load balancers have noticed. --undo makes the gateway ready again.

      Exit status: 0 if it is done, 3 if the gateway is ending and --undo has no effect, 4 if no gateway answers.

      Example: carabiner drain --wait 5s --admin unix:/run/carabiner.sock
      """)

  @OptionGroup var options: AdminOptions

  @Option(name: .long, help: "The time after which the command ends.", transform: duration)
  var wait: Duration = .zero

  @Flag(name: .long, help: "Mark the gateway as ready again.") var undo = false

  func validate() throws {
    if undo, wait > .zero { throw ValidationError("--wait and --undo do not go together") }
  }

  func run() async throws {
    let (status, json) = try await options.client().json("POST", undo ? "/drain/undo" : "/drain")
    options.show(json, Self.text)
    if status != 200 { throw ExitStatus.refused }
    if wait > .zero { try await Task.sleep(for: wait) }
  }

  /// The line for an answer of the admin socket.
  static func text(_ json: JSONValue) -> String {
    if let error = json["error"]?.string { return "error: \(error)" }
    let reasons = (json["reasons"]?.array ?? []).compactMap(\.string)
    return reasons.isEmpty ? "ready" : "not ready: \(reasons.joined(separator: "; "))"
  }
}
