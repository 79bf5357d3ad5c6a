public import Foundation

/// What records are searched for: a type, a predicate and an order.
///
/// ```swift
/// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "title BEGINSWITH 'M'"))
/// query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
/// let (matches, cursor) = try await database.records(matching: query)
/// ```
///
/// What the predicate may say is CloudKit's subset; anything else fails with
/// `CKError.invalidArguments` when the query runs.
open class CKQuery: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // @unchecked Sendable because apps set the order before they hand the query over.

    /// The kind of records.
    public var recordType: CKRecord.RecordType { type }

    /// What must hold for the records.
    open var predicate: NSPredicate { condition }

    /// The order of the results, most significant first; nil leaves it to the server.
    open var sortDescriptors: [NSSortDescriptor]?

    private let type: CKRecord.RecordType
    private let condition: NSPredicate

    /// Makes a query; an empty type ends the process with "CKQuery: the record type is empty".
    public init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        precondition(!recordType.isEmpty, "CKQuery: the record type is empty")
        type = recordType
        condition = predicate
    }

    /// An independent query with the same values.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKQuery(recordType: type, predicate: condition)
        copy.sortDescriptors = sortDescriptors
        return copy
    }

    /// True: an archived query can be read securely.
    open class var supportsSecureCoding: Bool { true }

    /// Writes the query; one that CloudKit could not run is written without its predicate and
    /// cannot be read again.
    open func encode(with coder: NSCoder) {
        QueryArchive.encode(self, with: coder)
    }

    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    /// Reads a query; nil when the archive holds none.
    public required init!(coder aDecoder: NSCoder) {
        let aDecoder = aDecoder.checked
        guard let contents = QueryArchive.decode(aDecoder) else { return nil }
        type = contents.recordType
        condition = contents.predicate
        sortDescriptors = contents.sortDescriptors
    }

    /// Type, predicate and order.
    open override var description: String {
        "<CKQuery: \(type); predicate=\(condition.givenFormat ?? "\(condition)")>"
    }
}
