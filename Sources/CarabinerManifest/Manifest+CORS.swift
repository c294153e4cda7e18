package import CarabinerWire

extension Manifest {
  /// The origins of pages in browsers that may use the gateway.
  package struct CORS: Sendable, Hashable {
    /// The largest number of origins, and of names in a list of headers.
    package static let maximumEntries = 1000
    /// The longest time that a browser may keep the response to a preflight: one day.
    package static let highestMaximumAge = Duration.seconds(86_400)

    package var origins: [OriginPattern]
    /// The request headers that pages may set; nil for those that a preflight asks for.
    package var headers: [String]?
    /// The response headers that pages may read.
    package var exposedHeaders: [String] = []
    /// Whether browsers may send cookies and other credentials.
    package var allowsCredentials = false
    /// How long a browser may keep the response to a preflight.
    package var maximumAge = Duration.seconds(600)

    /// These origins with default settings.
    package init(origins: [OriginPattern]) { self.origins = origins }
  }
}
