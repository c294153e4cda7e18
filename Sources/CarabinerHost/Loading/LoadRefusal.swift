/// A plugin was not loaded.
package struct LoadRefusal: Error, Sendable, CustomStringConvertible {
  /// Why not.
  package enum Code: String, Sendable, CaseIterable {
    case notFound
    case notAFile
    case unsafeOwner
    case unsafeMode
    case unsafeParent
    case unsafeLibrary
    case tooLarge
    case unreadable
    case changed
    case stagingFailed
    case pinMismatch
    case notELF
    case truncated
    case wrongArchitecture
    case wrongType
    case noNote
    case badNote
    case abiMajor
    case abiTooNew
    case openFailed
    case noEntry
    case entryRefused
    case badTable
    case initFailed
    case noSuchInterceptor
    case configurationRefused
  }

  /// Why not.
  package let code: Code
  /// Which step of loading refused.
  package let step: String
  /// The file, as the manifest names it.
  package let path: String
  /// What happened and what to do next, for a person.
  package let message: String

  /// A refusal with these parts.
  package init(_ code: Code, step: String, path: String, _ message: String) {
    self.code = code
    self.step = step
    self.path = path
    self.message = message
  }

  package var description: String { "\(path): \(message) [\(code.rawValue), step \(step)]" }
}
