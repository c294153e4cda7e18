public import Foundation
internal import TestTools

/// A plugin of Tests/Fixtures/Plugins, compiled into a folder that is removed with this value.
public final class CompiledFixture: Sendable {
  private let place: FixturePlugin.Folder
  /// The path of the plugin.
  public let path: String

  /// The folder of the plugin.
  public var folder: URL { place.url }

  /// Compiles Tests/Fixtures/Plugins/`source`.c.
  public init(_ source: String, defining definitions: [String] = []) async throws {
    place = try FixturePlugin.Folder()
    path = try await FixturePlugin.compile(source, defining: definitions, into: place)
  }
}
