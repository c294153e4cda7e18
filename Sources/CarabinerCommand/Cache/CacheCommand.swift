internal import ArgumentParser

/// `carabiner cache`: the contents of a store's file.
struct CacheCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Show the records of a store in a file, and remove records.",
    discussion: """
      --store FILE sets the store, or -m MANIFEST with built-ins: {store: {file: FILE}}. Other processes may use it at the same time.
      In a pattern, * matches any text.

      Exit status: 0 ok, 1 there is no such record, 2 usage, 3 the store cannot be used.
      """,
    subcommands: [CacheListCommand.self, CacheGetCommand.self, CacheRemoveCommand.self, CacheStatisticsCommand.self])

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }
}
