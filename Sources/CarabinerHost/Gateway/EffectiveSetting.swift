package import CarabinerWire

/// A setting of a running gateway, as `carabiner status --settings` shows it.
package struct EffectiveSetting: Sendable, Hashable {
  /// Where a value comes from. A flag wins over the manifest.
  package enum Source: String, Sendable, Hashable {
    case flag
    case manifest
    case `default`
  }

  /// The key of the manifest. For a flag without a key, the name of the flag without dashes.
  package let name: String
  package let value: String
  package let source: Source

  package init(name: String, value: String, source: Source) {
    self.name = name
    self.value = value
    self.source = source
  }

  /// A flag without a key in the manifest.
  package init(flag name: String, _ value: String, default usual: String) {
    self.init(name: name, value: value, source: value == usual ? .default : .flag)
  }

  package var json: JSONValue { ["name": .string(name), "value": .string(value), "source": .string(source.rawValue)] }
}
