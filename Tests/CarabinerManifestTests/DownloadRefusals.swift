import CarabinerManifest

extension Refusal {
  private static let digest = String(repeating: "ab", count: 32)

  /// A plugin with a URL that cannot be used.
  private static func url(_ url: String, _ fragment: String) -> Refusal {
    .plugin("the URL \(url)", "{name: a, url: '\(url)', sha256: \(digest)}", .invalidValue, "/url", fragment)
  }

  private static func entry(
    _ name: String, _ text: String, _ code: ManifestProblem.Code, _ pointer: String, _ fragment: String
  ) -> Refusal {
    Refusal(name, "carabiner: 1\ndownloads: [\(text)]", code, "/downloads\(pointer)", fragment)
  }

  private static func prefix(_ prefix: String, _ fragment: String) -> Refusal {
    .entry("the prefix \(prefix)", "{prefix: '\(prefix)'}", .invalidValue, "/0/prefix", fragment)
  }

  /// All mistakes in downloads.
  static let downloads: [Refusal] = [
    .plugin("url without sha256", "{name: a, url: 'https://h/a.so'}", .missing, "", "a plugin with url needs sha256"),
    .plugin(
      "both file and url", "{name: a, file: present.plugin, url: 'https://h/a.so', sha256: \(digest)}", .invalidValue, "",
      "the plugin has both file and url; remove one of them"),
    .plugin(
      "both url and ffi", "{name: a, url: 'https://h/a.so', ffi: {}}", .invalidValue, "", "the plugin has both url and ffi"),
    .plugin(
      "url with a short pin", "{name: a, url: 'https://h/a.so', sha256: abc}", .invalidValue, "/sha256", "64 hexadecimal digits"),
    .plugin("url as number", "{name: a, url: 1, sha256: \(digest)}", .wrongType, "/url", "must be a text"),
    .plugin("an empty url", "{name: a, url: '', sha256: \(digest)}", .invalidValue, "/url", "this text is empty"),
    .url("http://plugins.example.org/a.so", "with http, others can read the request"),
    .url("http://127.0.0.1.example.org/a.so", "with http, others can read the request"),
    .url("http://128.0.0.1/a.so", "with http, others can read the request"),
    .url("ftp://h/a.so", "only https is used for downloads"),
    .url("file:///tmp/a.so", "this is not a URL"),
    .url("a.so", "this is not a URL"),
    .url("https://h/a b.so", "this is not a URL"),
    .url("https://user:s3cret@h/a.so", "a URL cannot hold a user or a password"),
    .url("https://h/a.so#b", "has no fragment"),
    .url("https://h/", "the URL names no file"),
    .url("https://${env:HOST}/a.so", "references are resolved only in headers"),
    .entry("downloads as text", "text", .wrongType, "/0", "must be an object"),
    Refusal("downloads as object", "carabiner: 1\ndownloads: {}", .wrongType, "/downloads", "a list of objects with prefix"),
    .entry("no prefix", "{headers: {}}", .missing, "/0", "the prefix is missing"),
    .entry(
      "an unknown key of downloads", "{prefix: 'https://h/', header: {}}", .unknownKey, "/0/header", "(did you mean headers?)"),
    .entry(
      "a prefix twice", "{prefix: 'https://h/'}, {prefix: 'https://h/'}", .duplicateName, "/1/prefix",
      "an entry with this prefix already"),
    .prefix("https://h", "write at least a / after it"),
    .prefix("http://h/", "with http, others can read the request"),
    .prefix("https://${env:HOST}/", "references are resolved only in headers"),
    .entry(
      "an authority of downloads that is not there", "{prefix: 'https://h/', ca-file: no.pem}", .missing, "/0/ca-file",
      "there is no file"),
    .entry(
      "a malformed header of downloads", "{prefix: 'https://h/', headers: {'a b': c}}", .invalidValue, "/0/headers/a b",
      "is not a header name"),
    .entry(
      "a malformed reference in downloads", "{prefix: 'https://h/', headers: {a: '${vault:x}'}}", .malformedReference,
      "/0/headers/a",
      "vault"),
  ]
}
