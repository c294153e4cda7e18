internal import ArgumentParser
internal import CarabinerRelease
internal import CarabinerWire

/// `carabiner trust`: what a running gateway remembers about signed files.
struct TrustCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust", abstract: "Change what a running gateway remembers about signed files.",
    subcommands: [TrustResetCommand.self])
}

/// `carabiner trust reset`
struct TrustResetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Forget the highest serial of a file, so that an older file is accepted.",
    discussion: """
      The gateway keeps serials in its --state folder. The next reload that succeeds records the serial of the file that then serves.

      Exit status: 0 if it is done, 3 if the gateway has no such entry.

      Example: carabiner trust reset plugin:token-auth --admin unix:/run/carabiner.sock
      """)

  @OptionGroup var options: AdminOptions
  @Argument(help: "The kind and name of the file, as in plugin:token-auth. Without a kind it is a plugin.")
  var name: String

  private var subject: ReleaseSubject? { ReleaseSubject(name) ?? ReleaseSubject(.plugin, name) }

  func validate() throws {
    guard subject != nil else {
      throw ValidationError("NAME is KIND:NAME, as in plugin:token-auth, not \(name.debugDescription)")
    }
  }

  func run() async throws {
    guard let subject else { throw ExitStatus.usage }
    let (status, json) = try await options.client().json(
      "POST", "/trust/reset", body: ["subject": .string(subject.description)])
    options.show(json) { json in
      json["error"]?.string.map { "error: \($0)" } ?? "\(subject): the serial is forgotten"
    }
    if status != 200 { throw ExitStatus.refused }
  }
}
