package import Carabiner
package import FoundationEssentials

/// The settings of the exporter.
package struct OTLPSettings: Sendable {
  /// The default name of the process in traces.
  package static let defaultServiceName = "carabiner"

  /// The complete URL of the collector, with its path.
  package var endpoint: URL
  /// The headers of each request, for example for authentication.
  package var headers = HTTPHeaders()
  /// The attributes of this process.
  package var resource: [(name: String, value: String)] = [("service.name", defaultServiceName)]
  package var sampler = TraceSampler()
  /// The timeout of a request in seconds.
  package var timeout = 10.0
  /// The maximal number of queued spans. Further ones are dropped.
  package var maximumQueue = 2048
  /// The maximal number of spans in one request.
  package var maximumBatch = 512
  /// The maximum time that a span waits for a full batch.
  package var interval = Duration.seconds(5)
  /// The maximal number of attempts to send a batch.
  package var maximumAttempts = 5
  /// The delay before the second attempt. Each further delay is twice as long.
  package var pause = Duration.seconds(1)
  /// The maximal delay, also for a Retry-After of the collector.
  package var maximumPause = Duration.seconds(30)
  /// The maximal length of the text of an attribute. Longer ones are cut.
  package var maximumAttributeBytes = 1024
  /// The path of a PEM file with the certificate authorities to trust; nil for those of the system.
  package var certificateAuthorityFile: String?
  /// The path of a PEM file with the certificate of the client; nil for none.
  package var clientCertificateFile: String?
  /// The path of a PEM file with the private key of the client; nil for none.
  package var clientKeyFile: String?

  /// The defaults for an endpoint.
  package init(endpoint: URL) { self.endpoint = endpoint }
}
