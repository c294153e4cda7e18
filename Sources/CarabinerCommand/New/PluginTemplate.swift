/// The files of a new plugin.
///
/// The templates are a complete plugin named `my-plugin`. A new plugin replaces `my-plugin`, `org.example.my-plugin` and
/// `MyPlugin_1_0_0` in them. In templates that several languages or stages share, a line `@@language@@` or `@@stage@@` marks the place
/// of the part that differs.
struct PluginTemplate {
  /// A file with its path in the new folder.
  struct File {
    let path: String
    let text: String
  }

  let name: PluginName
  let language: PluginLanguage
  let stage: PluginStage

  /// All files, sorted by path.
  var files: [File] {
    var files = [
      File(path: ".github/workflows/ci.yml", text: text(PackageResources.ci_yml, language: language.continuousIntegration)),
      File(path: ".gitignore", text: text(PackageResources.gitignore, language: language.ignored)),
      File(path: "Makefile", text: text(language.makefile)),
      File(path: "README.md", text: text(PackageResources.README_md, language: language.readme, stage: stage.readme)),
      File(path: "carabiner.yaml", text: text(stage.manifest)),
      File(path: language.sourcePath, text: text(stage.source(in: language))),
      File(path: "query.graphql", text: text(stage.query)),
    ]
    switch language {
    case .c, .cpp: break
    case .rust: files.append(File(path: "Cargo.toml", text: text(PackageResources.Cargo_toml)))
    case .swift:
      files += [
        File(path: "Package.swift", text: text(PackageResources.Package_swift)),
        File(path: "Sources/Interceptor/Entry.swift", text: text(PackageResources.Entry_swift)),
        File(path: "Sources/Note/include/note.h", text: text(PackageResources.note_h)),
        File(path: "Sources/Note/note.c", text: text(PackageResources.note_c)),
      ]
    }
    return files.sorted { $0.path < $1.path }
  }

  private func text(_ template: [UInt8], language: [UInt8] = [], stage: [UInt8] = []) -> String {
    let parts = ["@@language@@": language, "@@stage@@": stage, "@@carabiner@@": PackageResources.carabiner_mk]
    var lines: [Substring] = []
    for line in String(decoding: template, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
      let indent = line.prefix { $0 == " " }
      guard let part = parts[String(line.dropFirst(indent.count))] else {
        lines.append(line)
        continue
      }
      for each in String(decoding: part, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
        lines.append(each.isEmpty ? each : indent + each)
      }
    }
    // Split at the id first: the new id may contain `my-plugin`, which must not be replaced in it.
    return lines.joined(separator: "\n").split(separator: "org.example.my-plugin", omittingEmptySubsequences: false)
      .map { $0.replacing("my-plugin", with: name.name).replacing("MyPlugin_1_0_0", with: name.moduleName) }
      .joined(separator: name.id)
  }
}

extension PluginLanguage {
  fileprivate var makefile: [UInt8] {
    switch self {
    case .c: PackageResources.c_mk
    case .cpp: PackageResources.cpp_mk
    case .rust: PackageResources.rust_mk
    case .swift: PackageResources.swift_mk
    }
  }

  fileprivate var readme: [UInt8] {
    switch self {
    case .c: PackageResources.README_c_md
    case .cpp: PackageResources.README_cpp_md
    case .rust: PackageResources.README_rust_md
    case .swift: PackageResources.README_swift_md
    }
  }

  /// Entries of .gitignore besides those of every plugin.
  fileprivate var ignored: [UInt8] {
    switch self {
    case .c, .cpp: []
    case .rust: PackageResources.gitignore_rust
    case .swift: PackageResources.gitignore_swift
    }
  }

  /// Additional steps of the continuous integration recipe that install missing tools.
  fileprivate var continuousIntegration: [UInt8] { self == .rust ? PackageResources.ci_rust_yml : [] }
}

extension PluginStage {
  fileprivate func source(in language: PluginLanguage) -> [UInt8] {
    switch (self, language) {
    case (.graphql, .c): PackageResources.graphql_c
    case (.graphql, .cpp): PackageResources.graphql_cpp
    case (.graphql, .rust): PackageResources.graphql_rs
    case (.graphql, .swift): PackageResources.graphql_swift
    case (.http, .c): PackageResources.http_c
    case (.http, .cpp): PackageResources.http_cpp
    case (.http, .rust): PackageResources.http_rs
    case (.http, .swift): PackageResources.http_swift
    case (.cache, .c): PackageResources.cache_c
    case (.cache, .cpp): PackageResources.cache_cpp
    case (.cache, .rust): PackageResources.cache_rs
    case (.cache, .swift): PackageResources.cache_swift
    case (.parsing, .c): PackageResources.parsing_c
    case (.parsing, .cpp): PackageResources.parsing_cpp
    case (.parsing, .rust): PackageResources.parsing_rs
    case (.parsing, .swift): PackageResources.parsing_swift
    }
  }

  fileprivate var manifest: [UInt8] {
    switch self {
    case .graphql: PackageResources.graphql_yaml
    case .http: PackageResources.http_yaml
    case .cache: PackageResources.cache_yaml
    case .parsing: PackageResources.parsing_yaml
    }
  }

  fileprivate var readme: [UInt8] {
    switch self {
    case .graphql: PackageResources.README_graphql_md
    case .http: PackageResources.README_http_md
    case .cache: PackageResources.README_cache_md
    case .parsing: PackageResources.README_parsing_md
    }
  }

  /// A query for the demo server. The parser template has plain text instead, because its responses have no fields.
  fileprivate var query: [UInt8] { self == .parsing ? PackageResources.text_graphql : PackageResources.books_graphql }
}
