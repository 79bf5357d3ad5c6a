/// The memory that a response takes from when it is built until its client has read it.
package protocol ResponseMemory: Sendable {
    /// Reserves memory for a number of bytes in total; returns false if there is not enough now.
    func reserve(_ bytes: Int) -> Bool

    /// Returns what is reserved, and waits until a number of bytes can be reserved; returns false
    /// if that takes too long.
    func waitToReserve(_ bytes: Int) async -> Bool
}
