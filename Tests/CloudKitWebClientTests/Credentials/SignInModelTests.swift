import CloudKitWebClient
import Testing

/// Every order in which sign-ins, requests, answers and writes of the token's file can happen, up to a
/// size, beside a bookkeeping that knows whose each token is.
@Suite("Sign-ins, in every order")
struct SignInModelTests {
    /// A user, or nobody.
    typealias User = Character

    /// A token as the model writes it: its user's letter and a number.
    private static func owner(_ token: String?) -> User? { token?.first }

    private struct Request: Hashable {
        let signIn: Int
        let user: User?
        /// The token that it was sent with; nil while it was not sent.
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

    /// What can happen next, with what it leads to.
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
                // It goes out with the token of this moment, or not at all.
                add { world in
                    guard world.machine.isCurrent(request.signIn), let token = world.machine.token
                    else { return world.requests[index].isOver = true }
                    world.requests[index].sent = token
                }
                continue
            }
            // No answer, after which it is sent again; an answer; one with a new token.
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
        // The threads that write come in any order.
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
        // The search was one: fewer states mean that something cannot happen any more.
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
