public import CloudKitServerCore

/// A storage of a test that passes to another one what it does not change itself.
public protocol WrappingStorage: Storage {
    associatedtype Base: Storage
    var base: Base { get }
}

extension WrappingStorage {
    public var threads: (any TaskExecutor)? { base.threads }

    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        try await base.read(body)
    }

    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        try await base.write(body)
    }
}
