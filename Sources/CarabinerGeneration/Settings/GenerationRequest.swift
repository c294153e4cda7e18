/// The files that a run reads and writes.
package struct GenerationRequest: Sendable, Hashable {
  /// The name of the configuration in the working folder.
  package static let standardConfiguration = "carabiner-generate.yaml"

  /// The path of the configuration.
  package var configuration: String
  /// The documents in place of those of the configuration, absolute or relative to the folder of the configuration.
  ///
  /// Build systems declare outputs before a run. Therefore each of these documents has a file, and so have the types of the schema, even if
  /// nothing is in them. The list of documents for servers and the mocks are not written.
  package var documents: [String]?
  /// The folder of the generated files in place of that of the configuration.
  package var output: String?

  package init(configuration: String = GenerationRequest.standardConfiguration, documents: [String]? = nil, output: String? = nil)
  {
    self.configuration = configuration
    self.documents = documents
    self.output = output
  }

  /// The folder of the configuration.
  var folder: String { Paths.folder(of: configuration) }
}
