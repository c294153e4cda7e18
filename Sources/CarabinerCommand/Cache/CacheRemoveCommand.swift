internal import ArgumentParser
internal import Carabiner
internal import CarabinerWire

/// `carabiner cache rm`
struct CacheRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Remove records, and print how many there were.")

  @OptionGroup var store: StoreOptions
  @Flag(name: .long, help: "Remove every record.") var all = false
  @Option(name: .long, help: "Remove the records whose keys match a pattern.") var matching: String?
  @Argument(help: "The keys of the records to remove.") var keys: [String] = []

  func validate() throws {
    guard [all, matching != nil, !keys.isEmpty].count(where: \.self) == 1 else {
      throw ValidationError("give either keys, or --matching PATTERN, or --all")
    }
  }

  func run() async throws {
    try await store.withStore(forWriting: true) { cache in
      let removed =
        if keys.isEmpty {
          try await cache.removeRecords(matching: matching ?? "*")
        } else {
          try await cache.removeRecords(forKeys: keys)
        }
      switch store.format {
      case .text: Terminal.emit("removed \(removed) record\(removed == 1 ? "" : "s")")
      case .json: Terminal.emit(JSONValue.object(["removed": .number(JSONNumber(removed))]).description)
      }
    }
  }
}
