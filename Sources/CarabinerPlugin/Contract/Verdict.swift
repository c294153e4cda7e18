/// The result of a hook. A hook that fails throws an error instead.
public enum Verdict: Sendable {
  /// Continues with the staged changes.
  case `continue`
  /// Responds with the staged response and skips the stages closer to the network.
  case respond
  /// Drops the result or chunk. In a parser's `onHead`, passes the response to the next parser.
  case drop
  /// Passes the result or chunk on and ends the stream.
  case finish
  /// Starts again: in GraphQL stages the whole chain, in HTTP stages the HTTP request.
  case retry
  /// Replaces the error with the staged result.
  case recover
  /// Suspends the call and runs the work in a task. The work returns the verdict.
  ///
  /// The task is cancelled when the call is cancelled.
  case later(@Sendable () async throws -> Verdict)
}
