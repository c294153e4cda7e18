internal import Carabiner
internal import CarabinerWire

extension ManifestReader {
  private static let downloadKeys = ["prefix", "headers", "ca-file"]

  /// Reads `downloads`, after the plugins.
  mutating func readDownloads(_ json: JSONValue, _ pointer: JSONPointer) {
    guard case .array(let entries) = json else { return wrongType(json, pointer, "a list of objects with prefix") }
    for (index, entry) in entries.enumerated() {
      if let download = readDownload(entry, pointer.appending(index)) { manifest.downloads.append(download) }
    }
    warnAboutIdleDownloads()
  }

  private mutating func readDownload(_ json: JSONValue, _ pointer: JSONPointer) -> Manifest.Download? {
    guard let object = object(json, pointer, knowing: Self.downloadKeys) else { return nil }
    guard let value = object["prefix"] else {
      problem(.missing, pointer, "the prefix is missing; write prefix: with the beginning of the URLs")
      return nil
    }
    let place = pointer.appending("prefix")
    guard let prefix = downloadURL(value, place, isPrefix: true) else { return nil }
    guard !manifest.downloads.contains(where: { $0.prefix == prefix }) else {
      problem(.duplicateName, place, "there is an entry with this prefix already; put the headers into one of them")
      return nil
    }
    var download = Manifest.Download(prefix: prefix, pointer: pointer)
    if let headers = object["headers"] { download.headers = headerFields(headers, pointer.appending("headers")) }
    if let file = object["ca-file"] {
      download.certificateAuthorityFile = existing(file, pointer.appending("ca-file"), "correct the path")
    }
    return download
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
