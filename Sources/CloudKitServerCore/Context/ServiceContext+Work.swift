import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ServiceContext {
    /// Runs a read for a request, within its budget.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - needs: Adds what it is going to read beside the database of its path.
    ///   - body: The read.
    /// - Returns: The result of the read.
    /// - Throws: The error of the read, or `RequestError` if it exceeds the budget.
    func read<Value: Sendable>(
        _ call: Call,
        needing needs: @escaping @Sendable (inout StorageNeeds) -> Void = { _ in },
        _ body: @escaping @Sendable (any StorageReader) throws -> Value
    ) async throws -> Value {
        let (work, mark) = (call.work, call.work.mark)
        return try await withMemory(work) {
            try await self.storage.read(needing: { call.needs(needs) }) { reader in
                work.begin(at: mark)
                return try body(MeteredReader(source: reader, work: work))
            }
        }
    }

    /// Runs a write for a request, within its budget: together with others, or in a turn of its own
    /// if it takes long.
    ///
    /// - Throws: Also `RequestError` with `AUTHENTICATION_REQUIRED` if the user was deleted after the
    ///   caller was looked up, which another process may have done.
    func write<Value: Sendable>(
        _ call: Call,
        _ scope: WriteScope,
        needing needs: @escaping @Sendable (inout StorageNeeds) -> Void = { _ in },
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        do {
            return try await writeInTurn(call, scope, needs, body)
        } catch is DeletedUser {
            // Reads are refused from now on, too.
            callers.removeAll()
            throw call.needsUser("Authentication failed: the user was deleted")
        }
    }

    /// Runs a write that changes what services remember of callers, and makes all nodes forget it.
    func changeCallers<Value: Sendable>(
        _ scope: WriteScope = .everything,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        // Also after a failure, whose changes may have been kept nevertheless.
        defer { callers.removeAll() }
        return try await storage.write(scope, needing: StorageNeeds.none) { writer in
            writer.announceChangedCallers()
            return try body(writer)
        }
    }

    private func writeInTurn<Value: Sendable>(
        _ call: Call,
        _ scope: WriteScope,
        _ needs: @escaping @Sendable (inout StorageNeeds) -> Void,
        _ body: @escaping @Sendable (any StorageWriter) throws -> Value
    ) async throws -> Value {
        let (work, mark) = (call.work, call.work.mark)
        // Row IDs of users begin at 1: callers without a user share a number within the environment.
        let user = call.caller.user?.id.rawValue ?? -call.environment.id.rawValue
        return try await withMemory(work) { [storage, writerTurns] in
            do {
                return try await storage.write(scope, needing: { call.needs(needs) }) { writer in
                    // Another request of the user may have been found slow while this one waited.
                    guard !writerTurns.isSlow(user) else { throw NeedsOwnTurn() }
                    try call.checkUser(writer)
                    work.begin(at: mark, besideOthers: true)
                    return try body(MeteredWriter(base: writer, work: work))
                }
            } catch is NeedsOwnTurn {
                return try await writerTurns.run(for: user) {
                    try await storage.writeExclusively(scope, needing: { call.needs(needs) }) {
                        writer in
                        try call.checkUser(writer)
                        work.begin(at: mark)
                        return try body(MeteredWriter(base: writer, work: work))
                    }
                }
            }
        }
    }

    /// Runs a read or a commit, again if it ended because there was no memory for the response.
    private func withMemory<Value: Sendable>(
        _ work: RequestWork,
        _ body: () async throws -> Value
    ) async throws -> Value {
        while true {
            do {
                return try await body()
            } catch let shortage as ResponseMemoryShortage {
                try await work.wait(out: shortage)
            }
        }
    }
}
