internal import CarabinerFiles
package import CarabinerWire
internal import Glibc

/// Resolves `${env:NAME}` and `${file:path}`. `$${` is a literal `${`.
///
/// References are resolved last, when the configuration is passed to a plugin. Until then, logs and comparisons show the reference.
package struct SecretReferences: Sendable {
  /// The largest file of a secret in bytes, 64 KiB.
  package static let maximumFileBytes = 64 << 10

  /// Returns the value of an environment variable; nil if it is not set.
  package typealias Environment = @Sendable (String) -> String?

  private let directory: String
  private let environment: Environment

  /// References to files are relative to `directory`.
  package init(directory: String, environment: @escaping Environment = SecretReferences.ofProcess) {
    self.directory = directory
    self.environment = environment
  }

  /// The environment of this process.
  @Sendable package static func ofProcess(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// A value with all references in its texts resolved.
  ///
  /// - Throws: ``ManifestProblem`` with the place of a reference that cannot be resolved.
  package func resolve(_ value: JSONValue, at pointer: JSONPointer) throws(ManifestProblem) -> JSONValue {
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

  /// A text with all its references resolved.
  ///
  /// - Throws: ``ManifestProblem`` with the place of a reference that cannot be resolved.
  package func resolve(_ text: String, at pointer: JSONPointer) throws(ManifestProblem) -> String {
    var result = ""
    for part in try ReferencePart.parts(of: text, at: pointer) {
      switch part {
      case .text(let text): result += text
      case .environment(let name): result += try variable(name, at: pointer)
      case .file(let path): result += try contents(of: path, at: pointer)
      }
    }
    return result
  }

  /// The same as ``resolve(_:at:)-(String,_)``, for texts that may be printed later.
  package func secret(_ text: String, at pointer: JSONPointer) throws(ManifestProblem) -> SecretText {
    SecretText(value: try resolve(text, at: pointer), written: text)
  }

  /// A header value with all its references resolved.
  ///
  /// - Throws: ``ManifestProblem`` with the place, if a reference cannot be resolved or the result is not a valid header value. The
  ///   message contains the reference and never its value.
  package func headerValue(_ text: String, at pointer: JSONPointer) throws(ManifestProblem) -> String {
    let value = try resolve(text, at: pointer)
    guard HeaderText.isValue(value) else {
      throw ManifestProblem(
        .invalidValue, at: pointer,
        "the value of \(text) contains a line end or NUL, which a header cannot contain; correct the value")
    }
    return value
  }

  /// Hides the values of all references in a value. References that cannot be resolved have no value to hide.
  package func redaction(of value: JSONValue) -> SecretRedaction {
    let parts = value.texts(at: JSONPointer()).flatMap { place, text in (try? ReferencePart.parts(of: text, at: place)) ?? [] }
    return SecretRedaction(
      parts.compactMap { part in
        switch part {
        case .text: nil
        case .environment(let name):
          (try? variable(name, at: JSONPointer())).map { SecretRedaction.Pair(value: $0, reference: "${env:\(name)}") }
        case .file(let path):
          (try? contents(of: path, at: JSONPointer())).map { SecretRedaction.Pair(value: $0, reference: "${file:\(path)}") }
        }
      })
  }

  /// Every reference in `value` that cannot be resolved now.
  package func problems(in value: JSONValue, at pointer: JSONPointer) -> [ManifestProblem] {
    value.texts(at: pointer).compactMap { pointer, text in
      do throws(ManifestProblem) {
        _ = try resolve(text, at: pointer)
        return nil
      } catch {
        return error
      }
    }
  }

  private func variable(_ name: String, at pointer: JSONPointer) throws(ManifestProblem) -> String {
    guard let value = environment(name) else {
      throw ManifestProblem(
        .unresolvedReference, at: pointer, "the environment variable \(name) is not set; set it where the host runs")
    }
    return value
  }

  private func contents(of path: String, at pointer: JSONPointer) throws(ManifestProblem) -> String {
    let path = path.hasPrefix("/") ? path : "\(directory)/\(path)"
    do throws(BoundedFile.Fault) {
      let text = try BoundedFile.text(at: path, maximumBytes: Self.maximumFileBytes)
      // Editors end files with a line end. One is removed; "\r\n" is one character.
      return text.last == "\n" || text.last == "\r\n" ? String(text.dropLast()) : text
    } catch {
      let reason =
        switch error {
        case .unreadable(let reason): "cannot be read (\(reason)); check the path and its permissions"
        case .tooLarge: "has more than \(ByteSizeText.print(Self.maximumFileBytes)); a secret is a short text"
        case .notText: "is not UTF-8 text; encode it, for example in base64"
        }
      throw ManifestProblem(.unresolvedReference, at: pointer, "the file \(path) \(reason)")
    }
  }
}
