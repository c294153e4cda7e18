package import CarabinerABI

/// One interceptor that a library registers.
package struct PluginInterceptor: Sendable {
  /// The id, a reverse-DNS name, unique in the library.
  package let id: String
  /// The interceptor's version.
  package let version: String
  /// The display name.
  package let name: String?
  /// The author or company.
  package let vendor: String?
  /// The address of the documentation.
  package let url: String?
  /// The JSON Schema of the configuration.
  package let configurationSchema: String?
  /// The threads its hooks may run on, as numbered in the header.
  package var threadClass: UInt32
  /// The media types its parser adds to the header Accept.
  package let accept: String?
  /// The interceptor's function tables.
  package let table: InterceptorTable

  /// The names of its stages, in the order a request passes them.
  package var stages: [String] {
    [
      table.graphQL.map { _ in "graphql" }, table.cache.map { _ in "cache" }, table.http.map { _ in "http" },
      unsafe table.parser.map { _ in "parsing" },
    ].compactMap(\.self)
  }
}
