internal import CarabinerFiles
package import CarabinerWire

extension Manifest {
  /// How a manifest is written.
  package enum Format: String, Sendable, Hashable {
    case yaml
    case json

    /// The format a file's name tells, else what the text begins with: in JSON a quote or brace follows the first brace, and
    /// in YAML's flow style mostly a name.
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
  /// - Throws: ``ManifestError`` with everything that is wrong.
  package static func load(path: String) throws -> Manifest {
    let text: String
    do throws(BoundedFile.Fault) {
      text = try BoundedFile.text(at: path, maximumBytes: maximumFileBytes)
    } catch {
      let problem =
        switch error {
        case .unreadable(let reason):
          ManifestProblem(.unreadable, "the manifest cannot be read: \(reason); check the path and who may read it")
        case .tooLarge:
          ManifestProblem(.tooLarge, "the manifest has more than \(ByteSizeText.print(maximumFileBytes)); is it the right file?")
        case .notText: ManifestProblem(.syntax, "the manifest is not UTF-8 text; is it the right file?")
        }
      throw ManifestError(path: path, problems: [problem])
    }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return try Manifest(text: text, path: path, directory: folder.isEmpty ? "/" : folder)
  }

  /// Reads a manifest from a text.
  ///
  /// - Parameters:
  ///   - path: What messages call it.
  ///   - format: How it is written; nil to look.
  ///   - directory: What relative paths in it are relative to.
  /// - Throws: ``ManifestError`` with everything that is wrong.
  package init(
    text: String, path: String = "manifest", format: Format? = nil, directory: String = "."
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
    self.path = path.contains("/") || directory == "." ? path : "\(directory)/\(path)"
  }

  /// The problems with their places in the manifest's text, in its order.
  ///
  /// What only loading a plugin can tell is found long after the text was read; this is how it gets its line.
  package func placed(_ problems: [ManifestProblem]) -> [ManifestProblem] {
    guard let text, let document = try? ManifestDocument(text.text, text.format) else { return problems }
    return document.placed(problems)
  }

  /// The document it was read from; nil if it was put together in code.
  ///
  /// - Throws: ``ManifestProblem`` with the place of the first fault.
  package func document() throws(ManifestProblem) -> JSONValue? {
    guard let text else { return nil }
    return try ManifestDocument(text.text, text.format).value
  }

  /// The folder the manifest's relative paths start from.
  package var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
}
