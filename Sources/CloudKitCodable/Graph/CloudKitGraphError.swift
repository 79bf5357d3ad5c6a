public import CloudKit
import Foundation

/// An error of encoding, decoding, loading or saving a graph of models.
///
/// The description names the record by type and name, and the path from the root to the value.
public struct CloudKitGraphError: Error {
    /// What kind of error it is.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// A value cannot be encoded.
        public static let notEncodable = Code(description: "notEncodable")
        /// A record cannot be decoded as its type.
        public static let notDecodable = Code(description: "notDecodable")
        /// A record that is referred to is not there.
        public static let missingRecord = Code(description: "missingRecord")
        /// A reference leads to a record of another type.
        public static let unexpectedType = Code(description: "unexpectedType")
        /// A value contains itself.
        public static let cycle = Code(description: "cycle")
        /// Two different values claim to be the same record.
        public static let identityClash = Code(description: "identityClash")
        /// A record's type or name is not one that CloudKit allows.
        public static let invalidName = Code(description: "invalidName")
        /// The graph is nested more deeply than can be followed.
        public static let tooDeep = Code(description: "tooDeep")
        /// A record or a request is larger than CloudKit allows.
        public static let limitExceeded = Code(description: "limitExceeded")
    }

    /// What kind of error it is.
    public let code: Code

    /// What went wrong and what to do.
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
