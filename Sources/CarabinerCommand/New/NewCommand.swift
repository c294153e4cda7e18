internal import ArgumentParser
internal import Foundation

/// `carabiner new`: creates the folder of a new plugin.
struct NewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Create the folder of a new plugin that builds and conforms.",
    discussion: """
      The folder has a small interceptor with comments, a Makefile (make, make conform, make clean), a manifest, a query, a README, and a
      workflow for continuous integration. It is built against an installed Carabiner, found by pkg-config.

      Example: carabiner new request-id --language rust --stage http

      Exit status: 0 created, 2 usage or the folder exists, 3 the folder cannot be written.
      """)

  @Argument(help: "The name of the plugin and its folder.") var name: String
  @Option(name: .long, help: "The language of the plugin: c, cpp, rust or swift.") var language: PluginLanguage
  @Option(name: .long, help: "The stage of the plugin: graphql, http, cache or parsing.") var stage: PluginStage
  @Option(name: .long, help: "The id of the plugin, a reverse-DNS name. The default is org.example.NAME.") var id: String?
  @Option(name: .long, help: "The parent of the new folder.", completion: .directory) var directory = "."

  func run() throws {
    do {
      let name = try PluginName(name, id: id)
      let folder = try NewFolder(name.name, in: directory)
      try folder.fill(PluginTemplate(name: name, language: language, stage: stage).files)
      Terminal.emit(nextSteps)
    } catch {
      Terminal.complain("error: \(error)")
      if (error as? CommandError)?.code == .writingFailed { throw ExitStatus.refused }
      throw ExitStatus.usage
    }
  }

  private var nextSteps: String {
    let path = directory == "." ? name : directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    return """
      \(path) has \(stage.title) in \(language.title), \(language.sourcePath). Next:

          cd \(path)
          make                 # build/\(name).so
          make conform         # the rules of carabiner.h
          carabiner demo-server --port 8000 &
          carabiner run -m carabiner.yaml --trace query.graphql
      """
  }
}
