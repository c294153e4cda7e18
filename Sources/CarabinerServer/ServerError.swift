internal import Carabiner
internal import CarabinerHost
internal import CarabinerManifest
internal import CarabinerWire

/// A host or a gateway cannot be made, or cannot do what it was asked for.
public struct ServerError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Code: String, Sendable, Hashable {
    /// A value of the configuration cannot be used.
    case invalidConfiguration
    /// The manifest, a plugin or the store is refused; ``ServerError/problems`` lists all that is wrong with a manifest.
    case refused
    /// An address cannot be listened on.
    case cannotListen
    /// Another host or another process uses the folder or the socket.
    case inUse
    /// The host is shut down.
    case shutDown
  }

  /// One thing that is wrong with a manifest.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    /// The kind of fault, as `carabiner check --format json` prints it.
    public let code: String
    /// The place in the manifest, as a JSON pointer (RFC 6901).
    public let pointer: String
    /// The line in the manifest's text, counted from 1; nil if it is not known.
    public let line: Int?
    /// The column in that line, counted from 1; nil if it is not known.
    public let column: Int?
    /// What is wrong and what to do.
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
  /// What happened, where, and what to do next.
  public let message: String
  /// All that is wrong with the manifest; empty if something else failed.
  public let problems: [Problem]
  /// The error below this one; nil if there is none.
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

  /// Runs `body`, and makes errors of a manifest, a plugin or the store into errors of this module.
  ///
  /// - Throws: ``ServerError``, and other errors as they are.
  static func wrapping<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw refusal(error) ?? error
    }
  }

  /// The error of this module for an error of a manifest, a plugin or the store; nil for other errors.
  static func refusal(_ error: any Error) -> ServerError? {
    switch error {
    case let error as ServerError: error
    case let error as ManifestError:
      ServerError(.refused, "\(error)", problems: error.problems.map { Problem($0) }, cause: error)
    case let error as ManifestProblem: ServerError(.refused, "\(error)", problems: [Problem(error)], cause: error)
    case is LoadRefusal, is StoreError: ServerError(.refused, "\(error)", cause: error)
    default: nil
    }
  }

  /// The same error with another text in place of each of its texts.
  func mapTexts(_ transform: (String) -> String) -> ServerError {
    ServerError(code, transform(message), problems: problems.map { $0.mapTexts(transform) }, cause: cause)
  }
}
