/// The text of a manifest, kept so that problems found later can be reported with their lines.
///
/// The text may contain secrets, so it is never printed. It is not part of the comparison of manifests: two manifests with the same
/// content are equal, however they are written.
struct ManifestText: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  let text: String
  let format: Manifest.Format

  static func == (left: ManifestText, right: ManifestText) -> Bool { true }

  var description: String { "a text of \(text.utf8.count) bytes" }
  // `dump` uses the mirror and not the description.
  var customMirror: Mirror { Mirror(self, children: ["format": format]) }
}
