internal import ArgumentParser
internal import CarabinerWire

/// `carabiner disable`: disables plugins without a reload.
struct DisableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disable", abstract: "Disable plugins of a running gateway, until they are enabled or it ends.",
    discussion: """
      New operations skip the plugins. Running operations keep their stages. A mandatory plugin cannot be disabled. The plugins stay
      disabled in later generations. Exit status: 0 if it is done, 3 if it is refused.

      Example: carabiner disable ttl-cache --reason "answers are stale, see incident 12"
      """)

  @OptionGroup var options: AdminOptions
  @Option(name: .long, help: "The reason, for the log and for other operators.") var reason: String
  @Argument(help: "A plugin of the manifest, or a pattern with * and ?.") var pattern: String

  func run() async throws { try await LiveOverride(pattern: pattern, reason: reason).send("disable", options) }
}

/// `carabiner enable`: enables plugins without a reload.
struct EnableCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enable", abstract: "Enable plugins of a running gateway, or remove an override.",
    discussion: """
      It overrides the manifest's enabled: false and CARABINER_DISABLE. A plugin that was disabled at the start is loaded now.
      Exit status: 0 if it is done, 3 if it is refused.

      Example: carabiner enable ttl-cache --reason "fixed"
      """)

  @OptionGroup var options: AdminOptions
  @Option(name: .long, help: "The reason, for the log and for other operators.") var reason: String?
  @Flag(name: .long, help: "Remove the override of an earlier enable or disable; manifest and environment decide again.")
  var reset = false
  @Argument(help: "A plugin of the manifest, or a pattern with * and ?.") var pattern: String

  func validate() throws {
    if !reset, reason == nil { throw ValidationError("give --reason, or --reset") }
  }

  func run() async throws {
    try await LiveOverride(pattern: pattern, reason: reason ?? "").send(reset ? "reset" : "enable", options)
  }
}

/// A request to the admin socket.
private struct LiveOverride {
  let pattern: String
  let reason: String

  func send(_ what: String, _ options: AdminOptions) async throws {
    let (status, json) = try await options.client().json(
      "POST", "/plugins/\(what)", body: ["pattern": .string(pattern), "reason": .string(reason)])
    options.show(json) { json in
      if let error = json["error"]?.string { return "error: \(error)" }
      return what == "reset" ? "\(pattern): manifest and environment decide again" : "\(pattern): \(what)d"
    }
    if status != 200 { throw ExitStatus.refused }
  }
}
