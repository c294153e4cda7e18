import CarabinerManifest
import CarabinerWire
import FoundationEssentials
import Testing

/// The files under `Tests/Fixtures/Manifest`.
enum ManifestFixtures {
  /// The folder they are in.
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../Fixtures/Manifest").standardized.path

  /// The files of a folder, sorted.
  static func files(in name: String) throws -> [String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)").sorted()
    return names.map { "\(folder)/\(name)/\($0)" }
  }

  /// A manifest from YAML, in the fixture folder.
  static func manifest(_ text: String, format: Manifest.Format? = nil) throws -> Manifest {
    try Manifest(text: text, format: format, directory: "\(folder)/files")
  }

  /// A manifest as a JSON value, read only by the parser.
  static func value(_ text: String) throws -> JSONValue { try ManifestDocument(text).value }

  /// The problems of a manifest.
  static func problems(_ text: String, format: Manifest.Format? = nil) -> [ManifestProblem] {
    do {
      _ = try manifest(text, format: format)
    } catch let error as ManifestError {
      return error.problems
    } catch {
      Issue.record(error)
    }
    return []
  }
}
