internal import Carabiner

/// A chain of this module cannot run with the parts that it was given.
///
/// Errors that the 1.x generation had are public enums of their own, because programs switch over them.
struct PipelineError: DescribedError, Sendable, Hashable {
  /// The kind of failure.
  enum Code: String, Sendable {
    /// The interceptors of the core were given a chain of another module.
    case foreignChain
    /// The interceptors of the core have a stage that a list of interceptors replaces.
    case unusedStage
    /// A subclass of ``URLSessionClient`` released its completions without a call.
    case noReply
  }

  let code: Code
  /// The cause, and the next step for the developer.
  let message: String

  var description: String { message }

  static let foreignChain = PipelineError(
    code: .foreignChain,
    message: "StagesInterceptor runs only in chains of this module; pass it the chain value that the list got")

  static func unusedStage(kind: String, name: String) -> PipelineError {
    PipelineError(
      code: .unusedStage,
      message: "the \(kind) stage \(name) has no place in a list of interceptors, which has its own; "
        + "remove it from the manifest or provider")
  }

  static let noReply = PipelineError(
    code: .noReply, message: "the client released its completion without a result; call it in sendRequest of the subclass")
}
