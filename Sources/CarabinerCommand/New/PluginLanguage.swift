internal import ArgumentParser

/// The programming language of a new plugin.
enum PluginLanguage: String, CaseIterable, ExpressibleByArgument {
  case c, cpp, rust, swift

  /// The name of the language.
  var title: String {
    switch self {
    case .c: "C"
    case .cpp: "C++"
    case .rust: "Rust"
    case .swift: "Swift"
    }
  }

  /// The path of the interceptor's source file in the folder.
  var sourcePath: String {
    switch self {
    case .c: "plugin.c"
    case .cpp: "plugin.cpp"
    case .rust: "src/lib.rs"
    case .swift: "Sources/Interceptor/Interceptor.swift"
    }
  }
}
