/// The files of a new plugin.
///
/// The templates are a plugin called `my-plugin` that could be built as it stands: making a new one is putting other names for `my-plugin`,
/// `org.example.my-plugin` and `MyPlugin_1_0_0`. Where languages or stages share a text and differ in a part of it, a line `@@language@@`
/// or `@@stage@@` stands for the part.
struct PluginTemplate {
  /// A file, by its path in the new folder.
  struct File {
    let path: String
    let text: String
  }

  let name: PluginName
  let language: PluginLanguage
  let stage: PluginStage

  /// All of them, in the order of their paths.
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
    // The id first: it may be anything, so the name is not to be looked for in it.
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

  /// What git is not to keep, beside what every plugin builds.
  fileprivate var ignored: [UInt8] {
    switch self {
    case .c, .cpp: []
    case .rust: PackageResources.gitignore_rust
    case .swift: PackageResources.gitignore_swift
    }
  }

  /// Steps that install what the machine of a recipe lacks.
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

  /// Of the demo server; what is plain text there has no fields.
  fileprivate var query: [UInt8] { self == .parsing ? PackageResources.text_graphql : PackageResources.books_graphql }
}
