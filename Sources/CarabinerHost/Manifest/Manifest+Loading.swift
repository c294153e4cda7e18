internal import CarabinerWire
internal import FoundationEssentials
internal import Glibc

extension Manifest {
  /// Reads a manifest from a file, YAML or JSON.
  ///
  /// - Throws: ``ManifestError`` with everything that is wrong.
  package static func load(path: String) throws -> Manifest {
    let text: String
    do {
      let data = try Data(contentsOf: URL(filePath: path))
      guard data.count <= YAMLDocument.maximumBytes, let valid = String(validating: data, as: UTF8.self) else {
        throw ManifestProblem(.syntax, "the file is no UTF-8 text of at most \(YAMLDocument.maximumBytes) bytes")
      }
      text = valid
    } catch let problem as ManifestProblem {
      throw ManifestError(path: path, problems: [problem])
    } catch {
      throw ManifestError(
        path: path,
        problems: [ManifestProblem(.unreadable, unsafe "the file cannot be read: \(String(cString: strerror(errno)))")])
    }
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return try Manifest(text: text, path: path, directory: folder.isEmpty ? "/" : folder)
  }

  /// Reads a manifest from a text.
  ///
  /// - Parameter directory: What relative paths in it are relative to.
  /// - Throws: ``ManifestError`` with everything that is wrong.
  package init(text: String, path: String = "manifest", directory: String = ".") throws {
    let json: JSONValue
    do {
      // JSON is YAML to a reader, but its errors name a byte and its numbers keep their digits.
      let isJSON = text.lazy.filter { !$0.isWhitespace }.prefix(2).elementsEqual("{\"")
      json = try isJSON ? JSONValue(parsing: text) : YAMLDocument.parse(text)
    } catch let error as JSONError {
      throw ManifestError(path: path, problems: [ManifestProblem(.syntax, "this is not JSON: \(error)")])
    } catch let problem as ManifestProblem {
      throw ManifestError(path: path, problems: [problem])
    }
    let (manifest, problems) = ManifestReader.read(json, directory: directory)
    guard problems.isEmpty else { throw ManifestError(path: path, problems: problems) }
    self = manifest
    self.path = path
  }
}
