import CarabinerManifest
import Testing

@Suite("Differences between two manifests")
struct ManifestDifferenceTests {
  private func manifest(_ more: String = "") throws -> Manifest {
    try ManifestFixtures.manifest(
      """
      carabiner: 1
      plugins:
        - name: a
          file: present.plugin
          \(more)
      """)
  }

  @Test(
    "name each key of a plugin that has changed",
    arguments: [
      ("sha256", "\"de184c31976dcc4674a902b8952831f3d368c51c7e7eea87c6a0ce200fe4415c\""), ("interceptor", "org.example.a"),
      ("config", "{limit: 1}"), ("grants", "[fetch]"),
      ("library-paths", "[$ORIGIN]"), ("on-fault", "skip"), ("timeout", "5s"), ("messages-to-clients", "true"),
      ("maximum-buffers", "64MiB"), ("mandatory", "true"), ("enabled", "false"), ("isolation", "worker"),
    ])
  func pluginKeys(key: String, value: String) throws {
    let difference = try ManifestDifference(from: manifest(), to: manifest("\(key): \(value)"))
    #expect(difference.lines == ["~ plugin a: \(key)"])
    #expect(try ManifestDifference(from: manifest(), to: manifest()).lines.isEmpty)
  }
}
