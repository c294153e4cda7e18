/// A plugin was not loaded.
package struct LoadRefusal: Error, Sendable, CustomStringConvertible {
  /// Why a plugin was not loaded.
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

  /// Why the plugin was not loaded.
  package let code: Code
  /// The step of loading that failed.
  package let step: String
  /// The file, as the manifest names it.
  package let path: String
  /// The message for the operator: the failure and the next step.
  package let message: String

  /// Creates a refusal.
  package init(_ code: Code, step: String, path: String, _ message: String) {
    self.code = code
    self.step = step
    self.path = path
    self.message = message
  }

  package var description: String { "\(path): \(message) [\(code.rawValue), step \(step)]" }
}
