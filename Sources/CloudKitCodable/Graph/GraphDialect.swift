package import CloudKit

/// What makes a record of a value, in an API that has other protocols than this module's.
package protocol GraphDialect {
    /// What happens to a record when one that it refers to is deleted.
    var referenceAction: CKRecord.ReferenceAction { get }

    /// Whether values of a type are records.
    func isNode(_ type: Any.Type) -> Bool

    /// The record of a value; nil for values of other types.
    func node(for value: any Encodable) -> GraphNode?

    /// The form in which a value is stored; nil for the usual one.
    func form(of value: any Encodable) throws -> (any CKRecordValue)?
}
