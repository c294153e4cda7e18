internal import CarabinerBridge
internal import CarabinerManifest
internal import Logging

/// The logger and warnings of a host, and the secrets to hide in them.
struct HostOutput: Sendable {
  let logger: Logger
  /// The secrets of the manifests that this host has read.
  let secrets: SecretRegister
  private let warning: (@Sendable (String) -> Void)?

  /// - Parameter warning: Gets warnings for the operator; nil to log them.
  init(logger: Logger, secrets: SecretRegister = SecretRegister(), warning: (@Sendable (String) -> Void)? = nil) {
    self.logger = logger
    self.secrets = secrets
    self.warning = warning
  }

  /// The text without secrets.
  func redacted(_ text: String) -> String { secrets(text) }

  /// Warns the operator.
  func warn(_ text: String) {
    let text = redacted(text)
    if let warning { warning(text) } else { logger.warning("\(text)") }
  }
}
