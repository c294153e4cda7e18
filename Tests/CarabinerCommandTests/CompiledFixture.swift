import Foundation
import TestTools

/// A plugin of Tests/Fixtures/Plugins, compiled into a folder that is removed with this value.
final class CompiledFixture: Sendable {
  private let place: FixturePlugin.Folder
  let path: String

  var folder: URL { place.url }

  init(_ source: String, defining definitions: [String] = []) async throws {
    place = try FixturePlugin.Folder()
    path = try await FixturePlugin.compile(source, defining: definitions, into: place)
  }
}
