internal import ArgumentParser

/// `carabiner fleet`: the manifests of a fleet in etcd.
struct FleetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet", abstract: "Publish a manifest for a fleet in etcd, and control its roll-out.",
    discussion: """
      The fleet is that of --to etcd://HOST:PORT,HOST:PORT/PREFIX, or else of the environment variable CARABINER_FLEET. etcds:// is for TLS.

      A pushed manifest is a candidate. It reaches the nodes in stages, and becomes the stable manifest after the last one. Each change is
      one transaction. It fails if another one was made since the keys were read, or since --revision.

      carabiner fleet push -m shop.yaml --to etcd://127.0.0.1:2379/carabiner/shop
      carabiner fleet status --to etcd://127.0.0.1:2379/carabiner/shop
      carabiner fleet halt --to etcd://127.0.0.1:2379/carabiner/shop --reason "errors at checkout"

      Exit status: 0 ok, 2 usage, 3 refused, or changed by another command, 4 etcd cannot be reached.
      """,
    subcommands: [
      FleetPushCommand.self, FleetStatusCommand.self, FleetHaltCommand.self, FleetResumeCommand.self, FleetPromoteCommand.self,
      FleetAbortCommand.self, FleetRevokeCommand.self,
    ])

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }
}
