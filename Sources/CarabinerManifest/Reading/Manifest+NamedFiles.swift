internal import CarabinerFiles
internal import CarabinerWire

extension Manifest {
  /// The files that a manifest names and that are read with it: plugins, libraries of declared calls, certificates, lists of
  /// operations, `${file:}`.
  ///
  /// Files that the host writes, such as the store's, are not included. The manifest need not be valid: a plugin that is not built yet
  /// is included.
  ///
  /// - Parameter check: Decides about the bytes before they are parsed.
  /// - Returns: Nil if the file cannot be read, is not accepted, or is neither YAML nor JSON.
  package static func namedFiles(path: String, accepting check: ([UInt8]) throws -> Void = { _ in }) -> [String]? {
    guard let bytes = try? BoundedFile.bytes(at: path, maximumBytes: maximumFileBytes), (try? check(bytes)) != nil else {
      return nil
    }
    return namedFiles(bytes: bytes, path: path)
  }

  /// The files that a manifest names and that are read with it.
  ///
  /// - Parameter path: The path of the manifest, or its name if it is not in a file. Then all paths in it are absolute.
  /// - Returns: Nil if it is neither YAML nor JSON.
  package static func namedFiles(bytes: [UInt8], path: String) -> [String]? {
    guard let text = String(validating: BoundedFile.withoutMark(bytes), as: UTF8.self),
      let document = try? ManifestDocument(text, Format(path: path, text: text))
    else { return nil }
    let folder = directory(of: path)
    return Array(Set(named(in: document.value))).map { $0.hasPrefix("/") ? $0 : "\(folder)/\($0)" }
  }

  private static func named(in manifest: JSONValue) -> [String] {
    let plugins = manifest["plugins"]?.array ?? []
    let libraries = plugins.compactMap { $0["ffi"]?["library"]?.string }.filter { $0.contains("/") }
    let certificates = manifest["settings"]?["ca-file"]?.string
    let authorities = (manifest["downloads"]?.array ?? []).compactMap { $0["ca-file"]?.string }
    let upstreams = (manifest["upstreams"]?.object ?? [:]).flatMap { _, upstream in
      ["ca-file", "certificate", "key"].compactMap { upstream["tls"]?[$0]?.string }
    }
    let redis = [manifest["built-ins"]?["store"]?["redis"], manifest["serve"]?["shared"]].flatMap { servers in
      ["ca-file", "certificate", "key"].compactMap { servers?[$0]?.string }
    }
    let lists = manifest["serve"]?["operations"]?["allow"]?["files"]?.array ?? []
    let listeners = (manifest["serve"]?["listeners"]?.array ?? []).flatMap { listener in
      [listener["tls"]?["client-ca"]?.string].compactMap(\.self)
        + (listener["tls"]?["certificates"]?.array ?? []).flatMap { [$0["certificate"], $0["key"]].compactMap { $0?.string } }
    }
    let references = manifest.texts(at: JSONPointer()).flatMap { place, text in
      ((try? ReferencePart.parts(of: text, at: place)) ?? []).compactMap { if case .file(let path) = $0 { path } else { nil } }
    }
    return plugins.compactMap { $0["file"]?.string } + libraries + [certificates].compactMap(\.self)
      + authorities + lists.compactMap(\.string) + redis + upstreams + listeners + references
  }
}
