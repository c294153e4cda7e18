public import Carabiner
internal import CarabinerBridge
internal import CarabinerManifest
internal import CarabinerRelease
internal import CarabinerSources
internal import CarabinerWire

/// A host or a gateway cannot be created, or cannot carry out a request.
public struct ServerError: DescribedError, Sendable {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable {
    /// A value of the configuration cannot be used.
    case invalidConfiguration
    /// The manifest, a plugin or the store is refused. ``ServerError/problems`` lists all problems of a manifest.
    case refused
    /// The gateway cannot listen at an address.
    case cannotListen
    /// Another host or another process uses the folder or the socket.
    case inUse
    /// The host is shut down.
    case shutDown
    /// The source of the manifest does not answer or has none, and no last good one is kept.
    case sourceUnavailable
  }

  /// A problem of a manifest.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The kind of problem, as `carabiner check --format json` prints it.
    public let code: String
    /// The place in the manifest, as a JSON pointer (RFC 6901).
    public let pointer: String
    /// The line in the manifest's text, counted from 1; nil if it is not known.
    public let line: Int?
    /// The column in that line, counted from 1; nil if it is not known.
    public let column: Int?
    /// The problem, and what to do about it.
    public let message: String
    /// The place and the message.
    public let description: String

    init(_ problem: ManifestProblem) {
      code = problem.code.rawValue
      pointer = problem.pointer.description
      line = problem.position?.line
      column = problem.position?.column
      message = problem.message
      description = problem.description
    }

    private init(_ problem: Problem, message: String, description: String) {
      code = problem.code
      pointer = problem.pointer
      line = problem.line
      column = problem.column
      self.message = message
      self.description = description
    }

    fileprivate func mapTexts(_ transform: (String) -> String) -> Problem {
      Problem(self, message: transform(message), description: transform(description))
    }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure, its place, and what to do next.
  public let message: String
  /// All problems of the manifest; empty for other failures.
  public let problems: [Problem]
  /// The underlying error; nil if there is none.
  public let cause: (any Error)?
  /// The message.
  public var description: String { message }

  init(_ code: Code, _ message: String, problems: [Problem] = [], cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.problems = problems
    self.cause = cause
  }

  static func invalid(_ message: String) -> ServerError { ServerError(.invalidConfiguration, message) }

  /// Runs `body`, and converts errors of a manifest, a plugin or the store to ``ServerError``.
  ///
  /// - Throws: ``ServerError``, and other errors unchanged.
  static func wrapping<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw refusal(error) ?? error
    }
  }

  /// Converts an error of a manifest, a plugin or the store; nil for other errors.
  static func refusal(_ error: any Error) -> ServerError? {
    switch error {
    case let error as ServerError: error
    case let error as ManifestError:
      ServerError(.refused, "\(error)", problems: error.problems.map { Problem($0) }, cause: error)
    case let error as ManifestProblem: ServerError(.refused, "\(error)", problems: [Problem(error)], cause: error)
    case let error as SourceError:
      ServerError(error.code == .invalidSettings ? .invalidConfiguration : .sourceUnavailable, "\(error)", cause: error)
    case is HostError, is StoreError, is ReleaseError: ServerError(.refused, "\(error)", cause: error)
    default: nil
    }
  }

  /// Returns the same error with transformed texts.
  func mapTexts(_ transform: (String) -> String) -> ServerError {
    ServerError(code, transform(message), problems: problems.map { $0.mapTexts(transform) }, cause: cause)
  }
}
