/// An error of a storage engine.
public struct StorageError: Error, Hashable, Sendable {
    /// The kind of failure.
    public enum Code: Hashable, Sendable {
        /// The disk is full.
        case full
        /// The engine is busy; a retry may work.
        case busy
        /// The database was lost while it committed, so that nobody knows whether the changes were kept.
        case unresolved
        /// The disk or the file system failed.
        case inputOutput
        /// Stored data contradicts itself.
        case corrupt
        /// The engine has noticed damage, and writes nothing until it is opened again after a repair.
        case damaged
        /// Any other failure.
        case other
    }

    /// A Boolean value that indicates whether the stored data is damaged.
    package var isDamage: Bool { code == .corrupt || code == .damaged }

    /// The kind of failure.
    public var code: Code
    /// A description of the failure, for the operator.
    public var message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension StorageError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
