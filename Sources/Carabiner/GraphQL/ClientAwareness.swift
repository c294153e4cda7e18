internal import CarabinerWire
internal import FoundationEssentials

/// The name and version of the client, for the statistics of servers.
public struct ClientAwareness: Sendable, Hashable {
  /// The program's name, sent as `apollographql-client-name`; nil to leave it out.
  public var applicationName: String?
  /// The program's version, sent as `apollographql-client-version`; nil to leave it out.
  public var applicationVersion: String?
  /// Whether `extensions.clientLibrary` names this library and its version.
  public var includesLibrary: Bool

  /// The name of the running program, followed by `-carabiner`.
  public static let defaultApplicationName: String = {
    // A file name may have characters that a header may not.
    let scalars = ProcessInfo.processInfo.processName.unicodeScalars.filter { (0x21...0x7E).contains($0.value) }
    let name = String(String.UnicodeScalarView(scalars))
    return name.isEmpty ? "carabiner" : "\(name)-carabiner"
  }()
  /// The version of a program that does not name one.
  public static let defaultApplicationVersion = "(unknown)"

  /// Creates the description of a client.
  public init(
    applicationName: String? = Self.defaultApplicationName, applicationVersion: String? = Self.defaultApplicationVersion,
    includesLibrary: Bool = true
  ) {
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
