/// What the chain may take for granted about a stage.
public struct StageTraits: OptionSet, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The stage tells the tracer itself what it does.
  public static let tracesItself = StageTraits(rawValue: 1 << 0)
  /// The stage never calls `next` inside a task-local binding, so nothing has to be kept of its scope.
  public static let bindsNoTaskLocals = StageTraits(rawValue: 1 << 1)
  /// The cache stage writes nothing, so nobody has to make records for it.
  public static let keepsNothing = StageTraits(rawValue: 1 << 2)
  /// The HTTP stage lets every request pass, and of most responses it sees no more than the head.
  ///
  /// Such a stage is asked what passes, and intercepts only what does not; a trace shows it all the same.
  public static let seesOnlyHeads = StageTraits(rawValue: 1 << 3)
}
