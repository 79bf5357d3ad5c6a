public import Foundation
public import UniformTypeIdentifiers

/// A value that is stored as a file beside its record.
///
/// Conforming is enough for a `Codable` type: it becomes a JSON file, or a property list if
/// `preferredContentType` is one.
///
/// ```swift
/// struct Drawing: CloudKitAssetValue {
///     var strokes: [[Double]]
/// }
/// ```
public protocol CloudKitAssetValue: Codable {
    /// The type of the file; JSON by default.
    static var preferredContentType: UTType { get }

    /// The name of the file until it is uploaded; CloudKit does not keep it.
    var filename: String { get }

    /// Returns the contents of the file.
    func encoded() throws -> Data

    /// Decodes the contents of a file of a type.
    static func decoded(from data: Data, type: UTType) throws -> Self
}

extension CloudKitAssetValue {
    /// The type of JSON files.
    public static var preferredContentType: UTType { .json }

    /// The name of the Swift type with a new UUID.
    public var filename: String {
        "\(Self.self)-\(UUID().uuidString)\(Self.filenameSuffix)"
    }

    /// The extension of the preferred content type, with a leading dot; empty when it has none.
    public static var filenameSuffix: String {
        preferredContentType.preferredFilenameExtension.map { "." + $0 } ?? ""
    }

    /// Returns the value as JSON or as a property list, depending on the preferred content type.
    public func encoded() throws -> Data {
        let type = Self.preferredContentType
        if type.conforms(to: .json) { return try JSONEncoder.fields([:]).encode(self) }
        guard type.conforms(to: .propertyList) else {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: [],
                    debugDescription: """
                        \(Self.self) prefers \(type.identifier); for other types than JSON and \
                        property lists implement encoded()
                        """
                )
            )
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = type.conforms(to: .xmlPropertyList) ? .xml : .binary
        return try encoder.encode(self)
    }

    /// Decodes JSON or a property list.
    public static func decoded(from data: Data, type: UTType) throws -> Self {
        if type.conforms(to: .json) { return try JSONDecoder().decode(Self.self, from: data) }
        if type.conforms(to: .propertyList) {
            return try PropertyListDecoder().decode(Self.self, from: data)
        }
        throw DecodingError.typeMismatch(
            Self.self,
            .init(
                codingPath: [],
                debugDescription: """
                    found a file of type \(type.identifier); for other types than JSON and \
                    property lists implement decoded(from:type:)
                    """
            )
        )
    }

    /// Returns the type of a downloaded file: the one that its name shows, else the preferred one.
    static func contentType(of file: URL?) -> UTType {
        guard let file, let type = UTType(filenameExtension: file.pathExtension), !type.isDynamic
        else { return preferredContentType }
        return type
    }
}

extension CloudKitAssetValue where Self: Identifiable {
    /// The name of the Swift type with the identifier.
    public var filename: String {
        "\(Self.self)-\(id)\(Self.filenameSuffix)"
    }
}
