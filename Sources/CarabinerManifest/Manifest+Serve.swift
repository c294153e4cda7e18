package import Carabiner

extension Manifest {
  /// What a gateway does with the requests of others.
  package struct Serve: Sendable, Hashable {
    /// Names of request fields that go on to the upstream; one that ends with `*` stands for all that begin so.
    package var forwardedHeaders: [String] = []
    /// Names of response fields that go back to the client.
    package var returnedHeaders: [String] = []
    /// Names of fields that a client of a WebSocket may add in `connection_init`.
    package var connectionInitHeaders: [String] = []
    /// When the store, which all clients share, is asked.
    package var cachePolicy = CachePolicy.networkOnly
    /// How a generation shows itself on a share of the operations before it takes all; nil if it takes all at once.
    package var canary: Canary?
    /// How a generation runs copies of operations, whose results are compared and go nowhere; nil if it takes all at once.
    package var shadow: Shadow?
  }

  /// A generation takes a share of the operations, and all of them if nothing speaks against it.
  package struct Canary: Sendable, Hashable {
    /// The share it takes, above 0 to 1.
    package var share: Double
    /// How long it is watched before it takes all.
    package var duration = Duration.seconds(600)
    /// The request field whose value decides who gets it; nil for the client's address. One client sees one generation.
    package var key: String?
    /// By how much the share of its operations that fail or have errors may be above that of the old generation, 0 to 1.
    package var errorIncrease = 0.02
    /// How many times the old generation's latency its own may be, at the 95th percentile.
    package var latencyRatio = 2.0
    /// How many operations it must have run before it is judged.
    package var minimumOperations = 50

    /// A canary with this share.
    package init(share: Double) { self.share = share }
  }

  /// A generation runs copies of operations.
  package struct Shadow: Sendable, Hashable {
    /// Where the copies' requests go.
    package enum Upstream: String, Sendable, Hashable, CaseIterable {
      /// They are answered with what the upstream answered the original.
      case recorded
      /// The upstream is asked again.
      case live
    }

    /// The share of queries that are copied, above 0 to 1.
    package var share: Double
    package var upstream = Upstream.recorded

    /// A shadow with this share.
    package init(share: Double) { self.share = share }
  }
}
