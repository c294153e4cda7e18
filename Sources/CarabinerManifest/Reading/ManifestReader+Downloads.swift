internal import Carabiner
internal import CarabinerWire

extension ManifestReader {
  /// Reads `downloads`, after the plugins.
  mutating func readDownloads(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .array(let entries) = json else { return wrongType(json, pointer, "a list of objects with prefix") }
    for (index, entry) in entries.enumerated() {
      let place = pointer.appending(index)
      guard var download = Manifest.Download.fields.read(entry, place, &self) else { continue }
      download.pointer = place
      manifest.downloads.append(download)
    }
    warnAboutIdleDownloads()
  }

  /// The URL of a file, or the beginning of such URLs.
  mutating func downloadURL(_ json: JSONValue, _ pointer: JSONPointer, isPrefix: Bool = false) -> String? {
    guard let text = text(json, pointer) else { return nil }
    guard let fault = DownloadURL.fault(of: text, isPrefix: isPrefix) else { return text }
    problem(.invalidValue, pointer, "\(PrintableURL(text).description.debugDescription): \(fault)")
    return nil
  }

  private mutating func warnAboutIdleDownloads() {
    let urls = manifest.plugins.compactMap { if case .url(let url, _) = $0.source { url } else { nil } }
    for download in manifest.downloads where !urls.contains(where: { manifest.download(for: $0) == download }) {
      warn(
        .unusedSetting, download.pointer,
        "no plugin has a URL for which this is the longest prefix, so it has no effect; correct the prefix, or remove the entry")
    }
  }
}

extension Manifest.Download {
  /// The beginning of the URLs of downloads, up to the slash after the host: https, or http on this machine.
  static let pattern = #"^(https://[^@/?#]+|http://(localhost|127[.][0-9]+[.][0-9]+[.][0-9]+|\\[::1\\])(:[0-9]+)?)/"#

  static let fields = Fields(Self(prefix: "", pointer: JSONPointer())) {
    $0.key(
      "prefix", \.prefix, .downloadPrefix, "The beginning of the URLs, at least up to the slash after the host.",
      missing: "the prefix is missing; write prefix: with the beginning of the URLs")
    $0.key(
      "headers", \.headers, .headers,
      "Headers of the requests. Another host gets none of them after a redirect. Values may contain ${env:NAME} and ${file:path}."
    )
    $0.key(
      "ca-file", \.certificateAuthorityFile, .file("correct the path"),
      "The PEM file with the certificates to trust, instead of the system's.")
  }
}

extension ValueKind<String> {
  fileprivate static var downloadPrefix: Self {
    text(#""type": "string", "pattern": "\#(Manifest.Download.pattern)[!$-~]*$", "not": {"pattern": "[$][{]"}"#) {
      reader, json, place in
      guard let prefix = reader.downloadURL(json, place, isPrefix: true) else { return nil }
      if !reader.manifest.downloads.contains(where: { $0.prefix == prefix }) { return prefix }
      reader.problem(
        .duplicateName, place, "there is an entry with this prefix already; put the headers into one of them")
      return nil
    }
  }
}

extension ValueKind<HTTPHeaders> {
  /// Headers with values that may contain references.
  static var headers: Self {
    Self(
      ##""type": "object", "propertyNames": {"$ref": "#/$defs/headerName"}, "##
        + #""additionalProperties": {"type": "string", "not": {"pattern": "[\\r\\n\\u0000]"}}"#
    ) { $0.headerFields($1, $2) }
  }
}
