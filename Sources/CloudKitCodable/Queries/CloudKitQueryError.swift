public import CloudKit

/// Why a query cannot be made: a property that CloudKit does not search, or a condition that it does
/// not know.
public struct CloudKitQueryError: Error, Sendable {
    /// The record type that was to be searched.
    public let recordType: CKRecord.RecordType

    /// The property; nil when the reason is the condition as a whole.
    public let property: String?

    /// What is wrong, and what to do.
    public let message: String

    init(_ recordType: CKRecord.RecordType, _ property: String?, _ message: String) {
        self.recordType = recordType
        self.property = property
        self.message = message
    }
}

extension CloudKitQueryError: CustomStringConvertible, LocalizedError {
    /// The place and the message.
    public var description: String {
        let place = property.map { ", \($0)" } ?? ""
        return "query of \(recordType)\(place): \(message)"
    }

    /// The place and the message.
    public var errorDescription: String? { description }
}
