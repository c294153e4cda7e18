internal import ArgumentParser

/// `carabiner cache`: the contents of a store's file.
struct CacheCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Look into the store a manifest keeps in a file, and remove from it.",
    discussion: """
      The store is named by --store FILE, or by -m MANIFEST, which has it under built-ins: {store: {file: FILE}}. Other processes may use it
      meanwhile. In a pattern * stands for any text.

      Exit status: 0 ok, 1 there is no such record, 2 usage, 3 the store cannot be used.
      """,
    subcommands: [CacheListCommand.self, CacheGetCommand.self, CacheRemoveCommand.self, CacheStatisticsCommand.self])

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }
}
