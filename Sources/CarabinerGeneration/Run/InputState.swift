internal import CarabinerFiles
internal import CarabinerGenerator

/// The state of the files that a run reads, to detect changes without reading them.
package struct InputState: Sendable, Hashable {
  private let files: [String: FileSignature]

  init(_ request: GenerationRequest) {
    // While the configuration has a fault, only its own changes count.
    let paths: [String]
    do throws(GeneratorError) {
      paths = try InputFiles(request).paths
    } catch {
      paths = [request.configuration]
    }
    files = FileSignature.of(Set(paths))
  }
}
