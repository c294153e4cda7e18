import ArgumentParser

/// Measures parts of a fleet with real servers, for `Scripts/measure fleet`. Each command prints one line of JSON.
@main
struct FleetFigures: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet-figures", abstract: "Measures the store in Redis, and the verification of statements.",
    subcommands: [StoreFigures.self, SilenceFigures.self, VerificationFigures.self])
}

extension [Double] {
  /// The value in the middle; 0 if there is none.
  var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

extension Duration {
  /// In microseconds.
  var microseconds: Double { self / .microseconds(1) }
}
