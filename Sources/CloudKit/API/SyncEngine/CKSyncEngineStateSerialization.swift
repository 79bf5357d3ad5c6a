extension CKSyncEngine.State {
    /// An engine's state between two runs of the app, to be stored with any coder.
    ///
    /// A serialization that cannot be read starts an engine without a state, but with those pending
    /// changes that can be read: the delegate is notified of a sign-in, and everything is fetched.
    /// A serialization of another database starts the engine without pending changes too.
    public struct Serialization: Codable, Sendable {
        /// The stored state, or the reason why it cannot be read.
        package let contents: Result<SyncEngineState, SyncEngineState.Unreadable>

        package init(_ state: SyncEngineState) {
            contents = .success(state)
        }

        /// Creates a serialization by decoding; anything but a state is recorded as unreadable
        /// instead of throwing.
        public init(from decoder: any Decoder) throws {
            do {
                contents = .success(try SyncEngineState(from: decoder))
            } catch {
                contents = .failure(SyncEngineState.Unreadable(error, in: decoder))
            }
        }

        /// Encodes the state.
        ///
        /// - Throws: The encoder's errors.
        public func encode(to encoder: any Encoder) throws {
            switch contents {
            case .success(let state): try state.encode(to: encoder)
            case .failure(let problem): try problem.rest.encode(to: encoder)
            }
        }
    }
}
