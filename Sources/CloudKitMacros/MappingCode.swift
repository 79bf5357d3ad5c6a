#if Macros
import SwiftSyntax
import SwiftSyntaxBuilder

/// The code of a mapping.
struct MappingCode {
    private let record: RecordDeclaration

    init(_ record: RecordDeclaration) {
        self.record = record
    }

    private var access: String { record.access }

    /// The coding keys; nil if the declaration has its own.
    var codingKeys: DeclSyntax? {
        guard !record.declared.contains("CodingKeys") else { return nil }
        let cases = record.properties.map { "\n    case \($0.code)" }.joined()
        // Without a case there is no raw type.
        let raw = cases.isEmpty ? "" : "String, "
        return "enum CodingKeys: \(raw: raw)CodingKey {\(raw: cases)\n}"
    }

    // MARK: The extension

    /// Returns the extension with everything that can be declared in one.
    func `extension`(of type: String, isConforming: Bool) throws -> ExtensionDeclSyntax {
        let conformance = isConforming ? ": CloudKitCodable.CloudKitMappedModel" : ""
        let members = [
            recordType, fields, recordName, mappedType(type), coding, keys(of: type),
            codingKey(type), list, record.kind.isClass ? nil : initializerText, writing,
        ]
        return try ExtensionDeclSyntax(
            """
            extension \(raw: type)\(raw: conformance) {
            \(raw: members.compactMap(\.self).joined(separator: "\n\n"))
            }
            """
        )
    }

    private var recordType: String? {
        record.recordType.map { "\(access)static var recordType: String { \"\($0)\" }" }
    }

    private var fields: String? {
        let entries = record.properties.compactMap { property in
            property.attribute.map { "CodingKeys.\(property.code): \($0.entry)," }
        }
        guard !entries.isEmpty else { return nil }
        return """
            \(access)static let fields: CloudKitCodable.CloudKitFields = [
            \(entries.joined(separator: "\n"))
            ]
            """
    }

    private var recordName: String? {
        guard !record.declared.contains("recordName"),
            let property = record.properties.first(where: \.isRecordName)
        else { return nil }
        return """
            \(access)var recordName: String {
            CloudKitCodable.CloudKitFieldWriter.recordName(of: \(property.code))
            }
            """
    }

    /// Returns the property that distinguishes a class from its subclasses.
    private func mappedType(_ type: String) -> String? {
        guard record.kind == .openClass else { return nil }
        return """
            \(access)static var mappedType: any CloudKitCodable.CloudKitMappedModel.Type {
            \(type).self
            }
            """
    }

    /// The property that makes coders use the declaration's own methods.
    private var coding: String? {
        guard record.isCodedByHand else { return nil }
        return "\(access)static var _isCodedByHand: Bool { true }"
    }

    private func keys(of type: String) -> String? {
        guard !record.declared.contains("Fields") else { return nil }
        let keys = record.properties.map { property in
            """
            \(property.access)static let \(property.code) = \
            CloudKitCodable.CloudKitFieldKey(\\\(type).\(property.code), CodingKeys.\(property.code))
            """
        }
        return """
            \(access)enum Fields {
            \(keys.joined(separator: "\n"))
            }
            """
    }

    private func codingKey(_ type: String) -> String {
        let cases = record.properties.map { property in
            "case \\\(type).\(property.code): CodingKeys.\(property.code)\n"
        }
        let body = cases.isEmpty ? "nil" : "switch property {\n\(cases.joined())default: nil\n}"
        return """
            \(access)static func codingKey(of property: AnyKeyPath) -> (any CodingKey)? {
            \(body)
            }
            """
    }

    private var list: String {
        let lines = record.properties.map { property in
            "list.add(\(property.type).self, CodingKeys.\(property.code))"
        }
        return """
            \(access)static func listProperties(in list: inout CloudKitCodable.CloudKitPropertyList) {
            \(lines.joined(separator: "\n"))
            }
            """
    }

    // MARK: Reading and writing

    /// The initializer in the form for a class.
    var initializer: DeclSyntax { "\(raw: initializerText)" }

    private var initializerText: String {
        let required = record.kind == .openClass ? "required " : ""
        let lines = record.properties.map { property in
            let key = "CodingKeys.\(property.code)"
            let call =
                if property.isRecordName {
                    "recordName(\(key))"
                } else if property.isPlain, let field = property.field {
                    "read(\(property.type).self, \"\(field)\", \(key))"
                } else {
                    "decode(\(property.type).self, forKey: \(key))"
                }
            guard property.hasDefault, !property.isRecordName else {
                return "self.\(property.storage) = try fields.\(call)"
            }
            // A record of an older version has no such field: the property keeps its default value.
            return """
                if let value = try fields.\(call.replacing("(", with: "IfPresent(", maxReplacements: 1)) {
                self.\(property.storage) = value
                }
                """
        }
        return """
            \(access)\(required)init(fields: inout CloudKitCodable.CloudKitFieldReader) throws {
            \(lines.joined(separator: "\n"))
            }
            """
    }

    private var writing: String {
        let lines = record.properties.map { property in
            let key = "CodingKeys.\(property.code)"
            let value = "self.\(property.storage)"
            if property.isRecordName { return "try fields.recordName(\(value), \(key))" }
            if property.isPlain, let field = property.field {
                return "try fields.write(\(value), \"\(field)\", \(key))"
            }
            return "try fields.encode(\(value), forKey: \(key))"
        }
        return """
            \(access)func writeFields(to fields: inout CloudKitCodable.CloudKitFieldWriter) throws {
            \(lines.joined(separator: "\n"))
            }
            """
    }
}

extension RecordProperty {
    /// The storage of the value: a wrapper, or the property itself.
    fileprivate var storage: String { isWrapped ? "_\(name)" : code }
}
#endif
