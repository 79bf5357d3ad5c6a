import CloudKitWebClient
import Testing

/// Checks every order of sign-ins, requests, responses and writes of the token's file, up to a size,
/// against a record of each token's user.
@Suite("Sign-ins, in every order")
struct SignInModelTests {
    /// A user, or nobody.
    typealias User = Character

    /// Returns the user of a token in the model's form: the user's letter and a number.
    private static func owner(_ token: String?) -> User? { token?.first }

    private struct Request: Hashable {
        let signIn: Int
        let user: User?
        /// The token with which it was sent; nil until it is sent.
        var sent: String?
        var isOver = false
    }

    private struct World: Hashable {
        var machine = SignInState(token: "a0")
        var user: User? = "a"
        var requests: [Request] = []
        /// Changes whose write has not begun.
        var unkept: [SignInState.Change] = []
        var file: String? = "a0"
        var signIns = 0
        var renewals = 0
    }

    private static let mostSignIns = 3
    private static let mostRequests = 2
    private static let mostRenewals = 3

    /// Returns the possible next states.
    private static func next(_ world: World) -> [World] {
        var next: [World] = []
        func add(_ change: (inout World) -> Void) {
            var world = world
            change(&world)
            next.append(world)
        }
        if world.signIns < mostSignIns {
            for user in ["a", "b", nil] as [User?] {
                add { world in
                    world.signIns += 1
                    world.user = user
                    let token = user.map { "\($0)\(world.signIns)" }
                    world.unkept.append(world.machine.signIn(token))
                }
            }
        }
        if world.requests.count < mostRequests {
            add { world in
                world.requests.append(Request(signIn: world.machine.signIn, user: world.user))
            }
        }
        for index in world.requests.indices where !world.requests[index].isOver {
            let request = world.requests[index]
            guard let sent = request.sent else {
                // It is sent with the current token, or not at all.
                add { world in
                    guard world.machine.isCurrent(request.signIn), let token = world.machine.token
                    else { return world.requests[index].isOver = true }
                    world.requests[index].sent = token
                }
                continue
            }
            // No response, after which it is sent again; a response; one with a new token.
            add { $0.requests[index].sent = nil }
            add { $0.requests[index].isOver = true }
            guard world.renewals < mostRenewals else { continue }
            add { world in
                world.requests[index].isOver = true
                world.renewals += 1
                let token = "\(sent.prefix(1))r\(world.renewals)"
                if let change = world.machine.renew(token, under: request.signIn) {
                    world.unkept.append(change)
                }
            }
        }
        // The threads that write finish in any order.
        for index in world.unkept.indices {
            add { world in
                let change = world.unkept.remove(at: index)
                if world.machine.keeps(change) { world.file = change.token }
            }
        }
        return next
    }

    @Test("A token is its user's in memory, on the way and in the file, whatever comes first")
    func everyOrder() throws {
        var seen: Set<World> = [World()]
        var rest = [World()]
        while let world = rest.popLast() {
            try #require(Self.owner(world.machine.token) == world.user, "\(world)")
            for request in world.requests {
                guard let sent = request.sent else { continue }
                try #require(Self.owner(sent) == request.user, "\(world)")
            }
            if world.unkept.isEmpty {
                try #require(world.file == world.machine.token, "\(world)")
            }
            for next in Self.next(world) where seen.insert(next).inserted { rest.append(next) }
        }
        // The search was exhaustive: fewer states mean that some event can no longer happen.
        #expect(seen.count > 20_000, "\(seen.count) states")
    }

    @Test("A request goes on when its own user's token is renewed by another request")
    func renewal() {
        var state = SignInState(token: "a0")
        let signIn = state.signIn
        #expect(state.renew("a1", under: signIn) != nil)
        #expect(state.renew("a2", under: signIn) != nil)
        #expect(state.renew("a2", under: signIn) == nil)
        #expect(state.isCurrent(signIn))
        #expect(state.token == "a2")
    }
}
