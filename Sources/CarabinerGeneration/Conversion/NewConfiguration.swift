internal import CarabinerFiles
package import CarabinerGenerator
internal import CarabinerWire

/// A configuration that does not exist yet.
package struct NewConfiguration: Sendable {
  /// The maximum size of a configuration to convert in bytes.
  static let maximumBytes = 1 << 20

  /// The text of the configuration.
  package let text: String
  /// The settings without a counterpart, each with its value or what to do.
  package let unconverted: [String]

  /// The least configuration.
  package init() {
    text = """
      # The types and documents that Carabiner generates Swift code from. Paths are relative to the folder of this file.
      schema: [schema.graphqls]      # SDL files, or {introspection: schema.json}
      documents: ["**/*.graphql"]
      output: {folder: Generated}    # also: access, beside-documents, module, manifest, mocks

      """
    unconverted = []
  }

  /// Converts the configuration of Apollo's generator.
  ///
  /// - Throws: `GeneratorError` if the file cannot be read, or is not a JSON object.
  package init(converting path: String) throws(GeneratorError) {
    let text: String
    do throws(BoundedFile.Fault) {
      text = try BoundedFile.text(at: path, maximumBytes: Self.maximumBytes)
    } catch {
      throw GeneratorError(problems: [
        GeneratorProblem(file: path, message: "the file cannot be read as a text of at most \(Self.maximumBytes) bytes: \(error)")
      ])
    }
    try self.init(converting: text, file: path)
  }

  init(converting text: String, file: String) throws(GeneratorError) {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONValue(parsing: text)
    } catch {
      throw GeneratorError(problems: [GeneratorProblem(file: file, message: "the file is not JSON: \(error); correct it")])
    }
    guard let object = json.object else {
      throw GeneratorError(problems: [
        GeneratorProblem(file: file, message: "the file is not a JSON object; name an apollo-codegen-config.json")
      ])
    }
    var conversion = ApolloConversion()
    conversion.convert(object)
    self.text = conversion.text
    unconverted = conversion.unconverted
  }

  /// Writes the configuration.
  ///
  /// - Returns: False if the file exists already.
  package func create(at path: String) throws(GeneratorError) -> Bool {
    guard FileSignature(of: path) == .absent else { return false }
    do throws(FileReplacement.Fault) {
      try FileReplacement.write(Array(text.utf8), to: path, mode: 0o644)
      return true
    } catch {
      throw GeneratorError(problems: [
        GeneratorProblem(file: path, message: "the file cannot be written: \(error.reason); name a file in another folder")
      ])
    }
  }
}
