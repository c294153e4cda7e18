extension GenerationRequest {
  /// The JSON Schema of configurations.
  package static let configurationSchema = #"""
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Configuration of carabiner generate",
      "type": "object",
      "additionalProperties": false,
      "required": ["schema", "output"],
      "properties": {
        "$schema": {"type": "string"},
        "schema": {
          "description": "The files of the schema in its definition language, as globs, or a file with an introspection result.",
          "anyOf": [
            {"$ref": "#/$defs/files"},
            {
              "type": "object", "additionalProperties": false, "required": ["introspection"],
              "properties": {"introspection": {"type": "string", "minLength": 1}}
            }
          ]
        },
        "documents": {"description": "The documents, as globs: ** matches any folders.", "$ref": "#/$defs/files"},
        "output": {
          "description": "The generated files.",
          "type": "object", "additionalProperties": false, "required": ["folder"],
          "properties": {
            "folder": {"type": "string", "minLength": 1, "description": "The folder of the generated files."},
            "beside-documents": {
              "type": "boolean", "default": false, "description": "Whether the file of a document is beside it. The others are in the folder."
            },
            "access": {"enum": ["internal", "package", "public"], "default": "internal", "description": "The code that may use the declarations."},
            "module": {"type": "string", "default": "Carabiner", "description": "The module of the client library, which the files import."},
            "mocks": {
              "description": "The folder of a file with mocks of object types, for a test target.",
              "anyOf": [
                {"type": "string", "minLength": 1},
                {
                  "type": "object", "additionalProperties": false, "required": ["folder"],
                  "properties": {
                    "folder": {"type": "string", "minLength": 1},
                    "module": {"type": "string", "description": "The module of the other generated files, if it is not that of the mocks."}
                  }
                }
              ]
            },
            "manifest": {
              "description": "A file with the documents of all operations, for servers that accept listed ones only.",
              "anyOf": [
                {"type": "string", "minLength": 1},
                {
                  "type": "object", "additionalProperties": false, "required": ["file"],
                  "properties": {
                    "file": {"type": "string", "minLength": 1},
                    "format": {"enum": ["apollo", "texts-by-id"], "default": "apollo"}
                  }
                }
              ]
            }
          }
        },
        "scalars": {
          "description": "The Swift types of custom scalars. The others are String.",
          "type": "object",
          "additionalProperties": {
            "anyOf": [
              {"type": "string", "minLength": 1},
              {
                "type": "object", "additionalProperties": false, "required": ["type"],
                "properties": {
                  "type": {
                    "type": "string", "description": "A type in Swift. Date, Decimal, Int64, JSON, URL and UUID are known.", "examples": ["Date"]
                  },
                  "module": {"type": "string", "description": "The module of the type, if it is not that of the generated code."},
                  "coding": {"type": "string", "description": "iso8601, or a type that conforms to ScalarCoding."}
                }
              }
            ]
          }
        },
        "renames": {
          "description": "Swift names by schema coordinate (Book.title, Genre.NOVEL), variable (Book.$id), mock (Mock<Book>), operation, or fragment (...Cover).",
          "type": "object", "additionalProperties": {"type": "string", "minLength": 1}
        }
      },
      "$defs": {
        "files": {
          "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}
          ]
        }
      }
    }
    """#
}
