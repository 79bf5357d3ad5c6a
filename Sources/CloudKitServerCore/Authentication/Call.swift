import CloudKitWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An authenticated request in the service.
struct Call: Sendable {
    /// The client's request.
    let request: ServiceRequest
    /// The parsed path of the request.
    var path: ServicePath
    /// The request's query.
    let parameters: QueryParameters
    /// The caller.
    let caller: Caller
    /// The container's environment.
    let environment: StoredEnvironment
    /// The time at which the request arrived.
    let now: Int64
    /// The work that it has cost so far.
    var work: RequestWork
    /// The interpretation of its values without a type.
    var untagged = UntaggedValues.asObserved
    /// The faults that a plan has ordered for it.
    var faults = FaultDecision()
    /// The items that came to their turn, if a rule of the plan has to know.
    var trace: FaultTrace?

    /// Returns the failure that a plan has ordered for an item, whose turn it is.
    func failure(ofItem place: Int) -> RecordFailure? {
        trace?.note(place)
        return faults.failures[place]
    }

    /// Decodes the body.
    ///
    /// - Parameters:
    ///   - type: The type of the body.
    ///   - common: A faster reader of the most common forms; it returns nil for others.
    /// - Returns: The body.
    /// - Throws: `RequestError` with `BAD_REQUEST` that names the position.
    func message<Message: Decodable>(
        _ type: Message.Type,
        common: (Data) -> Message? = { _ in nil }
    ) throws(RequestError) -> Message {
        guard let depth = JSONBounds.depth(of: request.body) else {
            throw RequestError(
                .badRequest,
                reason: "The body has a zero byte; JSON comes in UTF-8, where \\u0000 stands for it"
            )
        }
        guard depth <= Limits.requestDepth else {
            throw RequestError(
                .badRequest,
                reason: "The body nests deeper than \(Limits.requestDepth) arrays and objects"
            )
        }
        if let message = common(request.body) { return message }
        do {
            return try WireJSON.decode(type, from: request.body)
        } catch let error as DecodingError {
            // It may quote the input, which may be the entire body.
            let place = WireJSON.place(of: error).prefix(1000)
            throw RequestError(
                .badRequest,
                reason: "BadRequestException: unexpected input at \(place)"
            )
        } catch {
            throw RequestError(.badRequest, reason: "BadRequestException: unexpected input")
        }
    }

    /// Returns the user.
    ///
    /// - Throws: `RequestError` with `AUTHENTICATION_REQUIRED` for an API token alone.
    func user() throws(RequestError) -> StoredUser {
        guard let user = caller.user else { throw needsUser("request needs authorization") }
        return user
    }

    /// Returns the error with which a client offers to sign in.
    func needsUser(_ reason: String) -> RequestError {
        RequestError(
            .authenticationRequired,
            reason: reason,
            redirectURL: SignInAddress.url(for: request, apiToken: parameters["ckAPIToken"])
        )
    }

    /// Refuses to write for a user who is no longer there: what is looked up with the credentials may
    /// be seconds old.
    ///
    /// The engine reads the user's row once for all writes that share a transaction.
    func checkUser(_ writer: any StorageWriter) throws {
        guard let user = caller.user else { return }
        // Only a number is left of a user who was deleted, because records name their creators.
        guard try writer.user(user.id)?.container == user.container else { throw DeletedUser() }
    }
}

/// An error that is thrown from a commit for a user who was deleted.
struct DeletedUser: Error {}
