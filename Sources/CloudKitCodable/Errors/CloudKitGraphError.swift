public import CloudKit
import Foundation

/// An error that occurs while a graph of models is encoded, decoded, loaded or saved.
///
/// The description names the record by type and name, and the path from the root to the value.
public struct CloudKitGraphError: Error {
    /// The kind of error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// A value cannot be encoded.
        public static let notEncodable = Code(description: "notEncodable")
        /// A record cannot be decoded as its type.
        public static let notDecodable = Code(description: "notDecodable")
        /// A record that a reference leads to is missing.
        public static let missingRecord = Code(description: "missingRecord")
        /// A reference leads to a record of another type.
        public static let unexpectedType = Code(description: "unexpectedType")
        /// A value contains itself.
        public static let cycle = Code(description: "cycle")
        /// Two different values have the same record name.
        public static let identityClash = Code(description: "identityClash")
        /// CloudKit does not allow a record's type or name.
        public static let invalidName = Code(description: "invalidName")
        /// The graph is nested too deeply to follow.
        public static let tooDeep = Code(description: "tooDeep")
        /// A record or a request is larger than CloudKit allows.
        public static let limitExceeded = Code(description: "limitExceeded")
    }

    /// The kind of error.
    public let code: Code

    /// A description of the problem and of its remedy.
    public let message: String

    /// The type of the record.
    public let recordType: CKRecord.RecordType?

    /// The identity of the record.
    public let recordID: CKRecord.ID?

    /// The keys from the root of the graph to the value.
    public let codingPath: [any CodingKey]

    /// The error that caused this one.
    public let underlyingError: (any Error)?

    init(
        _ code: Code,
        _ message: String,
        type: CKRecord.RecordType?,
        id: CKRecord.ID?,
        path: [any CodingKey],
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        recordType = type
        recordID = id
        codingPath = path
        underlyingError = underlying
    }
}

extension CloudKitGraphError: CustomStringConvertible, LocalizedError {
    /// The place and the message.
    public var description: String {
        let record = [recordType, recordID?.recordName].compactMap(\.self).joined(separator: " ")
        let path = codingPath.isEmpty ? "the root" : codingPath.text
        return "\(code) at \(path) (\(record)): \(message)"
    }

    /// The place and the message.
    public var errorDescription: String? { description }
}

/// Remedies for errors of graphs, in the terms of the API in use.
enum GraphRemedy {
    /// Returns the remedy for models that are nested endlessly.
    static func chain(isOtherAPI: Bool) -> String {
        isOtherAPI
            ? "leave the key out with ignoredProperties()"
            : "break the chain with a CloudKitReference"
    }

    /// Returns the remedy for a reference to a missing record, or for a missing root.
    static func missing(isRoot: Bool, isOtherAPI: Bool) -> String {
        if isRoot { return "look at its name and its zone; it may be deleted, or not saved yet" }
        return isOtherAPI
            ? "save the record, or remove the reference to it"
            : "make the property optional and decode with MissingRecords.omit where that may happen"
    }

    /// Returns the text of an error with which a value's own coding ended.
    static func text(of error: any Error, isOtherAPI: Bool) -> String {
        guard isOtherAPI,
            case CloudKitRecordEncodingError.dataFieldTooLarge(let key, let size) = error
        else { return CodingProblem.text(of: error) }
        return """
            The value of "\(key)" takes \(size) bytes; a record holds 1 MB. Set storesAssets of the \
            encoder if it is Data, or leave the key out with ignoredProperties().
            """
    }
}
