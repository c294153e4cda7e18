package import Carabiner
package import FoundationEssentials

/// Where spans go, and how many of them.
package struct OTLPSettings: Sendable {
  /// What the process is called in traces unless somebody says otherwise.
  package static let defaultServiceName = "carabiner"

  /// Where they are sent to, as a whole.
  package var endpoint: URL
  /// Fields of each request, as those that say who sends.
  package var headers = HTTPHeaders()
  /// What is said of this process.
  package var resource: [(name: String, value: String)] = [("service.name", defaultServiceName)]
  package var sampler = TraceSampler()
  /// Seconds a request may take.
  package var timeout = 10.0
  /// How many spans may wait; further ones are dropped.
  package var maximumQueue = 2048
  /// How many spans one request takes along.
  package var maximumBatch = 512
  /// How long a span waits for others at most.
  package var interval = Duration.seconds(5)
  /// How often a batch is tried.
  package var maximumAttempts = 5
  /// How long the first pause between two attempts is; each is twice as long as the last.
  package var pause = Duration.seconds(1)
  /// How long a pause may be, whatever the collector asks for.
  package var maximumPause = Duration.seconds(30)
  /// How long an attribute's text may be; longer ones are cut.
  package var maximumAttributeBytes = 1024
  /// A file of certificates to trust in place of the system's.
  package var certificateAuthorityFile: String?
  /// A file with the client's certificate, in PEM.
  package var clientCertificateFile: String?
  /// A file with the key of the client's certificate, in PEM.
  package var clientKeyFile: String?

  /// The defaults, for this endpoint.
  package init(endpoint: URL) { self.endpoint = endpoint }
}
