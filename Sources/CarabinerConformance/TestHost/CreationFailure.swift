internal import CCarabiner

/// The plugin refused to create an instance, in this process or in a worker.
struct CreationFailure: Error, CustomStringConvertible {
  let status: crb_status
  let reason: String
  /// Whether validate() refused, and not create().
  let isValidation: Bool
  /// Whether create() stored an instance although it failed.
  let leftInstance: Bool

  var description: String { "\(isValidation ? "validate" : "create") answers \(status)\(reason.isEmpty ? "" : ": \(reason)")" }
}
