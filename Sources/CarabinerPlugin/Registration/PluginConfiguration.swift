internal import FoundationEssentials

/// What the manifest says for this plugin; the host has checked it against the plugin's schema.
public struct PluginConfiguration: Sendable {
  /// The name of the manifest entry.
  public let entryName: String
  /// The configuration as JSON text.
  public let json: String
  /// The path of the library in the manifest, not of the staged copy.
  public let origin: String
  /// Of the manifest that asks for the instance.
  public let generation: UInt64

  /// The configuration as a value.
  ///
  /// - Throws: `DecodingError`.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }
}
