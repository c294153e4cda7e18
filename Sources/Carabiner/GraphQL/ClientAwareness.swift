internal import CarabinerWire

/// The name and version of the client, for the statistics of servers.
public struct ClientAwareness: Sendable, Hashable {
  /// The program's name, sent as `apollographql-client-name`; nil to leave it out.
  public var applicationName: String?
  /// The program's version, sent as `apollographql-client-version`; nil to leave it out.
  public var applicationVersion: String?
  /// Whether `extensions.clientLibrary` names this library and its version.
  public var includesLibrary: Bool

  /// Creates the description of a client.
  public init(applicationName: String? = nil, applicationVersion: String? = nil, includesLibrary: Bool = true) {
    self.applicationName = applicationName
    self.applicationVersion = applicationVersion
    self.includesLibrary = includesLibrary
  }

  /// The version of this library.
  package static let libraryVersion = "1.0.0"

  static let library: JSONValue = ["name": "carabiner", "version": .string(libraryVersion)]

  /// The headers with name and version.
  package var headers: HTTPHeaders {
    var headers = HTTPHeaders()
    if let applicationName { headers.add(name: "apollographql-client-name", value: applicationName) }
    if let applicationVersion { headers.add(name: "apollographql-client-version", value: applicationVersion) }
    return headers
  }
}
