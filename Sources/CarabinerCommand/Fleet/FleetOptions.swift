internal import ArgumentParser
internal import Carabiner
internal import CarabinerFleet
internal import CarabinerManifest
internal import CarabinerRelease
internal import CarabinerSources
internal import CarabinerWire
internal import Foundation

/// The options of all commands for a fleet.
struct FleetOptions: ParsableArguments {
  private static let variable = "CARABINER_FLEET"
  private static let example = "write --to etcd://HOST:PORT/PREFIX, or set \(variable)"

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The fleet: etcd://HOST:PORT,HOST:PORT/PREFIX, or etcds:// for TLS. Without it, $CARABINER_FLEET.", valueName: "address"))
  var to: String?

  @Option(name: .long, help: "text or json.") var format: FleetCommand.Format = .text
  @OptionGroup var source: SourceOptions

  /// Connects to the fleet, and runs `body`. Any error ends the command with a message.
  func withFleet(_ body: (FleetStore) async throws -> Void) async throws {
    do {
      try await body(try store())
    } catch let status as ExitStatus {
      throw status
    } catch {
      let message = (error as? ValidationError)?.message ?? "\(error)"
      // A text of a node or of etcd must not change the terminal.
      let lines = message.split(separator: "\n").map { PrintableText.escaping(String($0)) }
      Terminal.complain("error: \(lines.joined(separator: "\n"))")
      if format == .json {
        emit(["ok": false, "code": .string(Self.code(of: error)), "message": .string(Terminal.redacted(message))], "")
      }
      throw ExitStatus(error)
    }
  }

  /// Writes a result in the chosen format.
  func emit(_ json: @autoclosure () -> JSONValue, _ text: @autoclosure () -> String) {
    switch format {
    case .text: Terminal.emit(text())
    case .json: Terminal.emit(String(decoding: json().serialized(pretty: true), as: UTF8.self))
    }
  }

  private func store() throws -> FleetStore {
    let variable = ProcessInfo.processInfo.environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    guard let text = to ?? variable else { throw usageError("the fleet is missing; \(Self.example)") }
    guard case .etcd(let address, _) = try ManifestAddress(text) else {
      throw usageError("a fleet is in etcd, and \(PrintableURL(text)) is not an address of etcd; \(Self.example)")
    }
    return try FleetStore(address, source.settings())
  }

  /// The word for programs.
  private static func code(of error: any Error) -> String {
    switch error {
    case let error as FleetError: error.code.rawValue
    case let error as SourceError: error.code.rawValue
    case let error as ReleaseError: error.code.rawValue
    case is ManifestError: "manifest"
    case is ValidationError: "usage"
    default: FleetStore.code(of: error) ?? "failed"
    }
  }
}

/// The options of commands that change a fleet.
struct FleetChangeOptions: ParsableArguments {
  @OptionGroup var fleet: FleetOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Fail if the manifests, the stage or the halt have changed since this revision, as status prints it.", valueName: "number"))
  var revision: Int64?

  func validate() throws {
    guard revision ?? 1 > 0 else {
      throw ValidationError("--revision takes a number from 1, as carabiner fleet status prints it")
    }
  }

  /// Reads the fleet, and passes it to `body`. Any error ends the command with a message.
  func withState(_ body: (FleetStore, FleetState) async throws -> Void) async throws {
    try await fleet.withFleet { store in try await body(store, try await state(of: store)) }
  }

  /// Reads the fleet.
  ///
  /// - Throws: ``FleetError`` with code `conflict` if it has changed since ``revision``.
  func state(of store: FleetStore) async throws -> FleetState {
    let state = try await store.state()
    if let revision {
      let names = revision < state.revision ? try await store.names(at: revision) : []
      try state.requireUnchanged(since: revision, with: names)
    }
    return state
  }
}
