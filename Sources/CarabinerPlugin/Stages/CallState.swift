/// The state of a stage for one call. It is kept across retries, except in parsers.
///
/// Hooks receive it as `inout`, but the work of a suspended hook does not. If the work needs the state, use a class.
public protocol CallState: Sendable {
  /// Creates the state at the beginning of a call.
  init()
}

/// The state of a stage that needs none. It allocates no memory.
public struct NoState: CallState {
  public init() {}
}
