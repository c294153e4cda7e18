internal import ArgumentParser

/// What a new plugin is written in.
enum PluginLanguage: String, CaseIterable, ExpressibleByArgument {
  case c, cpp, rust, swift

  /// The language as people write it.
  var title: String {
    switch self {
    case .c: "C"
    case .cpp: "C++"
    case .rust: "Rust"
    case .swift: "Swift"
    }
  }

  /// Where its interceptor stands in the folder.
  var sourcePath: String {
    switch self {
    case .c: "plugin.c"
    case .cpp: "plugin.cpp"
    case .rust: "src/lib.rs"
    case .swift: "Sources/Interceptor/Interceptor.swift"
    }
  }
}
