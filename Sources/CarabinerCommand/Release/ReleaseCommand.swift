internal import ArgumentParser

/// `carabiner release`: statements about files, and their signatures.
struct ReleaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release", abstract: "Make and verify signed statements about plugins, manifests and other files.",
    discussion: """
      A released file has a sidecar FILE.release: a statement with the file's name, serial, digest and dates, and signatures that
      ssh-keygen makes. Carabiner reads no private key.

      Exit status: 0 ok, 2 usage, 3 the file cannot be read or is not accepted.
      """,
    subcommands: [ReleaseStatementCommand.self, ReleaseVerifyCommand.self])

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }
}
