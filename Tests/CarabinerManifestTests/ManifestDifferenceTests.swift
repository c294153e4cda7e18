import CarabinerManifest
import Testing

@Suite("Differences between two manifests")
struct ManifestDifferenceTests {
  private func manifest(_ more: String = "") throws -> Manifest {
    try Manifest(
      text: """
        carabiner: 1
        plugins:
          - name: a
            file: a.so
            \(more)
        """)
  }

  @Test(
    "name each key of a plugin that has changed",
    arguments: [
      ("sha256", "\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\""), ("interceptor", "org.example.a"),
      ("config", "{limit: 1}"), ("grants", "[fetch]"),
      ("library-paths", "[$ORIGIN]"), ("on-fault", "skip"), ("timeout", "5s"), ("messages-to-clients", "true"),
      ("maximum-buffers", "64MiB"), ("mandatory", "true"), ("enabled", "false"),
    ])
  func pluginKeys(key: String, value: String) throws {
    let difference = try ManifestDifference(from: manifest(), to: manifest("\(key): \(value)"))
    #expect(difference.lines == ["~ plugin a: \(key)"])
    #expect(try ManifestDifference(from: manifest(), to: manifest()).lines.isEmpty)
  }
}
