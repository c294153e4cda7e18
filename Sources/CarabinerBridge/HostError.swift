internal import Carabiner
internal import Glibc

/// The host failed outside of the calls of plugins: it could not load a plugin, or could not use a file or process.
package struct HostError: DescribedError, Sendable {
  /// The kind of failure.
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
    /// A plugin was built with another version of Swift than that of the libraries it would use.
    case swiftRuntime
    case noEntry
    case entryRefused
    case badTable
    case initFailed
    case noSuchInterceptor
    case configurationRefused
    case crashHandlersFailed
    case notOurs
    case notWritten
    case busy
    case processFailed
    case launcherFailed
    case launcherVersion
    case workerNotStarted
    /// A plugin needs something that workers are not allowed to do.
    case isolation
  }

  /// The kind of failure.
  package let code: Code
  /// The step that failed.
  package let step: String
  /// The file, as the manifest or the command names it; empty if there is none.
  package let path: String
  /// The message for the operator: the failure and the next step.
  package let message: String

  /// Creates an error.
  package init(_ code: Code, step: String, path: String, _ message: String) {
    self.code = code
    self.step = step
    self.path = path
    self.message = message
  }

  /// A system call for another process failed.
  package init(system code: Int32, _ failure: String, path: String = "") {
    self.init(.processFailed, step: "process", path: path, unsafe "\(failure): \(String(cString: strerror(code)))")
  }

  package var description: String { "\(path.isEmpty ? "" : "\(path): ")\(message) [\(code.rawValue), step \(step)]" }
}
