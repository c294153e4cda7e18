/// The text of a manifest, kept so that what turns out to be wrong later can be said with its line.
///
/// It may hold what nobody should see in a log, so it is never printed, and it takes no part in comparing manifests: two that
/// say the same are equal, however they are written.
struct ManifestText: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  let text: String
  let format: Manifest.Format

  static func == (left: ManifestText, right: ManifestText) -> Bool { true }

  var description: String { "a text of \(text.utf8.count) bytes" }
  // A dump goes through the mirror and not through the description.
  var customMirror: Mirror { Mirror(self, children: ["format": format]) }
}
