extension CKSyncEngine.State {
    /// An engine's state between two runs of the app, to be kept with any coder.
    ///
    /// One that cannot be read starts an engine afresh, with the pending changes that can be read:
    /// the delegate is told of a sign-in, and everything is fetched. One of another database starts it
    /// afresh without any.
    public struct Serialization: Codable, Sendable {
        /// What was kept, or why it cannot be read.
        package let contents: Result<SyncEngineState, SyncEngineState.Unreadable>

        package init(_ state: SyncEngineState) {
            contents = .success(state)
        }

        /// Reads a state; what is not one is remembered as unreadable rather than refused.
        public init(from decoder: any Decoder) throws {
            do {
                contents = .success(try SyncEngineState(from: decoder))
            } catch {
                contents = .failure(
                    SyncEngineState.Unreadable(error, rest: SyncEngineState(salvaging: decoder))
                )
            }
        }

        /// Writes the state.
        ///
        /// - Throws: What the encoder throws.
        public func encode(to encoder: any Encoder) throws {
            switch contents {
            case .success(let state): try state.encode(to: encoder)
            case .failure(let problem): try problem.rest.encode(to: encoder)
            }
        }
    }
}
