internal import Synchronization

/// The settings of a gateway for connections and requests that begin now.
///
/// A gateway whose settings never change pays one atomic load per use.
package final class CurrentSettings: Sendable {
  private let first: GatewaySettings
  private let latest: Mutex<GatewaySettings>
  private let changes = Atomic(0)

  package init(_ first: GatewaySettings) {
    self.first = first
    latest = Mutex(first)
  }

  /// Creates settings with these limits and paths.
  package convenience init(paths: [String] = ["/graphql"], limits: GatewayLimits) {
    self.init(GatewaySettings(paths: paths, limits: limits))
  }

  /// The settings now.
  package var value: GatewaySettings { version == 0 ? first : latest.withLock(\.self) }

  /// The limits now.
  var limits: GatewayLimits { value.limits }

  /// The number of changes so far.
  var version: Int { changes.load(ordering: .acquiring) }

  /// Replaces the settings for connections and requests that begin later.
  package func set(_ next: GatewaySettings) {
    latest.withLock { latest in
      guard latest !== next else { return }
      latest = next
      changes.add(1, ordering: .releasing)
    }
  }
}
