import Foundation
import TestTools
import Testing

/// The fixture plugin of a kit: the same plugin, written once in each language.
enum KitPlugin: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case cpp
  case rust
  case swift

  var testDescription: String { rawValue }

  /// The path of the library. It is built once for all tests, incrementally.
  var path: String {
    get async throws { try await Self.builds.build(of: self).value.path }
  }

  /// The file and the interceptor, as the value of `file:` in a manifest entry with braces.
  var entry: String {
    get async throws { "\(try await path), interceptor: org.carabiner.test.kit" }
  }

  private static let builds = Builds()

  /// The first request for a plugin starts its build. Later requests wait for the same build.
  private actor Builds {
    private var tasks: [KitPlugin: Task<URL, any Error>] = [:]

    func build(of plugin: KitPlugin) -> Task<URL, any Error> {
      if let task = tasks[plugin] { return task }
      let task = Task { try await plugin.build() }
      tasks[plugin] = task
      return task
    }
  }

  private func build() async throws -> URL {
    let root = Repository.root
    let source = root.appending(path: "Tests/Fixtures/Plugins/\(rawValue)")
    let place = root.appending(path: ".build/kit-fixtures/\(rawValue)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let library: URL
    switch self {
    case .cpp:
      library = place.appending(path: "kit.so")
      try await run([
        "c++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden",
        "-fvisibility-inlines-hidden", "-fno-gnu-unique", "-I\(root.path)/Sources/CCarabiner/include",
        "-I\(root.path)/Sources/Kits/cpp", "-o", library.path, source.appending(path: "kit.cpp").path, "-lpthread",
      ])
    case .rust:
      library = place.appending(path: "release/libkit.so")
      try await run([
        "cargo", "build", "--release", "--offline", "--quiet", "--manifest-path", source.appending(path: "Cargo.toml").path,
        "--target-dir", place.path,
      ])
    case .swift:
      library = place.appending(path: "release/libKitFixture_1_0_0.so")
      try await run([
        "env", "CARABINER_PACKAGE=libraries", "swift", "build", "-c", "release", "--quiet", "--product", "KitFixture_1_0_0",
        "--package-path", source.path, "--scratch-path", place.path, "--disable-local-rpath", "-Xswiftc",
        "-no-toolchain-stdlib-rpath",
      ])
    }
    unsafe chmod(library.path, 0o755)
    return library
  }

  private func run(_ command: [String]) async throws {
    let run = try await ToolRun(URL(filePath: "/usr/bin/env"), command)
    guard run.status == 0 else { throw FixturePlugin.CompilerFailure(output: run.output + run.errors) }
  }
}
