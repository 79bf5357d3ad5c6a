import CloudKitBasics
import Foundation

/// The property lists of models, with the errors of models.
extension BinaryPropertyList {
    static func failure(_ message: String) -> CoreDataModelError {
        CoreDataModelError(.malformed, "the archive", message)
    }

    init(_ data: Data) throws(CoreDataModelError) {
        do {
            try self.init(Array(data))
        } catch {
            throw Self.failure(error.message)
        }
    }

    /// Returns the object with a number.
    func content(_ number: Int) throws(CoreDataModelError) -> Object {
        do {
            return try object(number)
        } catch {
            throw Self.failure(error.message)
        }
    }
}
