internal import ArgumentParser

/// `carabiner cache`: the contents of a store's file.
struct CacheCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Show the records of a store in a file or in Redis, and remove records.",
    discussion: """
      The store is that of -m MANIFEST with built-ins: {store: {file: FILE}} or {store: {redis: {…}}}, or else --store FILE, or --store
      redis://HOST:PORT with --prefix NAME. Other processes may use it at the same time. In a pattern, * matches any text.

      Keys in Redis are found by SCAN, which does not hold up the server; rm notifies the gateways of what it
      removed.

      Exit status: 0 ok, 1 there is no such record, 2 usage, 3 the store cannot be used.
      """,
    subcommands: [CacheListCommand.self, CacheGetCommand.self, CacheRemoveCommand.self, CacheStatisticsCommand.self])

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }
}
