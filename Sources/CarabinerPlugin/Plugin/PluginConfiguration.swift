internal import FoundationEssentials

/// The configuration of an instance. The host has validated it with the plugin's schema.
public struct PluginConfiguration: Sendable {
  /// The name of the manifest entry.
  public let entryName: String
  /// The configuration, as JSON.
  public let json: String
  /// The path of the library as in the manifest, not that of the staged copy.
  public let origin: String
  /// The generation of the manifest that creates the instance.
  public let generation: UInt64

  /// Decodes the configuration. An optional property is nil if its member is missing or null.
  ///
  /// - Throws: `DecodingError`.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }
}
