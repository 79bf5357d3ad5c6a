public import CloudKit

/// An error in a query: a property that CloudKit cannot search, or a condition that it does not
/// support.
public struct CloudKitQueryError: Error, Sendable {
    /// The record type that was to be searched.
    public let recordType: CKRecord.RecordType

    /// The property; nil when the error concerns the condition as a whole.
    public let property: String?

    /// A description of the problem and of its remedy.
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
