internal import CarabinerFiles
package import CarabinerWire

extension Manifest {
  /// The file format of a manifest.
  package enum Format: String, Sendable, Hashable {
    case yaml
    case json

    /// The format by the suffix of the file, or else by the beginning of the text. JSON begins with `{"` or `{}`; a YAML flow mapping
    /// usually has a name after the brace.
    init(path: String, text: String) {
      switch path.split(separator: ".").last?.lowercased() {
      case "json": self = .json
      case "yaml", "yml": self = .yaml
      default:
        let beginning = text.lazy.filter { !$0.isWhitespace }.prefix(2)
        self = ["{\"", "{}"].contains(String(beginning)) ? .json : .yaml
      }
    }
  }

  /// Reads a manifest from a file, YAML or JSON.
  ///
  /// - Parameters:
  ///   - isCopy: Whether the file is a copy of a manifest that is not in a file, and may have the key `fleet`.
  ///   - check: Decides about the bytes before they are parsed.
  /// - Throws: ``ManifestError`` with all problems, and errors of the check.
  package static func load(
    path: String, isCopy: Bool = false, accepting check: ([UInt8]) throws -> Void = { _ in }
  ) throws -> Manifest {
    let bytes: [UInt8]
    do throws(BoundedFile.Fault) {
      bytes = try BoundedFile.bytes(at: path, maximumBytes: maximumFileBytes)
    } catch {
      let problem =
        switch error {
        case .unreadable where path.contains("://"):
          ManifestProblem(
            .unreadable, "only carabiner serve reads a manifest from etcd or a web server; save it to a file for other commands")
        case .unreadable(let reason):
          ManifestProblem(.unreadable, "the manifest cannot be read: \(reason); check the path and its permissions")
        case .tooLarge:
          ManifestProblem(.tooLarge, "the manifest has more than \(ByteSizeText.print(maximumFileBytes)); is it the right file?")
        case .notText: notText
        }
      throw ManifestError(path: path, problems: [problem])
    }
    try check(bytes)
    let manifest = try Manifest(bytes: bytes, path: path, directory: directory(of: path))
    guard manifest.fleet == nil || isCopy else {
      let problem = ManifestProblem(
        .unusedSetting, at: JSONPointer(components: ["fleet"]),
        "a manifest from a file is not rolled out to a fleet; publish it with carabiner fleet push, or remove the key")
      throw ManifestError(path: path, problems: manifest.placed([problem]))
    }
    return manifest
  }

  private static var notText: ManifestProblem {
    ManifestProblem(.syntax, "the manifest is not UTF-8 text; is it the right file?")
  }

  /// Reads a manifest from the bytes of a file, or of another source.
  ///
  /// - Parameters:
  ///   - path: The name of the manifest in messages.
  ///   - directory: The folder that relative paths start from; nil if there is none, and they are refused.
  /// - Throws: ``ManifestError`` with all problems.
  package init(bytes: [UInt8], path: String, directory: String?) throws {
    guard let text = String(validating: BoundedFile.withoutMark(bytes), as: UTF8.self) else {
      throw ManifestError(path: path, problems: [Self.notText])
    }
    try self.init(text: text, path: path, directory: directory)
  }

  /// The folder that the relative paths of a manifest in a file start from.
  package static func directory(of path: String) -> String {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return folder.isEmpty ? "/" : folder
  }

  /// Reads a manifest from a text.
  ///
  /// - Parameters:
  ///   - path: The name of the manifest in messages.
  ///   - format: The file format; nil to detect it.
  ///   - directory: The folder that relative paths start from; nil if there is none, and they are refused.
  /// - Throws: ``ManifestError`` with all problems.
  package init(
    text: String, path: String = "manifest", format: Format? = nil, directory: String? = "."
  ) throws {
    let source = ManifestText(text: text, format: format ?? Format(path: path, text: text))
    let document: ManifestDocument
    do throws(ManifestProblem) {
      document = try ManifestDocument(source.text, source.format)
    } catch {
      throw ManifestError(path: path, problems: [error])
    }
    let (manifest, problems) = ManifestReader.read(document.value, directory: directory)
    guard problems.isEmpty else { throw ManifestError(path: path, problems: document.placed(problems)) }
    self = manifest
    self.text = source
    warnings = document.placed(warnings)
    self.path = if let directory, directory != ".", !path.contains("/") { "\(directory)/\(path)" } else { path }
  }

  /// The problems with their places in the manifest's text, in the order of the text.
  ///
  /// Some problems are found only when a plugin is loaded, long after the text was read. This function adds their lines.
  package func placed(_ problems: [ManifestProblem]) -> [ManifestProblem] {
    guard let text, let document = try? ManifestDocument(text.text, text.format) else { return problems }
    return document.placed(problems)
  }

  /// The document that the manifest was read from; nil if it was built in code.
  ///
  /// - Throws: ``ManifestProblem`` with the place of the first mistake.
  package func document() throws(ManifestProblem) -> JSONValue? {
    guard let text else { return nil }
    return try ManifestDocument(text.text, text.format).value
  }

  /// The folder that the manifest's relative paths start from.
  package var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
}
