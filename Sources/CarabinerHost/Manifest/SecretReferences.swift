package import CarabinerWire
internal import FoundationEssentials
internal import Glibc

/// Fills in `${env:NAME}` and `${file:path}`. `$${` stands for `${` itself.
///
/// This happens last, on the way to a plugin: what is printed or compared before still shows the reference.
package struct SecretReferences: Sendable {
  /// How large a secret's file may be, 64 KiB.
  static let maximumFileBytes = 64 << 10

  private let directory: String

  /// References to files are relative to `directory`.
  package init(directory: String) { self.directory = directory }

  /// A value with all references in its texts filled in.
  ///
  /// - Throws: ``ManifestProblem`` with the place, if one cannot be.
  func resolve(_ value: JSONValue, at pointer: JSONPointer) throws(ManifestProblem) -> JSONValue {
    switch value {
    case .string(let text): return .string(try resolve(text, at: pointer))
    case .array(let elements):
      var resolved: [JSONValue] = []
      for (index, element) in elements.enumerated() { resolved.append(try resolve(element, at: pointer.appending(index))) }
      return .array(resolved)
    case .object(let object):
      var resolved = JSONObject()
      for (key, member) in object { resolved[key] = try resolve(member, at: pointer.appending(key)) }
      return .object(resolved)
    case .null, .bool, .number: return value
    }
  }

  /// A text with all references in it filled in.
  package func resolve(_ text: String, at pointer: JSONPointer) throws(ManifestProblem) -> String {
    var result = ""
    var rest = Substring(text)
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[dollar...]
      if rest.hasPrefix("$${") {
        result += "${"
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        guard let end = rest.firstIndex(of: "}") else {
          throw ManifestProblem(.unresolvedReference, at: pointer, "a reference begins with ${ and does not end with }")
        }
        result += try value(of: rest[..<end].dropFirst(2), at: pointer)
        rest = rest[rest.index(after: end)...]
      } else {
        result += "$"
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }

  private func value(of reference: Substring, at pointer: JSONPointer) throws(ManifestProblem) -> String {
    let name = String(reference.drop { $0 != ":" }.dropFirst())
    switch reference.prefix(while: { $0 != ":" }) {
    case "env":
      guard let value = unsafe getenv(name) else {
        throw ManifestProblem(
          .unresolvedReference, at: pointer, "the environment variable \(name) is not set; set it where the host runs")
      }
      return unsafe String(cString: value)
    case "file":
      let path = name.hasPrefix("/") ? name : "\(directory)/\(name)"
      guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= Self.maximumFileBytes,
        var text = String(validating: data, as: UTF8.self)
      else {
        throw ManifestProblem(
          .unresolvedReference, at: pointer,
          "the file \(path) cannot be read as a text of at most \(Self.maximumFileBytes) bytes; check the path and who may read it"
        )
      }
      while text.last?.isNewline == true { text.removeLast() }
      return text
    default:
      throw ManifestProblem(
        .unresolvedReference, at: pointer, "${\(reference)} is no reference; use ${env:NAME}, ${file:path}, or $${ for ${ itself")
    }
  }
}
