internal import CarabinerGateway
internal import CarabinerManifest
internal import Logging
internal import Synchronization

/// Applies the settings of each new generation to a running gateway.
final class GatewayAdjuster: ManifestFollower {
  private let configuration: Gateway.Configuration
  private let operations: OperationService
  private let unsent: UnsentTotal
  private let certificate: ServerCertificate?
  private let logger: Logger
  private let effective: Mutex<EffectiveSettings>

  init(
    _ configuration: Gateway.Configuration, _ effective: EffectiveSettings, operations: OperationService, unsent: UnsentTotal,
    certificate: ServerCertificate?, logger: Logger
  ) {
    self.configuration = configuration
    self.effective = Mutex(effective)
    self.operations = operations
    self.unsent = unsent
    self.certificate = certificate
    self.logger = logger
  }

  /// The settings that hold now.
  var settings: EffectiveSettings { effective.withLock(\.self) }

  func prepare(_ manifest: Manifest) throws -> any PreparedChange {
    Change(adjuster: self, next: EffectiveSettings(configuration, manifest, logger))
  }

  func refresh() { certificate?.refresh() }

  private func adopt(_ next: EffectiveSettings) {
    effective.withLock { $0 = next }
    operations.set(GatewaySettings(paths: next.paths, limits: next.limits, replacing: operations.settings.value))
    unsent.set(next.limits)
  }

  private struct Change: PreparedChange {
    let adjuster: GatewayAdjuster
    let next: EffectiveSettings

    func commit() { adjuster.adopt(next) }

    func discard() {}
  }
}
