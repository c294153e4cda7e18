internal import ArgumentParser
internal import Carabiner

/// The value of `--file VARIABLE=PATH`.
struct FileArgument: ExpressibleByArgument, Sendable {
  let file: GraphQLFile

  /// Reads an argument; nil if the variable or the path is missing.
  init?(argument: String) {
    guard let mark = argument.firstIndex(of: "="), mark != argument.startIndex else { return nil }
    let path = String(argument[argument.index(after: mark)...])
    guard !path.isEmpty else { return nil }
    file = GraphQLFile(fieldName: String(argument[..<mark]), path: path)
  }
}
