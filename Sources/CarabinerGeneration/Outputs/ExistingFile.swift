internal import CarabinerFiles
internal import CarabinerGenerator

/// A file at the path of a generated one.
enum ExistingFile {
  case absent
  /// A generated file, or an empty one, which may be replaced and removed.
  case generated([UInt8])
  /// A file of a developer.
  case foreign(String)

  /// The beginnings of the lists of documents for servers.
  private static let listBeginnings = [#"{"format": "apollo-persisted-query-manifest""#, "{\n  \"", "{}\n"]

  init(_ path: String) {
    guard FileSignature(of: path) != .absent else {
      self = .absent
      return
    }
    do throws(BoundedFile.Fault) {
      let bytes = try BoundedFile.bytes(at: path, maximumBytes: OutputPlan.maximumBytes)
      self = bytes.isEmpty || Self.isGenerated(bytes, path) ? .generated(bytes) : .foreign("it was not generated")
    } catch {
      switch error {
      case .unreadable(let reason): self = .foreign(reason)
      case .tooLarge, .notText: self = .foreign("it was not generated")
      }
    }
  }

  private static func isGenerated(_ bytes: [UInt8], _ path: String) -> Bool {
    path.hasSuffix(".swift")
      ? bytes.starts(with: GeneratedFile.firstLine.utf8) : listBeginnings.contains { bytes.starts(with: $0.utf8) }
  }
}
